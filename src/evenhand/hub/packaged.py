"""Repositories of packaged datasets and metrics.

A dataset's is its folder, whose parquet is what its script builds. A metric's is a Space: its folder as `evaluate`
loads it, its card, and the page that visitors see. The page is a part of evenhand, which a Space can't install from a
registry: that part is copied into the Space, under the names that its modules have here.
"""

from __future__ import annotations

from pathlib import Path

from evenhand import __version__
from evenhand.errors import UsageError
from evenhand.hub.contents import CARD, Contents, files_of, matches, repository_id
from evenhand.library import DATASETS, METRICS, dataset_version, load_metric, refuse_unpackaged

ROWS = ("data/*/*.parquet",)
OF_A_DATASET = (*ROWS, "sources/*", "sources/*/*", "loading_script.py", "eval.yaml")
PACKAGE = Path(__file__).parents[1]
OF_THE_PAGE = ("errors.py", "hub/__init__.py", "hub/apps/*.*", "row_files/*.py")  # what the page imports and reads
REQUIREMENTS = "requirements.txt"
REQUIRED_BY_THE_PAGE = ("huggingface_hub>=0.34", "jinja2>=3.1", "pyarrow>=15")
_CARRIED = tuple(f"evenhand/{'*/' * depth}*.{ending}" for depth in range(4) for ending in ("py", "jinja", "css"))


def dataset_contents(name: str, namespace: str, private: bool = False, datasets: Path = DATASETS) -> Contents:
    """Return a dataset's repository. Raises UsageError for unknown names, and rows that its script does not build."""
    from evenhand.tools.dataset_upkeep.versions import differing_splits

    refuse_unpackaged(name)
    if differing := differing_splits(name, datasets):
        raise UsageError(
            f"dataset {name}: {', '.join(differing)} of data/ in {datasets / name} differ from what loading_script.py "
            f"builds; rebuild them (python scripts/build_datasets.py {name}), or undo the change"
        )
    files = files_of(datasets / name)
    return Contents(
        "dataset",
        repository_id(namespace, name),
        {path: file for path, file in files.items() if path == CARD or matches(path, OF_A_DATASET)},
        title=f"Publish {name} with evenhand",
        tag=f"v{dataset_version(name)}",
        private=private,
        owned=OF_A_DATASET,
        fixed=ROWS,
    )


def metric_contents(name: str, namespace: str, private: bool = False) -> Contents:
    """Return a metric's Space. Raises UsageError for unknown names."""
    from evenhand.hub.cards.metric import GRADIO, metric_card

    metric = load_metric(name)
    repo_id = repository_id(namespace, name)
    files: dict[str, Path | bytes] = dict(files_of(METRICS / name))
    carried = {path.relative_to(PACKAGE.parent).as_posix(): path for each in OF_THE_PAGE for path in PACKAGE.glob(each)}
    init = f'"""The part of evenhand {__version__} that this Space\'s page needs."""\n\n__version__ = "{__version__}"\n'
    required = (METRICS / name / REQUIREMENTS).read_text(encoding="utf-8").split()
    return Contents(
        "metric",
        repo_id,
        {
            **files,
            **carried,
            "evenhand/__init__.py": init.encode(),
            REQUIREMENTS: "\n".join([*required, *REQUIRED_BY_THE_PAGE, f"gradio=={GRADIO}", ""]).encode(),
            CARD: metric_card(metric, METRICS / name, repo_id).encode(),
        },
        title=f"Publish {name} with evenhand",
        tag=f"v{__version__}",
        private=private,
        owned=("*.py", "about.json", "example.csv", REQUIREMENTS, *_CARRIED),
        fixed=tuple(path for path in files if path.endswith(".py") and path != "app.py"),
    )
