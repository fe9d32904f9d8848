"""A metric's Space: its folder as `evaluate` loads it, the page that visitors see, and the card.

The page is a part of evenhand, which a Space can't install from a registry: so that part travels along, under the names
that its modules have here.
"""

from __future__ import annotations

from pathlib import Path

from evenhand import __version__
from evenhand.hub.contents import Contents, files_of, repository_id
from evenhand.library import METRICS, load_metric

PACKAGE = Path(__file__).parents[1]
CARRIED = ("errors.py", "hub/__init__.py", "hub/apps/*.*", "row_files/*.py")  # what the page imports and reads
CARD, REQUIREMENTS = "README.md", "requirements.txt"
OF_THE_PAGE = ("huggingface_hub>=0.34", "jinja2>=3.1", "pyarrow>=15")
_CARRIED = tuple(f"evenhand/{'*/' * depth}*.{ending}" for depth in range(4) for ending in ("py", "jinja", "css"))
OWNED = ("*.py", "about.json", "example.csv", REQUIREMENTS, *_CARRIED)


def metric_contents(name: str, namespace: str, private: bool = False) -> Contents:
    """Raises UsageError for unknown names."""
    from evenhand.hub.cards.metric import GRADIO, metric_card

    metric = load_metric(name)
    repo_id = repository_id(namespace, name)
    files: dict[str, Path | bytes] = dict(files_of(METRICS / name))
    needed = [*(METRICS / name / REQUIREMENTS).read_text(encoding="utf-8").split(), *OF_THE_PAGE, f"gradio=={GRADIO}"]
    return Contents(
        "metric",
        repo_id,
        {
            **files,
            **carried(),
            REQUIREMENTS: ("\n".join(needed) + "\n").encode(),
            CARD: metric_card(metric, METRICS / name, repo_id).encode(),
        },
        title=f"Publish {name} with evenhand",
        tag=f"v{__version__}",
        private=private,
        owned=OWNED,
        fixed=tuple(path for path in files if path.endswith(".py") and path != "app.py"),
    )


def carried() -> dict[str, Path | bytes]:
    """What the page needs of evenhand, by its path in the Space."""
    files = {path.relative_to(PACKAGE.parent).as_posix(): path for each in CARRIED for path in PACKAGE.glob(each)}
    said = f'"""The part of evenhand {__version__} that this Space\'s page needs."""\n\n__version__ = "{__version__}"\n'
    return {**files, "evenhand/__init__.py": said.encode()}
