"""A metric's Space: its folder as `evaluate` loads it, the page that visitors see, and the card.

The page is a part of evenhand, which a Space can't install from a registry: so that part travels along, under the names
that its modules have here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from evenhand import __version__
from evenhand.hub.contents import Contents, files_of, repository_id
from evenhand.library import METRICS, load_metric

PACKAGE = Path(__file__).parents[1]
PAGE = "evenhand.hub.apps.page"
SHOWN = ("*.jinja", "*.css")  # beside the page's modules
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
    modules = {PAGE}
    while more := {each for module in modules for each in _imported(module)} - modules:
        modules |= more
    packages = {module.rpartition(".")[0] for module in modules}
    packages |= {package.rpartition(".")[0] for package in packages} - {""}
    files: dict[str, Path | bytes] = {}
    for module in sorted({*modules, *packages}):
        path = _file(module)
        files[path.relative_to(PACKAGE.parent).as_posix()] = path
    for pattern in SHOWN:
        files |= {each.relative_to(PACKAGE.parent).as_posix(): each for each in _file(PAGE).parent.glob(pattern)}
    said = f'"""The part of evenhand {__version__} that this Space\'s page needs."""\n\n__version__ = "{__version__}"\n'
    return {**files, "evenhand/__init__.py": said.encode()}


def _file(module: str) -> Path:
    place = PACKAGE.parent.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _imported(module: str) -> Iterator[str]:
    """Modules of evenhand that are imported when it runs; the package itself is replaced."""
    if module == "evenhand":
        return
    tree = ast.parse(_file(module).read_text(encoding="utf-8"))
    only_for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node not in only_for_types
            and (node.module or "").startswith("evenhand.")
        ):
            yield str(node.module)
