"""Repositories of packaged datasets and metrics.

A dataset's is its folder, whose parquet is what its script builds. A metric's is a Space: its folder as `evaluate`
loads it, its card, and the page that visitors see. The page is a part of evenhand, which a Space can't install from a
registry: that part is copied into the Space, under the names that its modules have here.
"""

from __future__ import annotations

import re
from pathlib import Path

from evenhand import __version__
from evenhand.errors import UsageError
from evenhand.hub.cards.metric import GRADIO, metric_card
from evenhand.hub.contents import CARD, Contents, files_of, matches, repository_id
from evenhand.library import DATASETS, METRICS, dataset_version, load_metric, refuse_unpackaged
from evenhand.tools.dataset_upkeep.versions import differing_splits

ROWS = ("data/*/*.parquet",)
OF_A_DATASET = (*ROWS, "sources/*", "sources/*/*", "loading_script.py", "eval.yaml")
PACKAGE = Path(__file__).parents[1]
OF_THE_PAGE = ("errors.py", "hub/__init__.py", "hub/apps/*.*", "row_files/*.py")  # what the page imports and reads
REQUIREMENTS = "requirements.txt"
REQUIRED_BY_THE_PAGE = ("huggingface_hub>=0.34", "jinja2>=3.1", "pyarrow>=15")
_CARRIED = tuple(f"evenhand/{'*/' * depth}*.{ending}" for depth in range(4) for ending in ("py", "jinja", "css"))


def dataset_contents(name: str, namespace: str, private: bool = False, datasets: Path = DATASETS) -> Contents:
    """Return a dataset's repository. Raises UsageError for unknown names, and rows that its script does not build."""
    refuse_unpackaged(name)
    if differing := differing_splits(name, datasets):
        rows, advice = ", ".join(differing), f"rebuild them (python scripts/build_datasets.py {name})"
        raise UsageError(f"dataset {name}: {rows} differ from what loading_script.py builds; {advice}")
    files = {path: file for path, file in files_of(datasets / name).items() if matches(path, (CARD, *OF_A_DATASET))}
    return Contents(
        "dataset",
        repository_id(namespace, name),
        files,
        title=f"Publish {name} with evenhand",
        tag=f"v{dataset_version(name)}",
        private=private,
        owned=OF_A_DATASET,
        fixed=ROWS,
    )


def metric_contents(name: str, namespace: str, private: bool = False) -> Contents:
    """Return a metric's Space. Raises UsageError for unknown names."""
    metric, repo_id = load_metric(name), repository_id(namespace, name)
    own = files_of(METRICS / name) | standing_alone(name)
    carried = {path.relative_to(PACKAGE.parent).as_posix(): path for each in OF_THE_PAGE for path in PACKAGE.glob(each)}
    init = f'"""The part of evenhand {__version__} that this Space\'s page needs."""\n\n__version__ = "{__version__}"\n'
    required = [
        *(METRICS / name / REQUIREMENTS).read_text(encoding="utf-8").split(),
        *REQUIRED_BY_THE_PAGE,
        f"gradio=={GRADIO}",
    ]
    card = metric_card(metric, METRICS / name, repo_id)
    written = {"evenhand/__init__.py": init, REQUIREMENTS: "\n".join((*required, "")), CARD: card}
    return Contents(
        "metric",
        repo_id,
        {**own, **carried, **{path: text.encode() for path, text in written.items()}},
        title=f"Publish {name} with evenhand",
        tag=f"v{__version__}",
        private=private,
        owned=("*.py", "about.json", "example.csv", REQUIREMENTS, *_CARRIED),
        fixed=tuple(path for path in own if path.endswith(".py") and path != "app.py"),
    )


_SHARED = re.compile(r"^from evenhand\.(statistics|answers)\.(\w+) import", re.MULTILINE)
_BESIDE = re.compile(r"^from \.(\w+) import", re.MULTILINE)


def standing_alone(name: str) -> dict[str, bytes]:
    """Return a metric's modules as the Hub has them: with what they import of evenhand beside them.

    `evaluate` copies the files that the metric's own module imports and no others, so that module names them all.
    """
    modules = {
        path.stem: path.read_text(encoding="utf-8") for path in (METRICS / name).glob("*.py") if path.stem != "app"
    }
    sought = [found for text in modules.values() for found in _SHARED.findall(text)]
    while sought:
        folder, module = sought.pop()
        if module not in modules:
            modules[module] = (PACKAGE / folder / f"{module}.py").read_text(encoding="utf-8")
            sought += [(folder, other) for other in _BESIDE.findall(modules[module])]
    modules = {module: _SHARED.sub(r"from .\2 import", text) for module, text in modules.items()}
    unnamed = sorted({*modules} - {name, *_BESIDE.findall(modules[name])})
    lines = "".join(f"from .{module} import __doc__ as _{module}\n" for module in unnamed)
    first = _BESIDE.search(modules[name])
    assert first, name
    modules[name] = modules[name][: first.start()] + lines + modules[name][first.start() :]
    return {f"{module}.py": text.encode() for module, text in modules.items()}
