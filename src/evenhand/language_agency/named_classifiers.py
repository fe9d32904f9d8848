"""Classifiers of language agency, by name; and the default, trained once on this machine."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import tempfile
import urllib.request
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.caches import cache_folder, cache_written
from evenhand.errors import UsageError
from evenhand.language_agency.recipes import RECIPES, RECORD, Recipe
from evenhand.library import DATASETS, MIRROR, dataset_builder_class, load_dataset
from evenhand.paths import typed_path

if TYPE_CHECKING:
    from evenhand.language_agency.classifier import SentenceClassifier

logger = logging.getLogger(__name__)

DEFAULT = "default"
DEFAULT_EPOCHS = 2  # it is trained while the user waits
SECONDS_TO_ANSWER = 5
DATA_NAMES = {"evenhand": "language_agency", "official": "LAC (Wan & Chang 2024)"}
# Accuracy on LAC's validation split, percent, of what never saw a sentence of LAC (results/agency_classifiers.json).
ON_LAC = {
    "default": {"split": "validation", "accuracy": 78.5, "intervals": {"accuracy": [74.2, 82.5]}, "n": 372},
    "lexicon": {"split": "validation", "accuracy": 79.6, "intervals": {"accuracy": [75.8, 83.3]}, "n": 372},
}
LEXICON = "lexicon"
AGENTIC_LABEL = ":agentic="  # DIR:agentic=POSITIVE names the label that stands for agentic
ACCEPTED = (
    f"{DEFAULT} (trained here once, on LAC where it can be read), {LEXICON} (string matching), a folder of evenhand "
    f"train agency, or any sequence-classification checkpoint (Hub id or folder, {AGENTIC_LABEL}LABEL behind it where "
    "its labels have other names)"
)


@dataclass(frozen=True)
class NamedClassifier:
    """record: what its training recorded (data, accuracy); empty where that is unknown."""

    name: str
    classifier: SentenceClassifier
    record: dict[str, Any]


def load_classifier(name: str = DEFAULT) -> SentenceClassifier:
    """Load the one classifier of that name; see ACCEPTED. Raises UsageError where the name stands for several."""
    named = load_classifiers([name])
    if len(named) > 1:
        raise UsageError(f"{name} holds {len(named)} classifiers; name one: {', '.join(each.name for each in named)}")
    return named[0].classifier


def load_classifiers(names: Iterable[str]) -> list[NamedClassifier]:
    """Load classifiers; a folder of several seeds stands for all. Raises ModelError for what can't be loaded."""
    return [each for name in names for each in _named(name)]


@lru_cache(maxsize=4)
def kept_classifiers(names: tuple[str, ...]) -> tuple[NamedClassifier, ...]:
    """Like load_classifiers, but keep what is loaded, for who reads thousands of texts."""
    return tuple(load_classifiers(names))


def _named(name: str) -> list[NamedClassifier]:
    from evenhand.language_agency.classifier import AgencyClassifier
    from evenhand.language_agency.lexicon import LexiconClassifier

    if name == LEXICON:
        return [NamedClassifier(name, LexiconClassifier(), {"data": "word lists", "lac": ON_LAC[LEXICON]})]
    if name == DEFAULT:
        path = str(default_checkpoint())
        record = _record(path)
        data = record.get("data")
        of_lac = {"lac": ON_LAC.get(DEFAULT)} if data == DATA_NAMES["evenhand"] else {}
        shown = f"MiniLM trained on {'LAC' if data == DATA_NAMES['official'] else data} (default)"
        return [NamedClassifier(shown, AgencyClassifier.from_pretrained(path, name=shown), record | of_lac)]
    paths = _paths(name)
    label = name.partition(AGENTIC_LABEL)[2] or None
    return [
        NamedClassifier(each, AgencyClassifier.from_pretrained(path, name=each, agentic_label=label), _record(path))
        for each, path in paths.items()
    ]


def _paths(name: str) -> dict[str, str]:
    """Return {classifier: folder or Hub id}: a folder of several seeds stands for all of them."""
    path = name.partition(AGENTIC_LABEL)[0]
    folder = typed_path(path)
    seeds = sorted(
        (path.parent for path in folder.glob("seed-*/config.json")),
        key=lambda seed: (len(seed.name), seed.name),  # seed-2 before seed-10
    )
    if seeds and not (folder / "config.json").is_file():
        return {f"{name}/{seed.name}": str(seed) for seed in seeds}
    return {name: str(folder) if folder.is_dir() else path}


def load_records(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return {classifier: what its training recorded}, without loading or training any."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        built_in = name in (LEXICON, DEFAULT)
        found |= {name: {}} if built_in else {each: _record(path) for each, path in _paths(name).items()}
    return found


def _record(path: str) -> dict[str, Any]:
    """Empty where nothing is known of the training."""
    file = Path(path) / RECORD
    record = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return record if isinstance(record, dict) else {}


def default_checkpoint() -> Path:
    """Return the folder of the default: MiniLM trained once on LAC where that can be read, else on `language_agency`.

    It is kept in the cache. Another encoder, recipe, training code or data makes another folder.
    """
    lac = _default_folder("official")
    if lac.is_dir() or _can_read_lac():
        return _trained(lac, "official")
    return _trained(_default_folder("evenhand"), "evenhand")


def _default_recipe() -> Recipe:
    return replace(RECIPES["minilm"], epochs=DEFAULT_EPOCHS)


def _default_folder(source: str) -> Path:
    from evenhand.language_agency import training
    from evenhand.models.embedded import embedded_encoder
    from evenhand.models.fingerprint import fingerprint

    digest = hashlib.sha256(json.dumps([asdict(_default_recipe()), fingerprint(embedded_encoder())]).encode())
    digest.update(Path(training.__file__).read_bytes())
    if source == "official":
        digest.update(json.dumps(_loading_script().OFFICIAL_SHA256).encode())
    else:
        for path in sorted((DATASETS / "language_agency" / "data" / "evenhand").glob("*.parquet")):
            digest.update(path.read_bytes())
    return cache_folder() / f"agency-minilm-{digest.hexdigest()[:16]}"


def _loading_script() -> Any:
    return sys.modules[dataset_builder_class("language_agency").__module__]


def _can_read_lac() -> bool:
    """Whether a mirror holds LAC's training split, or its home answers."""
    script = _loading_script()
    if mirror := os.environ.get(MIRROR):
        return bool({"train", "validation"} <= script.mirrored(mirror).keys())
    if os.environ.get("HF_HUB_OFFLINE") or os.environ.get("HF_DATASETS_OFFLINE"):
        return False
    asked = urllib.request.Request(script.OFFICIAL_URL.format(split="train"), method="HEAD")
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS_TO_ANSWER):
            return True
    except OSError:
        return False


def _trained(folder: Path, source: str) -> Path:
    from evenhand.language_agency import training
    from evenhand.models.embedded import embedded_encoder
    from evenhand.trainers.progress import TrainingBar

    if not folder.is_dir():
        logger.warning(
            "Training the default agency classifier on %s, once, some minutes on two cores: %s",
            DATA_NAMES[source],
            folder,
        )
        with (
            cache_written(folder.parent, "EVENHAND_CACHE"),
            tempfile.TemporaryDirectory(dir=folder.parent, prefix=".training-") as scratch,
            TrainingBar() as bar,
        ):
            trained = Path(scratch) / "agency"
            training.train_agency(
                load_dataset("language_agency", source=source),
                _default_recipe(),
                [0],
                trained,
                data_name=DATA_NAMES[source],
                base_path=str(embedded_encoder()),
                on_progress=bar.update,
            )
            try:
                (trained / "seed-0").rename(folder)
            except OSError:
                if not folder.is_dir():  # else another process was faster
                    raise
    return folder
