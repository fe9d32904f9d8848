"""Arrows point inward: scripts → evenhand → models; metrics and loading scripts stand alone."""

import ast
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


@pytest.mark.parametrize("path", python_files("models"), ids=str)
def test_models_know_no_benchmark(path):
    outside = {name for name in imports(path) if name.startswith("evenhand") and not name.startswith("evenhand.models")}
    assert not outside
    assert not any(name.startswith(".") for name in imports(path))


@pytest.mark.parametrize("path", python_files("metrics", "datasets"), ids=str)
def test_metrics_and_loading_scripts_import_nothing_of_evenhand(path):
    assert not {name for name in imports(path) if name.split(".")[0] == "evenhand"}


@pytest.mark.parametrize("path", python_files("src/evenhand"), ids=str)
def test_the_package_imports_no_script(path):
    assert not {name for name in imports(path) if name.split(".")[0] == "scripts"}


@pytest.mark.parametrize("path", python_files("src/evenhand/benchmarks"), ids=str)
def test_benchmarks_load_no_model(path):
    """A benchmark speaks of requests and replies; which model answers is the flow's business."""
    asking = {f"evenhand.models.{name}" for name in ("request", "protocol", "agency_request", "sentences")}
    assert {name for name in imports(path) if name.startswith("evenhand.models")} <= asking


def test_no_folder_shadows_a_library():
    for name in ("datasets/__init__.py", "tests/datasets", "scripts/evaluate.py"):
        assert not (ROOT / name).exists(), name
