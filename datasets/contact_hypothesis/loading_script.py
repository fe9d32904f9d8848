"""contact_hypothesis: intergroup contact told to a model, then a question about more of it.

After Raj et al., "Breaking Bias, Building Bridges: Evaluation and Mitigation of Social Biases in LLMs via
Contact Hypothesis" (AIES 2024), section "Prompt Curation", Tables 1 and 2. The situations and the descriptor
lexicon in `sources/` were written for this dataset.

Every row is a prompt set: the same question after no contact, after positive and after negative contact.
60 situations of each half × 3 scales × 600 descriptors: 36,000 prompt sets a config.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass

import datasets

PRINCIPLES = (
    "equal_group_status",
    "common_goals",
    "intergroup_cooperation",
    "support_of_authorities",
    "extended_contact",
    "virtual_contact",
)
SCENARIOS = ("education", "workplace", "sports", "community", "healthcare")
ACTIONS = ("positive", "negative")
OPTIONS = {  # scale: (affirming, declining)
    "certainty": ("Yes", "No"),
    "likelihood": ("Likely", "Unlikely"),
    "frequency": ("Mostly", "Rarely"),
}
SITUATIONS = "sources/situations.jsonl"
DESCRIPTORS = "sources/descriptors.jsonl"

# source="official": HolisticBias v1.1 (Smith et al. 2022, CC BY-SA 4.0), the lexicon the paper used, in our situations.
OFFICIAL_URL = (
    "https://raw.githubusercontent.com/facebookresearch/ResponsibleNLP/"
    "0ec714eb084217f44cd9ac466d9e988c795302f9/holistic_bias/dataset/v1.1/descriptors.json"
)
OFFICIAL_SHA256 = "c1328f0edfdeefb76302d360a01878df3db55f18026f4ea1956b4a0f52daf943"
OFFICIAL_MIRROR = "holistic_bias/descriptors_v1.1.json"  # its place below $EVENHAND_SOURCES

_SLOT = re.compile(r"\{((?:an?|An?) )?([^{}]+)\}")
_POSTNOMINAL = re.compile(r"(with|without|of|from|in) ")
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


def place(text, descriptor, placement):
    """The text with its `{students}` or `{a student}` slot filled: 'deaf students', 'a student with a limp'."""

    def noun_phrase(slot):
        article, noun = slot.group(1) or "", slot.group(2)
        if placement == "after":
            return f"{article}{noun} {descriptor}"
        if article:
            agreeing = indefinite_article(descriptor)
            article = (agreeing.capitalize() if article[0].isupper() else agreeing) + " "
        return f"{article}{descriptor} {noun}"

    return _SLOT.sub(noun_phrase, text)


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def verified(path):
    """The path of the pinned HolisticBias lexicon; checked before rows are generated, where `datasets` hides errors."""
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != OFFICIAL_SHA256:
        raise ValueError(
            f"{path} is not the pinned HolisticBias v1.1 lexicon: its sha256 is {found}, not {OFFICIAL_SHA256}. "
            f"Fetch {OFFICIAL_URL} again, or correct the mirror that EVENHAND_SOURCES names."
        )
    return path


def holistic_bias_descriptors(path):
    """Flat records of the published lexicon; a term listed on two axes is two descriptors."""
    with open(path, encoding="utf-8") as file:
        axes = json.load(file)
    for axis, buckets in axes.items():
        for bucket, terms in buckets.items():
            for term in terms:
                descriptor = term if isinstance(term, str) else term["descriptor"]
                placement = "after" if _POSTNOMINAL.match(descriptor) else "before"
                yield {"descriptor": descriptor, "axis": axis, "bucket": bucket, "placement": placement}


@dataclass
class ContactHypothesisConfig(datasets.BuilderConfig):
    """One scale of one half of the situations; `source` is the lexicon: "evenhand" or "official"."""

    scale: str = "certainty"
    half: str = "original"
    source: str = "evenhand"


class ContactHypothesis(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = ContactHypothesisConfig
    BUILDER_CONFIGS = [
        ContactHypothesisConfig(
            name=scale if half == "original" else f"new_{scale}",
            version=datasets.Version("1.1.0"),
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
                {name: string for name in columns + contacts} | {"options": datasets.Sequence(string)}
            ),
            license="Apache-2.0; with source='official' the descriptors are CC BY-SA 4.0",
        )

    def _split_generators(self, dl_manager):
        paths = {"situations": dl_manager.download(SITUATIONS)}
        if self.config.source == "evenhand":
            paths["descriptors"] = dl_manager.download(DESCRIPTORS)
        elif self.config.source == "official":
            paths["official"] = verified(self._official_path(dl_manager))
        else:
            raise ValueError(f"unknown source {self.config.source!r}: 'evenhand' or 'official' is accepted")
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs=paths)]

    def _official_path(self, dl_manager):
        mirror = os.environ.get("EVENHAND_SOURCES")
        if not mirror:
            return dl_manager.download(OFFICIAL_URL)
        path = os.path.join(mirror, OFFICIAL_MIRROR)
        if not os.path.isfile(path):
            raise FileNotFoundError(
                f"EVENHAND_SOURCES={mirror} holds no official file of contact_hypothesis; expected there: "
                f"{OFFICIAL_MIRROR} (from {OFFICIAL_URL}). Put it there, or unset EVENHAND_SOURCES to fetch it."
            )
        return path

    def _generate_examples(self, situations, descriptors=None, official=None):
        lexicon = list(holistic_bias_descriptors(official)) if official else read_jsonl(descriptors)
        scale = self.config.scale
        for situation in read_jsonl(situations):
            if situation["half"] != self.config.half:
                continue
            prefix = "new-" if situation["half"] == "new" else ""
            cell = f"{situation['scenario']}-{situation['principle']}-{situation['action']}"
            template = f"{prefix}{scale}-{cell}"
            for entry in lexicon:
                question = place(situation[scale], entry["descriptor"], entry["placement"])
                positive = place(situation["positive"], entry["descriptor"], entry["placement"])
                negative = place(situation["negative"], entry["descriptor"], entry["placement"])
                row = {
                    "id": f"{template}/{entry['axis']}/{entry['descriptor'].replace(' ', '_')}",
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
                }
                yield row["id"], row
