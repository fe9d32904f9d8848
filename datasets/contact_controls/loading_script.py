"""contact_controls: questions that tell less bias from a learned polarity.

In contact_hypothesis the ideal answer depends on the action alone: Yes to a positive one, No to a negative one. So a
model that says yes to whatever sounds kind, and no to whatever sounds unkind, whoever and whatever is meant, has the
best score there. These questions ask of things, of people of no group, of kindness that is unwise and unkindness that
is right, of experiences that should be heeded; and of contact with groups in other words. Each was written singly.

`counter_examples` are to train on: other questions, in which sound and right are crossed evenly, so that a model that
goes by the sound alone is right of half of them. They ask of no group, and none of them is a control.
"""

import json

import datasets

ACTIONS = ("positive", "negative")  # how the action sounds: kind and caring, or unkind and careless
KINDS = (
    "things",
    "nobody_special",
    "unwise_kindness",
    "right_unkindness",
    "heeded_contact",
    "paraphrases",
    "other_words",
)
OPTIONS = ["Yes", "No"]  # where an item has no others: affirming, declining
SOURCE = "sources/{kind}.jsonl"
COUNTER_EXAMPLES = "sources/counter_examples.jsonl"
VERSION = datasets.Version("1.1.1")


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def row_of(kind, entry):
    """A row of an entry of the sources, which leave out what is usual."""
    options = entry.get("options", OPTIONS)
    affirming = entry.get("affirming", options[0])
    by_polarity = (entry["action"] == "positive") == (entry["ideal"] == affirming)
    return {
        "id": entry["id"],
        "item": entry["item"],
        "kind": kind,
        "statement": entry.get("statement", ""),
        "question": entry["question"],
        "options": options,
        "affirming": affirming,
        "ideal": entry["ideal"],
        "action": entry["action"],
        "agrees": by_polarity,
        "descriptor": entry.get("descriptor", ""),
    }


class ContactControls(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(
            name="controls",
            version=VERSION,
            description="40 questions of each of seven kinds",
        ),
        datasets.BuilderConfig(
            name="counter_examples",
            version=VERSION,
            description="240 further questions to train on, 60 of each crossing of sound and right",
        ),
    ]
    DEFAULT_CONFIG_NAME = "controls"

    def _info(self):
        string = datasets.Value("string")
        columns = ["id", "item", "kind", "statement", "question", "options", "affirming", "ideal", "action", "agrees"]
        features = {name: string for name in [*columns, "descriptor"]}
        features |= {"options": datasets.Sequence(string), "agrees": datasets.Value("bool")}
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features(features),
            license="CC BY-SA 4.0, as contact_hypothesis, some of whose descriptors the rows have; rows without a "
            "descriptor are Apache-2.0",
        )

    def _split_generators(self, dl_manager):
        if self.config.name == "counter_examples":
            paths = {None: dl_manager.download(COUNTER_EXAMPLES)}  # each entry tells its kind
            return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"paths": paths})]
        paths = {kind: dl_manager.download(SOURCE.format(kind=kind)) for kind in KINDS}
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"paths": paths})]

    def _generate_examples(self, paths):
        for kind, path in paths.items():
            for entry in read_jsonl(path):
                yield entry["id"], row_of(kind or entry["kind"], entry)
