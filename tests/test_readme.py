"""README's tree shows the house as it is."""

import re

ROOMS = ("src/evenhand", "src/evenhand/benchmarks")


def tree(root):
    readme = (root / "README.md").read_text(encoding="utf-8")
    return readme.split("## Layout")[1].split("```")[1]


def test_every_file_and_folder_of_the_tree_exists(root):
    rooms = [
        path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".") and path.name != "build"
    ]
    names = {path.name for path in [*root.iterdir(), *(each for room in rooms for each in room.rglob("*"))]}
    folders = {name.split("/")[-2] for name in re.findall(r"[\w/]+/(?=\W)", tree(root))} - {"name"}
    files = set(re.findall(r"\b\w+\.(?:py|yaml)\b", tree(root)))
    assert len(files) > 20
    assert len(folders) > 20
    assert not (files | folders) - names


def test_every_room_stands_in_the_tree(root):
    for room in ROOMS:
        for path in (root / room).iterdir():
            if path.is_dir() and (path / "__init__.py").is_file():
                assert f"{path.name}/" in tree(root), path
