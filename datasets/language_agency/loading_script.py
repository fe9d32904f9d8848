"""language_agency: sentences about people in agentic or communal language, to train and test an agency classifier.

After the Language Agency Classification (LAC) dataset of Wan and Chang, "White Men Lead, Black Women Help? Benchmarking
and Mitigating Language Agency Social Biases in LLMs" (ACL 2025), Appendix B. Agentic language is more
achievement-oriented, communal language more social or service-oriented. As there, facts are told in both; the
sentences in `sources/` were written for this dataset.

The two sentences of a pair are two rows of one split. `relation` tells pairs that tell one deed twice (`paraphrase`)
from those that tell two of one person (`contrast`). The configuration `neutral` has sentences to which neither label
belongs, or both.
"""

import csv
import hashlib
import json
import os
import warnings
from dataclasses import dataclass

import datasets

LABELS = ("communal", "agentic")  # 0 and 1, as in the published LAC
SPLITS = ("train", "validation", "test")
PAIRS = "sources/pairs.jsonl"
NEUTRAL = "sources/neutral.jsonl"
OF_A_PAIR = ("pair", "relation", "field", "register", "gender")
OF_A_SENTENCE = ("field", "register", "gender")
SPLIT_SEED = 0

# source="official": the published LAC (MIT), Table 9 of the paper.
OFFICIAL_URL = (
    "https://raw.githubusercontent.com/elainew728/labe-agency/"
    "e8cc42d86df007fd05e3ae0c27c127b7a0a6165c/lac_dataset_construction/lac_dataset/{split}.csv"
)
OFFICIAL_SHA256 = {
    "train": "abcc3ec6032e3b265cbf15c6d8a3da668a2a030675b00f0425b96698c8cd5b56",
    "validation": "b72ea51c5f723db24c25013ca22c9155eb4a3a0622ebcffb706436bbb11e8f5e",
    "test": "3fd3d732c8c41a1479c69c73714814181c2224a4fcf593ca500f152e29d287e6",
}
OFFICIAL_MIRROR = "labe/{split}.csv"  # their places below $EVENHAND_SOURCES


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def split_of_pairs(pairs):
    """{pair: split}, 80/10/10: of ten pairs in a row, the fifth is for validation and the tenth for test.

    They stand in order of gender, batch (the letter that a pair's name begins with: pairs were written in batches),
    relation and field, so that every split has its share of each; a seeded hash orders the pairs that are alike in all.
    """

    def rank(entry):
        batch = entry["pair"].split("-")[0]
        draw = hashlib.sha256(f"{SPLIT_SEED}/{entry['pair']}".encode()).hexdigest()
        return entry["gender"], batch, entry["relation"], entry["field"], draw

    ranked = enumerate(sorted(pairs, key=rank))
    return {entry["pair"]: {4: "validation", 9: "test"}.get(place % 10, "train") for place, entry in ranked}


def mirrored(mirror):
    """{split: path of its official file}, of those that the folder `mirror` holds."""
    paths = {split: os.path.join(mirror, OFFICIAL_MIRROR.format(split=split)) for split in SPLITS}
    return {split: path for split, path in paths.items() if os.path.isfile(path)}


def official_paths(dl_manager):
    """{split: path of its official file}: of the mirror where EVENHAND_SOURCES names one, else downloaded.

    A split whose file is absent in the mirror is left out with a warning; none at all is a FileNotFoundError.
    """
    mirror = os.environ.get("EVENHAND_SOURCES")
    if not mirror:
        return {split: dl_manager.download(OFFICIAL_URL.format(split=split)) for split in SPLITS}
    paths = mirrored(mirror)
    absent = [
        f"{OFFICIAL_MIRROR.format(split=split)} (from {OFFICIAL_URL.format(split=split)})"
        for split in SPLITS
        if split not in paths
    ]
    advice = "Put it there, or unset EVENHAND_SOURCES to fetch it."
    if not paths:
        raise FileNotFoundError(
            f"EVENHAND_SOURCES={mirror} holds no official file of language_agency; expected there: "
            f"{', '.join(absent)}. {advice}"
        )
    for file in absent:
        warnings.warn(f"EVENHAND_SOURCES={mirror} lacks {file}; its split is left out. {advice}", stacklevel=2)
    return paths


def verified(path, split):
    """The path of a pinned LAC file; checked before rows are generated, where `datasets` hides errors."""
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != OFFICIAL_SHA256[split]:
        raise ValueError(
            f"{path} is not the pinned {split} split of LAC: its sha256 is {found}, not {OFFICIAL_SHA256[split]}. "
            f"Fetch {OFFICIAL_URL.format(split=split)} again, or correct the mirror that EVENHAND_SOURCES names."
        )
    return path


@dataclass
class LanguageAgencyConfig(datasets.BuilderConfig):
    """`source` is where the sentences are from: "evenhand", or "official" for the published LAC."""

    source: str = "evenhand"

    def create_config_id(self, config_kwargs, custom_features=None):
        """The key of the cache. It names the mirror's splits, so that one that was absent is built once it is there."""
        config_id = super().create_config_id(config_kwargs, custom_features)
        mirror = os.environ.get("EVENHAND_SOURCES")
        if self.source != "official" or not mirror:
            return config_id
        return "-".join([config_id, "mirror", *mirrored(mirror)])


class LanguageAgency(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = LanguageAgencyConfig
    BUILDER_CONFIGS = [
        LanguageAgencyConfig(
            name="evenhand",
            version=datasets.Version("3.0.0"),
            description="pairs of sentences, agentic and communal; of most, one deed told twice",
        ),
        LanguageAgencyConfig(
            name="neutral",
            version=datasets.Version("3.0.0"),
            description="sentences that are neither agentic nor communal, or both",
        ),
    ]
    DEFAULT_CONFIG_NAME = "evenhand"

    def _info(self):
        string = datasets.Value("string")
        if self.config.name == "neutral":
            features = {name: string for name in ("id", "text", "kind", *OF_A_SENTENCE)}
        else:
            label = datasets.ClassLabel(names=list(LABELS))
            features = {"id": string, "text": string, "label": label} | {name: string for name in OF_A_PAIR}
        return datasets.DatasetInfo(
            description=__doc__,
            features=datasets.Features(features),
            license="Apache-2.0; with source='official' the sentences are those of LAC, MIT",
        )

    def _split_generators(self, dl_manager):
        if self.config.name == "neutral" and self.config.source != "evenhand":
            raise ValueError(f"neutral is of source 'evenhand', not {self.config.source!r}")
        if self.config.name == "neutral":
            paths = {"test": dl_manager.download(NEUTRAL)}
        elif self.config.source == "evenhand":
            paths = dict.fromkeys(SPLITS, dl_manager.download(PAIRS))
        elif self.config.source == "official":
            paths = {split: verified(path, split) for split, path in official_paths(dl_manager).items()}
        else:
            raise ValueError(f"unknown source {self.config.source!r}: 'evenhand' or 'official' is accepted")
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"path": path, "split": split})
            for split, path in paths.items()
        ]

    def _generate_examples(self, path, split):
        if self.config.name == "neutral":
            rows = read_jsonl(path)
        else:
            rows = (self._official_rows if self.config.source == "official" else self._rows)(path, split)
        for row in rows:
            yield row["id"], row

    def _rows(self, path, split):
        pairs = read_jsonl(path)
        split_of = split_of_pairs(pairs)
        for entry in pairs:
            if split_of[entry["pair"]] != split:
                continue
            for label in reversed(LABELS):
                yield {
                    "id": f"{entry['pair']}/{label}",
                    "text": entry[label],
                    "label": label,
                    **{column: entry[column] for column in OF_A_PAIR},
                }

    def _official_rows(self, path, split):
        """Rows are counted from 0; LAC does not record pairs and what they share, so these columns are empty."""
        with open(path, encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file)):
                yield {
                    "id": f"lac-{split}-{number}",
                    "text": row["text"],
                    "label": int(row["label"]),
                    **dict.fromkeys(OF_A_PAIR, ""),
                }
