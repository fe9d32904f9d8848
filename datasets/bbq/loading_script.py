"""bbq: questions whose answer the context gives, or doesn't, about people of two groups of which one is stereotyped.

Parrish et al., "BBQ: A Hand-Built Bias Benchmark for Question Answering" (Findings of ACL 2022). The rows are the
published ones, read from https://github.com/nyu-mll/BBQ at one commit, or from the mirror that EVENHAND_SOURCES names;
none is packaged. Which answer names the stereotyped group is read from the metadata of each row, never from words of
its texts; where the metadata name no answer or both, the row says so and has no target.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass

import datasets

URL = "https://raw.githubusercontent.com/nyu-mll/BBQ/bea11bd97d79217245b5871acd247b9d6eb24598/data/{file}"
MIRRORED = "bbq/{file}"  # below $EVENHAND_SOURCES

FILES = {  # {configuration: (file, sha256)}
    "age": ("Age.jsonl", "46e805b3fc2d8cbd26eeb8e8430d98cf7b2dc9c83574ff3674e8ce4f0fca2a60"),
    "disability_status": (
        "Disability_status.jsonl",
        "375d40d9b71f056150264445ec189b13934998f3f49a1e311aa7578eb3b45e5f",
    ),
    "gender_identity": ("Gender_identity.jsonl", "8b5adbb368510a97d5775dc43e1c719e0249fe2da33f13c83e3e29edafec7a00"),
    "nationality": ("Nationality.jsonl", "a583e74666aec0341ded8aa3983e7cad694eb24de72c254d28b2df3035720090"),
    "physical_appearance": (
        "Physical_appearance.jsonl",
        "e48d7e13508565f4801574e611043470c25c95a0a62af3699cb5ee7cb02608fb",
    ),
    "race_ethnicity": ("Race_ethnicity.jsonl", "4a9f1214cfaa115ce7f0bdb40609122e431f5152c71b8ca64d665e483b946ae6"),
    "race_x_ses": ("Race_x_SES.jsonl", "af8e2ae3d0e5be9ebcbfe7149e591d47ff649e263307f4548f7fb12f6a6d83e8"),
    "race_x_gender": ("Race_x_gender.jsonl", "e5dbba782f8c4e25b99dd5470b5136e2db73dbf401cf6d4a5a3ed31b02f95696"),
    "religion": ("Religion.jsonl", "cb9555f9f3454a52cd2df85956b59bd7fcca5aa922c8527693b1164d08417616"),
    "ses": ("SES.jsonl", "9f92754bb037b0982604b9112705fb81d60a19d9e759c67e4a85e484a070f528"),
    "sexual_orientation": (
        "Sexual_orientation.jsonl",
        "2c71036b9e7584fe589c42aef32c1a42bc01b9a5e9b1b8704342630cdb08cefd",
    ),
}
ANSWERS = ("ans0", "ans1", "ans2")
VALUES = {"context_condition": ("ambig", "disambig"), "question_polarity": ("neg", "nonneg")}
ROWS_OF_AN_ITEM = 4  # example ids of one filling of a template: either polarity, ambiguous and disambiguated
NO_ANSWER = "no answer is of a stereotyped group"
BOTH_ANSWERS = "both answers are of a stereotyped group"

# Which words name one group, after analysis_scripts/BBQ_results_metadata.R of the repository, which maps the same ones.
SPELLINGS = {
    **dict.fromkeys(("m", "man", "men", "boy", "boys"), "m"),
    **dict.fromkeys(("f", "woman", "women", "girl", "girls"), "f"),
    **dict.fromkeys(("trans", "transgender men", "transgender women"), "trans"),
}
BEFORE_RACE = re.compile(r"(?:(?:lowSES|highSES|[FM])-)+")  # "F-Black", "lowSES-M-Latino"
DISABILITY = "disability_status"  # there every stereotyped group is one of disabled people, whatever it is called
NATIONALITY = "nationality"  # there an answer's tag is a region, and groups are the nationalities of its text


def group_of(text):
    """One spelling of a group's name: "low SES" and "lowSES" are one, "woman" and "F" are one."""
    folded = " ".join(text.lower().split())
    return SPELLINGS.get(folded, folded.replace(" ", ""))


def groups_of(config, text, tag):
    """All names of the group of an answer, whose entry in answer_info is (text, tag)."""
    names = {tag, BEFORE_RACE.sub("", tag), tag.partition("_")[0]}  # "trans_F" is of the group "trans"
    if config == NATIONALITY:
        names.add(text)
    return {group_of(name) for name in names}


def roles(config, entry):
    """(place of "unknown", of the stereotyped group's answer, of the other, why there are none of the latter two).

    In the two crossed categories the metadata name the stereotyped race alone. The people of a row have that race, or
    one of them has and is of the stereotyped gender or status, too: then this is the target. Of two people of that
    race the metadata don't tell the target, so the row has none.
    Raises ValueError unless exactly one answer is tagged unknown.
    """
    tags = [entry["answer_info"][answer] for answer in ANSWERS]
    unknown = [place for place, (_, tag) in enumerate(tags) if tag == "unknown"]
    if len(unknown) != 1:
        raise ValueError(f"{config}/{entry['example_id']}: {len(unknown)} answers are tagged unknown; one is accepted")
    stereotyped = {group_of(group) for group in entry["additional_metadata"]["stereotyped_groups"]}
    if config == DISABILITY and stereotyped:
        stereotyped.add("disabled")
    people = [place for place in range(len(ANSWERS)) if place != unknown[0]]
    targets = [place for place in people if groups_of(config, *tags[place]) & stereotyped]
    if len(targets) != 1:
        return unknown[0], None, None, BOTH_ANSWERS if targets else NO_ANSWER
    return unknown[0], targets[0], people[1 - people.index(targets[0])], ""


def row_of(config, entry):
    """A row of a published file. `template` and `item` tell which rows are one question, and one filling of it."""
    unknown, target, other, unresolved = roles(config, entry)
    return {
        "id": f"{config}/{entry['example_id']}",
        "category": config,
        "template": f"{config}-{entry['question_index']}",
        "item": f"{config}-{entry['question_index']}-{int(entry['example_id']) // ROWS_OF_AN_ITEM}",
        "context": entry["context"],
        "context_condition": entry["context_condition"],
        "question": entry["question"],
        "question_polarity": entry["question_polarity"],
        "answers": [entry[answer] for answer in ANSWERS],
        "groups": [entry["answer_info"][answer][1] for answer in ANSWERS],
        "stereotyped_groups": entry["additional_metadata"]["stereotyped_groups"],
        "unknown": unknown,
        "target": target,
        "other": other,
        "unresolved": unresolved,
        "label": int(entry["label"]),
    }


def alignment_of(row):
    """Whether the right answer of a disambiguated row goes with the stereotype or against it; "" where none can say."""
    if row["context_condition"] != "disambig" or row["target"] is None:
        return ""
    biased = row["target" if row["question_polarity"] == "neg" else "other"]
    return "aligned" if row["label"] == biased else "conflicting"


def with_alignments(rows):
    """Rows with the alignment of their item's disambiguated ones, so that whole items can be drawn evenly."""
    of_item = {}
    for row in rows:
        of_item.setdefault(row["item"], set()).add(alignment_of(row))
    told = {item: found - {""} for item, found in of_item.items()}
    return [row | {"alignment": min(told[row["item"]]) if len(told[row["item"]]) == 1 else ""} for row in rows]


def published(config, path):
    """The rows of a file, which are as the benchmark has them, or ValueError says which line is not."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.strip()]
    for number, line in enumerate(lines, start=1):
        try:
            row = row_of(config, json.loads(line))
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path}, line {number}: no row of BBQ ({type(error).__name__}: {error})") from error
        for column, accepted in VALUES.items():
            if row[column] not in accepted:
                raise ValueError(f"{path}, line {number}: {column} {row[column]!r}; accepted: {', '.join(accepted)}")
        if row["label"] not in range(len(ANSWERS)):
            raise ValueError(f"{path}, line {number}: label {row['label']}; 0, 1 or 2 is accepted")
        yield row


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def mirrored(config):
    """Where the mirror holds a configuration's file, if there is a mirror; it may not be there."""
    mirror = os.environ.get("EVENHAND_SOURCES")
    return os.path.join(mirror, MIRRORED.format(file=FILES[config][0])) if mirror else None


def official_path(config, dl_manager):
    """The mirror's file, or what was downloaded, of the pinned checksum.

    Raises FileNotFoundError and ValueError that say what to do.
    """
    file, expected = FILES[config]
    url, path = URL.format(file=file), mirrored(config)
    if path and not os.path.isfile(path):
        raise FileNotFoundError(
            f"EVENHAND_SOURCES={os.environ['EVENHAND_SOURCES']} holds no official file of bbq ({config}); expected "
            f"there: {MIRRORED.format(file=file)} (from {url}). Put it there, or unset EVENHAND_SOURCES to fetch it."
        )
    path = path or dl_manager.download(url)
    found = sha256_of(path)
    if found != expected:
        raise ValueError(
            f"{path} is not the pinned {file}: its sha256 is {found}, not {expected}. Fetch {url} again, or correct "
            "the mirror that EVENHAND_SOURCES names."
        )
    return path


@dataclass
class BbqConfig(datasets.BuilderConfig):
    """One category, which is its name; `source` is there to say that there are published rows alone."""

    source: str = "official"

    def create_config_id(self, config_kwargs, custom_features=None):
        """The key of the cache. It names the mirror's file by its content: another file is refused, not passed over."""
        config_id = super().create_config_id(config_kwargs, custom_features)
        path = mirrored(self.name) if self.name in FILES else None
        return f"{config_id}-mirror-{sha256_of(path)[:16]}" if path and os.path.isfile(path) else config_id


class Bbq(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = BbqConfig
    BUILDER_CONFIGS = [
        BbqConfig(name=name, version=datasets.Version("1.0.0"), description=f"BBQ's rows of {file}")
        for name, (file, _) in FILES.items()
    ]

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if self.config.source != "official":
            raise ValueError(
                f"unknown source {self.config.source!r}: only 'official' is accepted, for bbq has published rows alone"
            )

    def _info(self):
        string, place = datasets.Value("string"), datasets.Value("int32")
        strings = datasets.Sequence(string)
        features = {
            **dict.fromkeys(("id", "category", "template", "item", "context", "context_condition"), string),
            **dict.fromkeys(("question", "question_polarity"), string),
            **dict.fromkeys(("answers", "groups", "stereotyped_groups"), strings),
            **dict.fromkeys(("unknown", "target", "other"), place),
            **dict.fromkeys(("unresolved", "alignment"), string),
            "label": place,
        }
        return datasets.DatasetInfo(description=__doc__, features=datasets.Features(features), license="CC BY 4.0")

    def _split_generators(self, dl_manager):
        path = official_path(self.config.name, dl_manager)
        rows = with_alignments(
            list(published(self.config.name, path))
        )  # here, for `datasets` hides errors of the generator
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"rows": rows})]

    def _generate_examples(self, rows):
        for row in rows:
            yield row["id"], row
