"""The packaged datasets and metrics: where they lie, and how they are loaded."""

from __future__ import annotations

import copy
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.caches import cache_written
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.hub.at_revision import dataset_at, metric_at
from evenhand.hub.secrets import without_secrets_in_errors

if TYPE_CHECKING:
    import datasets
    import evaluate


def _packaged(folder: str) -> Path:
    """A folder of packaged data: inside the package in a wheel, at the top of the repository in a checkout."""
    package = Path(__file__).parent
    return package / folder if (package / folder).is_dir() else package.parents[1] / folder


DATASETS = _packaged("datasets")
METRICS = _packaged("metrics")

BUILT_WHEN_LOADED = {"mllm_stereotypes": "evenhand.benchmarks.mllm_stereotypes.queries"}
"""Modules whose CONFIGS of a dataset are no files: they are built from pictures that the user has."""


def dataset_names() -> list[str]:
    return sorted(path.parent.name for path in DATASETS.glob("*/loading_script.py"))


def packaged_dataset_names() -> list[str]:
    """List datasets whose rows are in the package; others have published rows alone."""
    return [name for name in dataset_names() if (DATASETS / name / "data").is_dir()]


def refuse_unpackaged(name: str) -> None:
    """Raise UsageError for a dataset whose rows are not in the package."""
    if name not in packaged_dataset_names():
        hint = f"{name} has published rows alone" if name in dataset_names() else None
        raise unknown_name("dataset with packaged rows", name, packaged_dataset_names(), hint)


MIRROR = "EVENHAND_SOURCES"
_LEFT_OUT = "(?s).*its split is left out"  # how loading scripts warn of a mirror's absent file
_NETWORK = ("aiohttp", "httpx", "requests", "urllib3", "fsspec", "huggingface_hub")

_LOADING = threading.RLock()  # a module is known before it has all that it defines


def metric_names() -> list[str]:
    return sorted(path.parent.name for path in METRICS.glob("*/scores.py"))


def dataset_builder_class(name: str) -> type[datasets.GeneratorBasedBuilder]:
    """The builder that a dataset's loading script defines, imported by path (datasets>=4 runs no scripts)."""
    import datasets

    if name not in dataset_names():  # else "../…" would name a script that is not the package's, to be run
        raise unknown_name("dataset", name, dataset_names(), "evenhand list shows all")
    path = DATASETS / name / "loading_script.py"
    module_name = f"evenhand_datasets_{name}"
    with _LOADING:
        if module_name not in sys.modules:
            spec = importlib.util.spec_from_file_location(module_name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module  # before execution: datasets looks the builder's module up there
            spec.loader.exec_module(module)
        module = sys.modules[module_name]
    [builder_class] = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, datasets.GeneratorBasedBuilder)
        and value is not datasets.GeneratorBasedBuilder
    ]
    return builder_class


def dataset_version(name: str) -> str:
    """The version that the loading script names, of a dataset of dataset_names().

    Raises UsageError where its configurations differ in it.
    """
    versions = {str(config.version) for config in dataset_builder_class(name).BUILDER_CONFIGS}
    if len(versions) != 1:
        raise UsageError(f"configurations of {name} have the versions {', '.join(sorted(versions))}; expected one")
    return versions.pop()


def config_names(name: str) -> list[str]:
    return [config.name for config in dataset_builder_class(name).BUILDER_CONFIGS]


def fingerprint(folder: Path) -> str:
    """Changes with a dataset's files, so that rows cached from former ones are not loaded again."""
    digest = hashlib.sha256()
    for path in sorted(
        path for path in folder.rglob("*") if path.suffix in (".py", ".json", ".jsonl", ".md", ".parquet")
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@without_secrets_in_errors()
def load_dataset(
    name: str,
    config: str | None = None,
    split: str | None = None,
    source: str = "evenhand",
    revision: str | None = None,
    **options: object,
) -> datasets.Dataset | datasets.DatasetDict | datasets.IterableDataset | datasets.IterableDatasetDict:
    """Load a packaged dataset offline, as `datasets.load_dataset` does; or the Hub's, with `revision`.

    name: of a packaged dataset; with `revision`, "NAMESPACE/NAME", as `evenhand publish` puts it on the Hub.
    revision: a tag such as "v2.2.1", a branch, or a commit. Without a network (HF_HUB_OFFLINE) what it was when it was
    last loaded here.
    config: one of the dataset's configurations; needed where there are several and none is the default.
    source: "evenhand" reads the packaged parquet; "official" builds from the published files, pinned by commit and
    checksum, fetched, or read from the local mirror that the environment variable EVENHAND_SOURCES names.
    options: of datasets that are built from pictures, see evenhand.benchmarks.mllm_stereotypes.queries.load (faces=DIR
    …); of contact_hypothesis descriptors="holistic_bias", HolisticBias's in evenhand's situations; and of the Hub's
    streaming=True: rows as they come, without keeping them.
    Raises UsageError for unknown names, splits and options, and published files that are not the pinned ones;
    EvenhandError for published files that can't be had.
    """
    import datasets

    if _on_hub(name, revision):
        streaming = bool(options.pop("streaming", False))
        if source != "evenhand" or options:
            raise UsageError(f"{name} of the Hub takes config, split, revision and streaming, no source or options")
        with _from_hub(f"dataset {name}", revision):
            return dataset_at(name, str(revision), config, split, streaming)

    builder_class = dataset_builder_class(name)
    built = importlib.import_module(BUILT_WHEN_LOADED[name]) if name in BUILT_WHEN_LOADED else None
    if built and config in built.CONFIGS:
        given = inspect.signature(built.load).parameters.values()
        accepted = [each.name for each in given if each.kind == each.KEYWORD_ONLY and each.name != "source"]
        _refuse_options(f"{name} ({config})", options, accepted)
        return built.load(config, split, source=source, **options)  # type: ignore[no-any-return]
    own: Mapping[str, Sequence[str]] = getattr(builder_class, "OPTIONS", {})
    _refuse_options(name, options, [*own])
    for option, value in options.items():
        if value not in own[option]:
            raise unknown_name(option, value, own[option])
    chosen = {option: value for option, value in options.items() if value != own[option][0]}
    configs = [*config_names(name), *(built.CONFIGS if built else ())]
    if config is None:
        config = configs[0] if len(configs) == 1 else builder_class.DEFAULT_CONFIG_NAME
    if config not in configs:
        if config is None:
            raise UsageError(f"{name} has several configurations; choose one of: {', '.join(configs)}")
        raise unknown_name(f"configuration of {name}", config, configs)
    if source not in ("evenhand", "official"):
        raise unknown_name("source", source, ["evenhand", "official"])
    if source == "evenhand" and name not in packaged_dataset_names():
        raise UsageError(f"{name} has published rows alone: expected source 'official', got {source!r}")
    folder = DATASETS / name
    if source == "evenhand" and not chosen:
        # datasets itself looks at a folder's name alone, and would go on with the rows of a former version.
        cache = Path(datasets.config.HF_DATASETS_CACHE) / f"evenhand-{fingerprint(folder)}"
        with cache_written(cache, "HF_DATASETS_CACHE"), _fitting(f"{name} ({config})"):
            return copy.deepcopy(_packaged_rows(str(folder), config, split, str(cache)))  # its formats are whose it is
    if not hasattr(builder_class.BUILDER_CONFIG_CLASS, "source"):
        raise UsageError(f"{name} has no published rows: expected source 'evenhand', got {source!r}")
    what = ", ".join([config, f"source {source}", *(f"{option} {value}" for option, value in chosen.items())])
    with _fitting(f"{name} ({what})"):
        builder = builder_class(
            config_name=config, base_path=str(folder), hash=fingerprint(folder), source=source, **chosen
        )
        _build(builder, f"{name} ({what})", split)
        return builder.as_dataset(split=split)


@lru_cache(maxsize=32)
def _packaged_rows(folder: str, config: str, split: str | None, cache: str) -> datasets.Dataset | datasets.DatasetDict:
    """Load rows once in a process: the library reads a folder's card each time. cache: named by the folder's files."""
    import datasets

    # No check of the card's sizes: changed rows are loaded as they are.
    return datasets.load_dataset(folder, config, split=split, cache_dir=cache, verification_mode="no_checks")


def _build(builder: datasets.DatasetBuilder, what: str, split: str | None) -> None:
    """Fetch, check and build. what: for errors. split: the requested one; missing files of others are ignored then.

    Raises EvenhandError where a file can't be fetched, or the wanted split's is absent from the mirror.
    """
    import datasets

    try:
        with warnings.catch_warnings(), cache_written(Path(datasets.config.HF_DATASETS_CACHE), "HF_DATASETS_CACHE"):
            if split is not None:
                warnings.filterwarnings("ignore", _LEFT_OUT)
            builder.download_and_prepare()
    except Exception as error:
        if isinstance(error, FileNotFoundError) and os.environ.get(MIRROR):
            raise EvenhandError(str(error)) from error
        if os.environ.get(MIRROR) or not _of_the_network(error):
            raise
        raise EvenhandError(
            f"{what}: a published file can't be fetched ({error or type(error).__name__}). Where there is no network, "
            f"fetch it elsewhere, and name the folder that holds such files in the environment variable {MIRROR} (an "
            "error with an empty one lists which)"
        ) from error
    splits = [*(builder.info.splits or {})]
    if split is not None and split.isidentifier() and split not in splits:
        reason = _read_warnings(builder) or f"Its splits: {', '.join(splits)}."
        raise EvenhandError(f"{what} has no split {split!r}. {reason}")


def _of_the_network(error: Exception) -> bool:
    """Libraries raise the address alone as a file that isn't there, or errors of their own."""
    return isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _NETWORK


def _read_warnings(builder: datasets.DatasetBuilder) -> str:
    """Return the loading script's warnings of missing files, though rows were built before."""
    import datasets

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        builder._split_generators(datasets.DownloadManager(base_path=builder.base_path))
    return " ".join(str(each.message) for each in caught if issubclass(each.category, UserWarning))


@contextmanager
def _fitting(what: str) -> Iterator[None]:
    """Raise UsageError for what libraries and loading scripts refuse, such as an unknown split."""
    try:
        yield
    except EvenhandError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what}: {error}") from error


def _refuse_options(what: str, options: Mapping[str, object], accepted: Sequence[str] = ()) -> None:
    """Raise UsageError for options that are not among those accepted."""
    unknown = [each for each in options if each not in accepted]
    if unknown:
        raise UsageError(
            f"{what} does not take these options: {', '.join(unknown)}; accepted: "
            f"{', '.join(('config', 'split', 'source', *accepted))}. Options of the datasets library, such as "
            f"streaming=True, go to datasets.load_dataset, whose path is the folder {DATASETS / what.partition(' ')[0]}"
        )


@without_secrets_in_errors()
def load_metric(name: str, revision: str | None = None) -> evaluate.Metric:
    """Load a packaged metric offline, as `evaluate.load` does; or the Hub's "NAMESPACE/NAME", with `revision`.

    Raises UsageError for an unknown name, EvenhandError for what can't be had from the Hub.
    """
    import evaluate

    if _on_hub(name, revision):
        with _from_hub(f"metric {name}", revision):
            return metric_at(name, str(revision))
    if name not in metric_names():
        raise unknown_name("metric", name, metric_names(), "evenhand list shows all")
    # In memory: evaluate's cache file is shared by all processes, and stays locked after bad input.
    modules, metrics = Path(evaluate.config.HF_MODULES_CACHE), Path(evaluate.config.HF_METRICS_CACHE)
    with cache_written(modules, "HF_MODULES_CACHE"), cache_written(metrics, "HF_METRICS_CACHE"):
        return evaluate.load(str(METRICS / name), keep_in_memory=True)


def _on_hub(name: str, revision: str | None) -> bool:
    """Whether the Hub's copy is asked for. Raises UsageError where name and revision don't fit."""
    namespace, slash, rest = name.partition("/") if isinstance(name, str) else ("", "", "")
    of_namespace = bool(namespace and slash and rest) and "/" not in rest and namespace not in (".", "..", "~")
    if revision is None and of_namespace:
        raise UsageError(f"{name!r} names a repository of the Hub; say which revision of it, such as revision='main'")
    if revision is not None and not of_namespace:
        raise UsageError(
            f"revision {revision!r} is of a repository of the Hub, and {name!r} names none; write NAMESPACE/NAME, or "
            "leave the revision out for the packaged copy"
        )
    if revision is not None and os.path.lexists(name):  # the libraries would take it, and leave the revision unread
        raise UsageError(
            f"{name!r} with revision {revision!r} is of the Hub, and a file or folder of that name lies in "
            f"{Path.cwd()}, which would be loaded in its place; call it from another folder, or rename that one"
        )
    return revision is not None


@contextmanager
def _from_hub(what: str, revision: str | None) -> Iterator[None]:
    """Raise EvenhandError for the many errors with which libraries say that something is not there."""
    try:
        with _fitting(what):
            yield
    except UsageError:
        raise
    except (EvenhandError, OSError, ImportError) as error:  # ConnectionError and FileNotFoundError are OSErrors
        said = str(error).rstrip(".")
        raise EvenhandError(
            f"{what} at revision {revision} can't be had from the Hub: {said}. Look whether it is there, whether "
            "HF_TOKEN may see it, and whether HF_HUB_OFFLINE is set"
        ) from error
