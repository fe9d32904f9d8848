"""Arrows point inward: scripts → evenhand → models; metrics and loading scripts stand alone."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def imports(path: Path) -> set[str]:
    """Every module that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def python_files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert found
    return found


NEUTRAL = {
    "evenhand.progress",
    "evenhand.caches",
    "evenhand.paths",
    "evenhand.errors",
    "evenhand.options",
    "evenhand.plugins",
    "evenhand.row_files.rows",
    "evenhand.training_record",
    "evenhand.whole_files",
}  # of use to everything, and knowing nothing


@pytest.mark.parametrize("path", python_files("models"), ids=str)
def test_models_know_no_benchmark(path):
    outside = {name for name in imports(path) if name.startswith("evenhand") and not name.startswith("evenhand.models")}
    assert outside <= NEUTRAL
    assert not any(name.startswith(".") for name in imports(path))


ROOMS_OF_ALL = ("flow", "statistics", "report")
NAMES = "|".join(sorted({path.name for room in ("datasets", "metrics") for path in (ROOT / room).iterdir()}))


@pytest.mark.parametrize("room", [*(f"src/evenhand/{room}" for room in ROOMS_OF_ALL), "models", "src/evenhand/cli.py"])
def test_what_serves_all_benchmarks_names_none(room):
    """Neither in code nor in comments, templates or messages."""
    place = ROOT / room
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    named = [
        f"{path.name}: {found[0]}"
        for path in files
        if path.suffix in (".py", ".jinja", ".json", ".tsv")
        for found in re.finditer(rf"\b({NAMES})(_\w+)?\b", path.read_text(encoding="utf-8"))
    ]
    assert not named


def test_no_benchmark_imports_a_tool():
    tools = "evenhand.tools"
    for path in python_files("src/evenhand/benchmarks", "src/evenhand/language_agency", "src/evenhand/flow"):
        assert not {name for name in imports(path) if name.startswith(tools)}, path


HEAVY = ("torch", "transformers", "datasets", "pandas", "numpy", "scipy", "matplotlib", "evaluate")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list"]], ids=" ".join)
def test_quick_commands_import_nothing_heavy(arguments):
    """What takes a second to import would make them slow, whatever machine this is."""
    script = (
        f"import sys; from evenhand.cli import main; main({arguments}); print([m for m in {HEAVY} if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.rstrip().endswith("[]"), said


@pytest.mark.parametrize("path", python_files("datasets"), ids=str)
def test_loading_scripts_import_nothing_of_evenhand(path):
    assert not {name for name in imports(path) if name.split(".")[0] == "evenhand"}


@pytest.mark.parametrize("path", python_files("src/evenhand"), ids=str)
def test_the_package_imports_no_script(path):
    assert not {name for name in imports(path) if name.split(".")[0] == "scripts"}


@pytest.mark.parametrize("path", python_files("src/evenhand/benchmarks"), ids=str)
def test_benchmarks_load_no_model(path):
    """A benchmark speaks of requests and replies; which model answers is the flow's business."""
    asking = {"evenhand.models"} | {
        f"evenhand.models.{name}" for name in ("request", "protocol", "pictures", "errors", "box_scales", "thoughts")
    }
    painted = {f"evenhand.models.{name}" for name in ("fingerprint", "loading")}  # pictures, made by a tool of its own
    judging = (
        {"evenhand.models.text_similarity"} if "utility" in path.parts else set()
    )  # of replies: it answers nothing
    allowed = asking | judging | (painted if path.name == "persona_models.py" else set())
    assert {name for name in imports(path) if name.startswith("evenhand.models")} <= allowed


def test_no_folder_shadows_a_library():
    for name in ("datasets/__init__.py", "tests/datasets", "scripts/evaluate.py"):
        assert not (ROOT / name).exists(), name


PACKAGES = {"src/evenhand": "evenhand", "models": "evenhand.models", "trainers": "evenhand.trainers"}


def modules() -> dict[str, Path]:
    """Every module of the package, by its name."""
    found = {}
    for folder, package in PACKAGES.items():
        for path in python_files(folder):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


def run_imports(node: ast.AST) -> set[str]:
    """What code imports when it runs, inside functions too; not what types alone are imported for."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return set()
    if isinstance(node, ast.ImportFrom) and node.module:
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set().union(*map(run_imports, ast.iter_child_nodes(node)))


def test_no_import_runs_in_a_circle():
    """An import inside a function is there for a quick start, never because two modules need each other."""
    paths = modules()
    graph = {name: (run_imports(ast.parse(path.read_text(encoding="utf-8"))) & paths.keys()) - {name}
             for name, path in paths.items()}  # fmt: skip
    assert list(TopologicalSorter(graph).static_order())
