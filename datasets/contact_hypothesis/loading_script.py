"""contact_hypothesis: intergroup contact told to a model, then a question about more of it.

After Raj et al., "Breaking Bias, Building Bridges: Evaluation and Mitigation of Social Biases in LLMs via
Contact Hypothesis" (AIES 2024), section "Prompt Curation", Tables 1 and 2. The situations in `sources/` were written
for this dataset, and so was the descriptor lexicon, on the axes of HolisticBias and with some of its words.

Every row is a prompt set: the same question after no contact, after positive and after negative contact.
60 situations of each half × 3 scales × 600 descriptors: 36,000 prompt sets a config. Those whose descriptor and
situation contradict each other ("unemployed colleagues") have `plausible` False, by the rules of
`sources/implausible.jsonl`.
"""

import csv
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable
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

MIRROR = "EVENHAND_SOURCES"  # names a folder that holds published files, in place of fetching them


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def git_blob_sha1(content):
    """The name that git gives a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass(frozen=True)
class Published:
    """A pinned file. mirrored: its place below $EVENHAND_SOURCES. digest: computes the checksum of a content."""

    url: str
    mirrored: str
    checksum: str
    digest: Callable = sha256


# source="official": the authors' 36,000 prompt sets of each scale (CC0-1.0); those of setting 2 are not published.
_BREAKING_BIAS = (
    "https://raw.githubusercontent.com/chahatraj/breakingbias/27532026effd40ee541842fa2298ac0f370e087b/data/"
)
PROMPT_SETS = {
    scale: Published(_BREAKING_BIAS + file, f"contact_hypothesis/{file}", checksum, git_blob_sha1)
    for scale, file, checksum in (
        ("certainty", "type1_dataset.csv", "4c65a80d65a1362535590fd5e8aedc07d6ffad0f"),
        ("likelihood", "type2_dataset.csv", "ae79d327c56cb9240ccfd385a122abf823f45c76"),
        ("frequency", "type3_dataset.csv", "73a0a70ad236729c95b7631d0ed152fdeb67eba2"),
    )
}
PROMPT_SET_COLUMNS = ("id", "key_principle", "scenario", "action_type", "axis", "bucket")
CONTACT_COLUMNS = {  # ours: theirs
    "no_contact": "base_prompt",
    "positive_contact": "positive_contact",
    "negative_contact": "negative_contact",
}
# What the authors' values hold, in any case and number.
PRINCIPLES = {
    "equal": "equal_group_status",
    "common": "common_goals",
    "cooperat": "intergroup_cooperation",
    "authorit": "support_of_authorities",
    "extended": "extended_contact",
    "virtual": "virtual_contact",
}
AXES = {
    "abilit": "ability",
    "age": "age",
    "body": "body_type",
    "characteristic": "characteristics",
    "cultur": "cultural",
    "gender": "gender_and_sex",
    "nationalit": "nationality",
    "nonce": "nonce",
    "political": "political_ideologies",
    "race": "race_ethnicity",
    "religio": "religion",
    "sexual": "sexual_orientation",
    "socio": "socioeconomic_class",
}

# descriptors="holistic_bias": those of HolisticBias v1.1 (Smith et al. 2022, CC BY-SA 4.0), whole, in our situations.
_HOLISTIC_BIAS = (
    "https://raw.githubusercontent.com/facebookresearch/ResponsibleNLP/"
    "0ec714eb084217f44cd9ac466d9e988c795302f9/holistic_bias/dataset/v1.1/{name}.json"
)
HOLISTIC_BIAS = {
    name: Published(_HOLISTIC_BIAS.format(name=name), f"holistic_bias/{name}_v1.1.json", checksum)
    for name, checksum in (
        ("descriptors", "c1328f0edfdeefb76302d360a01878df3db55f18026f4ea1956b4a0f52daf943"),
        ("standalone_noun_phrases", "bac592574f81df55e8c8d8e3919a866d43cbd8df5ae9376a68d95e7b83dbebac"),
    )
}
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


def published_paths(dl_manager, files):
    """{name: path} of published files, fetched or in the mirror; checked here, for `datasets` hides errors of rows."""
    mirror = os.environ.get(MIRROR)
    paths = {name: os.path.join(mirror, each.mirrored) if mirror else "" for name, each in files.items()}
    if mirror and (missing := [name for name, path in paths.items() if not os.path.isfile(path)]):
        listed = ", ".join(f"{files[name].mirrored} (from {files[name].url})" for name in missing)
        raise FileNotFoundError(
            f"{MIRROR}={mirror} lacks official files of contact_hypothesis; expected there: {listed}. Put them there, "
            f"or unset {MIRROR} to fetch all."
        )
    for name, each in files.items():
        paths[name] = paths[name] or dl_manager.download(each.url)
        with open(paths[name], "rb") as file:
            found = each.digest(file.read())
        if found != each.checksum:
            raise ValueError(
                f"{paths[name]} is not the pinned file: its {each.digest.__name__} is {found}, not {each.checksum}. "
                f"Fetch {each.url} again, or correct the mirror that {MIRROR} names."
            )
    return paths


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


def authors_rows(path, scale):
    """The authors' prompt sets of one scale, as rows; the texts are as published."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        wanted = (*PROMPT_SET_COLUMNS, *CONTACT_COLUMNS.values())
        if missing := [name for name in wanted if name not in (reader.fieldnames or ())]:
            raise ValueError(f"{path} has no column {', '.join(missing)}")
        published = list(reader)
    templates = {}
    for row in published:
        templates.setdefault(row["id"], []).append(row["base_prompt"])
    descriptors = {name: iter(differing_words(texts)) for name, texts in templates.items()}
    seen = Counter()
    for row in published:
        principle, axis = renamed(row["key_principle"], PRINCIPLES), renamed(row["axis"], AXES)
        scenario, action = row["scenario"].strip().lower(), row["action_type"].strip().lower()
        if scenario not in SCENARIOS or action not in ACTIONS:
            raise ValueError(f"{path}: unknown scenario or action {row['scenario']!r}, {row['action_type']!r}")
        template, descriptor = f"official-{scale}-{row['id']}", next(descriptors[row["id"]])
        name = f"{template}/{axis}/{descriptor.replace(' ', '_')}"
        seen[name] += 1  # some descriptors are listed twice
        yield {
            "id": name if seen[name] == 1 else f"{name}/{seen[name]}",
            "scale": scale,
            "template": template,
            "situation": f"official-{scenario}-{principle}-{action}",
            "principle": principle,
            "scenario": scenario,
            "action": action,
            "axis": axis,
            "bucket": row["bucket"],
            "descriptor": descriptor,
            **{ours: row[theirs] for ours, theirs in CONTACT_COLUMNS.items()},
            "options": list(OPTIONS[scale]),
            "unbiased": OPTIONS[scale][action == "negative"],
            "plausible": True,  # not judged
        }


def renamed(value, names):
    """Our name of an authors' value."""
    found = [ours for part, ours in names.items() if part in value.lower()]
    if len(found) != 1:
        raise ValueError(f"unknown value {value!r} in the published prompt sets; expected one with {', '.join(names)}")
    return found[0]


def differing_words(texts):
    """What each text has between the beginning and the end that most of them share: its descriptor.

    The authors' files have no column for it. Where it follows the noun, the noun goes: "with a limp".
    """
    words = [text.rstrip(" ?.").split() for text in texts]
    first, last = shared_beginning(words), shared_beginning([each[::-1] for each in words])
    for text, each in zip(texts, words):
        start = matching(each, first)
        end = matching(each[start:][::-1], last)
        found = each[start : len(each) - end]
        nouns = last[end:][::-1]
        if nouns and found[: len(nouns)] == nouns:
            found = found[len(nouns) :]
        if found and found[0] in ("a", "an"):
            found = found[1:]
        yield " ".join(found) or text


def shared_beginning(texts):
    """The longest beginning, in words, that more than half of these texts have."""
    shared, left = [], texts
    while left := [each for each in left if len(each) > len(shared)]:
        word, n = Counter(each[len(shared)] for each in left).most_common(1)[0]
        if 2 * n <= len(texts):
            break
        left = [each for each in left if each[len(shared)] == word]
        shared.append(word)
    return shared


def matching(words, pattern):
    """How many words at the beginning are the pattern's."""
    n = 0
    while words[n : n + 1] == pattern[n : n + 1] != []:
        n += 1
    return n


@dataclass
class ContactHypothesisConfig(datasets.BuilderConfig):
    """One scale of one half of the situations.

    source: "evenhand", or "official" for the authors' prompt sets. descriptors: in our situations, "evenhand", our
    lexicon, or "holistic_bias".
    """

    scale: str = "certainty"
    half: str = "original"
    source: str = "evenhand"
    descriptors: str = "evenhand"


class ContactHypothesis(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = ContactHypothesisConfig
    OPTIONS = {"descriptors": ("evenhand", "holistic_bias")}  # of evenhand.load_dataset, the default first
    BUILDER_CONFIGS = [
        ContactHypothesisConfig(
            name=scale if half == "original" else f"new_{scale}",
            version=datasets.Version("2.4.0"),
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
        source, descriptors = self.config.source, self.config.descriptors
        if source not in ("evenhand", "official") or descriptors not in self.OPTIONS["descriptors"]:
            raise ValueError(
                f"source must be 'evenhand' or 'official', and descriptors 'evenhand' or 'holistic_bias', got "
                f"{source!r} and {descriptors!r}"
            )
        if source == "official":
            if descriptors != "evenhand":
                raise ValueError("descriptors are of evenhand's situations; the authors' prompt sets have their own")
            if self.config.half == "new":
                raise ValueError("the authors' new prompt sets are not published; use source 'evenhand'")
            paths = published_paths(dl_manager, {"prompt_sets": PROMPT_SETS[self.config.scale]})
        else:
            paths = {
                name: dl_manager.download(path) for name, path in (("situations", SITUATIONS), ("rules", IMPLAUSIBLE))
            }
            if descriptors == "evenhand":
                paths["descriptors"] = dl_manager.download(DESCRIPTORS)
            else:
                paths |= published_paths(dl_manager, HOLISTIC_BIAS)
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs=paths)]

    def _generate_examples(self, **paths):
        rows = (
            authors_rows(paths["prompt_sets"], self.config.scale) if "prompt_sets" in paths else self._own_rows(**paths)
        )
        for row in rows:
            yield row["id"], row

    def _own_rows(self, situations, rules, descriptors, standalone_noun_phrases=None):
        published = standalone_noun_phrases is not None
        lexicon = list(holistic_bias(descriptors, standalone_noun_phrases)) if published else read_jsonl(descriptors)
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
                yield {
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
