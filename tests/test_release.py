"""The release's checklist, on a made-up repository in which everything is there, and one in which nothing is."""

import re
import runpy
import subprocess

import pytest
import yaml
from huggingface_hub import DatasetCard

LARGEST_FILE = 5_000_000  # bytes


@pytest.fixture(scope="module")
def release(root):
    return runpy.run_path(str(root / "scripts" / "release.py"))


@pytest.fixture
def tree(tmp_path):
    """write(path, text) → the repository's root."""
    files = {
        "src/evenhand/__init__.py": '__version__ = "1.2.0"\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2026-01-02)\n- Something.\n\n## 1.1.0\n- Else.\n",
        "constraints.txt": "ruff==0.17.6\n",
        ".pre-commit-config.yaml": "repos: [{repo: ruff, rev: v0.17.6}]\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


CHECKS = ("check_versions", "check_changelog")


def problems(release, root):
    return [problem for check in CHECKS for problem in release[check](root)]


def test_where_all_is_there_nothing_is_missing(release, tree):
    assert problems(release, tree) == []


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("src/evenhand/__init__.py", "", "no line __version__"),
        ("src/evenhand/__init__.py", '__version__ = "1.3.0"\n', 'not 1.3.0; add "## 1.3.0"'),
        ("CHANGELOG.md", "## 1.2.0 (unreleased)\n- Something.\n", "called unreleased"),
        ("CHANGELOG.md", "## 1.2.0 (2026-01-02)\n\n## 1.1.0\n- Else.\n", "the entry of 1.2.0 is empty"),
        (".pre-commit-config.yaml", "repos: [{repo: ruff, rev: v0.1.0}]\n", "constraints.txt v0.17.6"),
    ],
)
def test_what_is_missing_is_said(release, tree, name, text, says):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    assert any(says in problem for problem in problems(release, tree))


def test_every_dataset_and_metric_has_its_card(root):
    """With a license, a text, and of datasets the version of the rows."""
    for folder in [*(root / "datasets").glob("*/"), *(root / "metrics").glob("*/")]:
        if any(folder.glob("*.py")):
            card, script = DatasetCard.load(folder / "README.md"), folder / "loading_script.py"
            assert card.data.license
            assert card.text.strip()
            version = re.search(r'Version\("([\d.]+)"\)', script.read_text()) if script.is_file() else None
            assert version is None or version[1] in ("1.0.0", *re.findall(r"\d+\.\d+\.\d+", card.text)), folder


def test_no_file_is_large(root):
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    files = [root / name for name in names if name and (root / name).is_file()]
    assert [file for file in files if file.stat().st_size > LARGEST_FILE] == []


def test_issue_templates_are_forms_with_ids_of_their_own(root):
    """As GitHub reads them: a name, a description, and fields."""
    templates = sorted((root / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert {each.stem for each in templates} == {"new-benchmark", "new-language", "wrong-reading"}
    for path in templates:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        ids = [field["id"] for field in form["body"]]
        assert form["name"]
        assert form["description"]
        assert len({*ids}) == len(ids) > 3
        assert all(field["attributes"]["label"] for field in form["body"])
