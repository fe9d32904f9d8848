"""Classifiers of language agency, by name; and the offline default, trained once on this machine."""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.caches import cache_folder, cache_written
from evenhand.errors import UsageError
from evenhand.language_agency.recipes import RECIPES, RECORD
from evenhand.library import DATASETS, load_dataset
from evenhand.paths import typed_path

if TYPE_CHECKING:
    from evenhand.language_agency.classifier import SentenceClassifier

logger = logging.getLogger(__name__)

DEFAULT = "default"
DEFAULT_EPOCHS = 3  # it is trained while the user waits
LEXICON = "lexicon"
AGENTIC_LABEL = ":agentic="  # DIR:agentic=POSITIVE names the label that stands for agentic
ACCEPTED = (
    f"{DEFAULT} (trained here once), {LEXICON} (string matching), a folder of evenhand train agency, or any "
    f"sequence-classification checkpoint (Hub id or folder, {AGENTIC_LABEL}LABEL behind it where its labels have other "
    "names)"
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
        return [NamedClassifier(name, LexiconClassifier(), {})]
    if name == DEFAULT:
        paths = {"MiniLM trained on language_agency (default)": str(default_checkpoint())}
    else:
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
    """Return the folder of the offline default: MiniLM trained on `language_agency` once, then kept in the cache.

    Another encoder, recipe, training code or data makes another folder.
    """
    from evenhand.language_agency import training
    from evenhand.models.embedded import embedded_encoder
    from evenhand.models.fingerprint import fingerprint
    from evenhand.trainers.progress import TrainingBar

    recipe = replace(RECIPES["minilm"], epochs=DEFAULT_EPOCHS)
    encoder = embedded_encoder()
    digest = hashlib.sha256(json.dumps([asdict(recipe), fingerprint(encoder)]).encode())
    pairs = DATASETS / "language_agency" / "data" / "evenhand"
    for path in [Path(training.__file__), *sorted(pairs.glob("*.parquet"))]:
        digest.update(path.read_bytes())
    folder = cache_folder() / f"agency-minilm-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        logger.warning("Training the default agency classifier, once, about a minute on two cores: %s", folder)
        with (
            cache_written(folder.parent, "EVENHAND_CACHE"),
            tempfile.TemporaryDirectory(dir=folder.parent, prefix=".training-") as scratch,
            TrainingBar() as bar,
        ):
            trained = Path(scratch) / "agency"
            training.train_agency(
                load_dataset("language_agency"),
                recipe,
                [0],
                trained,
                data_name="language_agency",
                base_path=str(encoder),
                on_progress=bar.update,
            )
            try:
                (trained / "seed-0").rename(folder)
            except OSError:
                if not folder.is_dir():  # else another process was faster
                    raise
    return folder
