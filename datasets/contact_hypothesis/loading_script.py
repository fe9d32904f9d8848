"""contact_hypothesis: intergroup contact told to a model, then a question about more of it.

After Raj et al., "Breaking Bias, Building Bridges: Evaluation and Mitigation of Social Biases in LLMs via
Contact Hypothesis" (AIES 2024), section "Prompt Curation", Tables 1 and 2. The situations in `sources/` were written
for this dataset, and so was the descriptor lexicon, on the axes of HolisticBias and with some of its words.

Every row is a prompt set: the same question after no contact, after positive and after negative contact.
60 situations of each half × 3 scales × 600 descriptors: 36,000 prompt sets a config. Those whose descriptor and
situation contradict each other ("unemployed colleagues") have `plausible` False, by the rules of
`sources/implausible.jsonl`.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass

import datasets

SCENARIOS = ("education", "workplace", "sports", "community", "healthcare")
ACTIONS = ("positive", "negative")
OPTIONS = {  # scale: (affirming, declining)
    "certainty": ("Yes", "No"),
    "likelihood": ("Likely", "Unlikely"),
    "frequency": ("Mostly", "Rarely"),
}
SITUATIONS = "sources/situations.jsonl"
DESCRIPTORS = "sources/descriptors.jsonl"
IMPLAUSIBLE = "sources/implausible.jsonl"  # which descriptors contradict situations of which tags

# source="official": HolisticBias v1.1 (Smith et al. 2022, CC BY-SA 4.0), whole, in our situations. The paper speaks of
# nearly 600 descriptors of HolisticBias, and does not say which.
OFFICIAL_URL = (
    "https://raw.githubusercontent.com/facebookresearch/ResponsibleNLP/"
    "0ec714eb084217f44cd9ac466d9e988c795302f9/holistic_bias/dataset/v1.1/{name}.json"
)
OFFICIAL_SHA256 = {
    "descriptors": "c1328f0edfdeefb76302d360a01878df3db55f18026f4ea1956b4a0f52daf943",
    "standalone_noun_phrases": "bac592574f81df55e8c8d8e3919a866d43cbd8df5ae9376a68d95e7b83dbebac",
}
OFFICIAL_MIRROR = "holistic_bias/{name}_v1.1.json"  # their places below $EVENHAND_SOURCES
_NOUN = "{article} {noun} "  # before what follows a noun, in its noun phrases
_A_PERSON, _PEOPLE = "a person ", "people "

_SLOT = re.compile(r"\{((?:an?|An?) )?([^{}]+)\}")
# Letters whose names begin with a vowel sound, for words spelled out ("an LGBTQ …", "an FTM …", "a US-born …").
_SPELLED_OUT = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]\d")
_SPOKEN_AS_A_WORD = "NIMBY"
_VOWEL_SOUND = re.compile(r"[aeiou]|hono|hones|hour|heir|8|11\b|18\b", re.IGNORECASE)
_CONSONANT_SOUND = re.compile(r"eu|uni(?![nm])|us[aeu]|ukr|ugan|uru|one\b|once\b", re.IGNORECASE)


def indefinite_article(word):
    """'a' or 'an', by the sound that the word begins with."""
    if _SPELLED_OUT.match(word) and not word.startswith(_SPOKEN_AS_A_WORD):
        return "an" if word[0] in "AEFHILMNORSX" else "a"
    return "an" if _VOWEL_SOUND.match(word) and not _CONSONANT_SOUND.match(word) else "a"


def place(text, descriptor, placement, plural=None):
    """The text with its `{students}` or `{a student}` slot filled: 'deaf students', 'a student with a limp'.

    plural: what follows a plural noun, where it is not what follows a singular one: 'students with stutters'.
    """

    def noun_phrase(slot):
        article, noun = slot.group(1) or "", slot.group(2)
        if placement == "after":
            return f"{article}{noun} {descriptor if article or plural is None else plural}"
        if article:
            agreeing = indefinite_article(descriptor)
            article = (agreeing.capitalize() if article[0].isupper() else agreeing) + " "
        return f"{article}{descriptor} {noun}"

    return _SLOT.sub(noun_phrase, text)


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def verified(path, name):
    """The path of a pinned file of HolisticBias; checked before rows are generated, where `datasets` hides errors."""
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != OFFICIAL_SHA256[name]:
        raise ValueError(
            f"{path} is not the pinned {name}.json of HolisticBias v1.1: its sha256 is {found}, not "
            f"{OFFICIAL_SHA256[name]}. Fetch {OFFICIAL_URL.format(name=name)} again, or correct the mirror that "
            "EVENHAND_SOURCES names."
        )
    return path


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def holistic_bias(descriptors, standalone_noun_phrases):
    """Flat records of both published files, like those of our lexicon; a term listed on two axes is two descriptors.

    Of noun phrases besides: `singular` and `plural`, what follows a noun in either number, and the `slug` of their
    rows' ids, for one is listed twice, with two plurals.
    """
    for axis, buckets in read_json(descriptors).items():
        for bucket, terms in buckets.items():
            for term in terms:
                descriptor = term if isinstance(term, str) else term["descriptor"]
                yield {"descriptor": descriptor, "axis": axis, "bucket": bucket, "placement": "before"}
    for axis, phrases in read_json(standalone_noun_phrases).items():
        seen = set()
        for phrase in phrases:
            published = {"noun_phrase": phrase} if isinstance(phrase, str) else phrase
            singular = published["noun_phrase"]
            plural = published.get("plural_noun_phrase", singular)
            descriptor = singular.removeprefix(_NOUN)
            entry = {
                "descriptor": descriptor,
                "slug": descriptor if descriptor not in seen else f"{descriptor} ({plural})",
                "axis": axis,
                "bucket": "standalone_noun_phrases",
                "placement": "after",
                "singular": after_a_noun(singular, "who is", _A_PERSON),
                "plural": after_a_noun(plural, "who are", _PEOPLE),
            }
            seen.add(descriptor)
            yield entry


def after_a_noun(phrase, who, person):
    """What a noun phrase says of its noun: 'with a limp', 'who is a gardener', 'who likes tea' ('a person who …')."""
    for noun in (_NOUN, person):
        if phrase.startswith(noun):
            return phrase.removeprefix(noun)
    return f"{who} {phrase}"


def contradicts(rule, entry):
    """Whether a rule of IMPLAUSIBLE is of this descriptor: it lists the word, or its whole axis."""
    return entry["axis"] in rule["axes"] or entry["descriptor"].casefold() in map(str.casefold, rule["descriptors"])


def contradicted_tags(rules, entry):
    """The tags of situations in which such people can't be met, or not be known to be such."""
    return {tag for rule in rules if contradicts(rule, entry) for tag in rule["situations"]}


@dataclass
class ContactHypothesisConfig(datasets.BuilderConfig):
    """One scale of one half of the situations; `source`: "evenhand", our lexicon, or "official", HolisticBias."""

    scale: str = "certainty"
    half: str = "original"
    source: str = "evenhand"


class ContactHypothesis(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = ContactHypothesisConfig
    BUILDER_CONFIGS = [
        ContactHypothesisConfig(
            name=scale if half == "original" else f"new_{scale}",
            version=datasets.Version("2.3.0"),
            description=f"{half} situations, {' / '.join(options)}",
            scale=scale,
            half=half,
        )
        for half in ("original", "new")
        for scale, options in OPTIONS.items()
    ]

    def _info(self):
        string = datasets.Value("string")
        columns = ["id", "scale", "template", "situation", "principle", "scenario", "action"]
        columns += ["axis", "bucket", "descriptor"]
        contacts = ["no_contact", "positive_contact", "negative_contact"]
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features(
                {name: string for name in columns + contacts}
                | {"options": datasets.Sequence(string), "unbiased": string, "plausible": datasets.Value("bool")}
            ),
            license="CC BY-SA 4.0, as HolisticBias, whose axes and some of whose words the rows have; the situations, "
            "without descriptors, are Apache-2.0",
        )

    def _split_generators(self, dl_manager):
        paths = {name: dl_manager.download(path) for name, path in (("situations", SITUATIONS), ("rules", IMPLAUSIBLE))}
        if self.config.source == "evenhand":
            paths["descriptors"] = dl_manager.download(DESCRIPTORS)
        elif self.config.source == "official":
            paths |= self._official_paths(dl_manager)
        else:
            raise ValueError(f"unknown source {self.config.source!r}: 'evenhand' or 'official' is accepted")
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs=paths)]

    def _official_paths(self, dl_manager):
        mirror = os.environ.get("EVENHAND_SOURCES")
        if mirror:
            places = {name: os.path.join(mirror, OFFICIAL_MIRROR.format(name=name)) for name in OFFICIAL_SHA256}
            if missing := [name for name, path in places.items() if not os.path.isfile(path)]:
                listed = ", ".join(
                    f"{OFFICIAL_MIRROR.format(name=name)} (from {OFFICIAL_URL.format(name=name)})" for name in missing
                )
                raise FileNotFoundError(
                    f"EVENHAND_SOURCES={mirror} lacks official files of contact_hypothesis; expected there: {listed}. "
                    "Put them there, or unset EVENHAND_SOURCES to fetch all."
                )
        else:
            places = {name: dl_manager.download(OFFICIAL_URL.format(name=name)) for name in OFFICIAL_SHA256}
        return {name: verified(path, name) for name, path in places.items()}

    def _generate_examples(self, situations, rules, descriptors, standalone_noun_phrases=None):
        official = standalone_noun_phrases is not None
        lexicon = list(holistic_bias(descriptors, standalone_noun_phrases)) if official else read_jsonl(descriptors)
        rules = read_jsonl(rules)
        contradicted = [contradicted_tags(rules, entry) for entry in lexicon]
        scale = self.config.scale
        for situation in read_jsonl(situations):
            if situation["half"] != self.config.half:
                continue
            prefix = "new-" if situation["half"] == "new" else ""
            cell = f"{situation['scenario']}-{situation['principle']}-{situation['action']}"
            template = f"{prefix}{scale}-{cell}"
            for entry, tags in zip(lexicon, contradicted):
                said = (entry.get("singular", entry["descriptor"]), entry["placement"], entry.get("plural"))
                question, positive, negative = (place(situation[key], *said) for key in (scale, "positive", "negative"))
                row = {
                    "id": f"{template}/{entry['axis']}/{entry.get('slug', entry['descriptor']).replace(' ', '_')}",
                    "scale": scale,
                    "template": template,
                    "situation": f"{prefix}{cell}",
                    "principle": situation["principle"],
                    "scenario": situation["scenario"],
                    "action": situation["action"],
                    "axis": entry["axis"],
                    "bucket": entry["bucket"],
                    "descriptor": entry["descriptor"],
                    "no_contact": question,
                    "positive_contact": f"{positive} {question}",
                    "negative_contact": f"{negative} {question}",
                    "options": list(OPTIONS[scale]),
                    "unbiased": OPTIONS[scale][situation["action"] == "negative"],  # the paper's Table 2
                    "plausible": tags.isdisjoint(situation["tags"]),
                }
                yield row["id"], row
