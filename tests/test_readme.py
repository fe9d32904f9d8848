"""README is short and has no figure that stands nowhere else; CONTRIBUTING shows the repository as it is."""

import re

ROOMS = ("src/evenhand", "src/evenhand/benchmarks")


def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def tree(root):
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return page.split("## The house, file by file")[1].split("```")[1]


def test_every_file_and_folder_of_the_tree_exists(root):
    rooms = [
        path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".") and path.name != "build"
    ]
    names = {path.name for path in [*root.iterdir(), *(each for room in rooms for each in room.rglob("*"))]}
    folders = {name.split("/")[-2] for name in re.findall(r"[\w/]+/(?=\W)", tree(root))} - {"name"}
    files = set(re.findall(r"\b\w+\.(?:py|yaml)\b", tree(root)))
    assert len(folders) > 20
    assert len(files) > 20
    assert not (files | folders) - names


def test_every_room_stands_in_the_tree(root):
    for room in ROOMS:
        for path in (root / room).iterdir():
            if path.is_dir() and (path / "__init__.py").is_file():
                assert f"{path.name}/" in tree(root), path


def test_it_is_short_and_has_a_picture_that_is_told_in_words(root):
    assert len(readme(root).split()) <= 700
    [(words, picture)] = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", readme(root))
    assert len(words.split()) > 8
    assert (root / picture).stat().st_size < 200_000


def test_its_measured_figures_are_those_of_the_documentation(root):
    """A figure with its interval stands there once more, with its conditions."""
    table = readme(root).split("## Benchmarks")[1].split("\n\n")[1]
    figures = re.findall(r"-?\d+\.\d+ \[[^\]]+\](?:, chance -?[\d.]+)?", table)
    told = (root / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert len(figures) >= 4
    assert not [each for each in figures if each not in told]
