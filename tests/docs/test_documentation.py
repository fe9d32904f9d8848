"""Whatever README and docs/ tell readers to type is typed here, with stand-ins for models; what is marked as not run is
at least parsed by the real parsers. A wrong option in a page fails."""

import ast
import csv
import importlib
import re
import shutil
import subprocess
from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.benchmarks import BENCHMARKS
from evenhand.cli import main
from evenhand.command_line import Parser
from tests.docs.pages import blocks, stood_in

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks(page)]
LANGUAGES = {"sh", "python", "toml", "yaml", "json", "text"}
WITHOUT_TESTS = {"git", "source", "cd", "vllm", "export", "hf", "accelerate"}

CONTACT = ("contact_hypothesis", {"limit": 6, "configs": ("certainty",)})
FACES = ("mllm_stereotypes", {"limit": 6, "configs": ("occupation_gender",), "faces": "rehearsal"})
LABE = ("labe", {"limit": 12, "configs": ("biography",), "classifiers": ("lexicon",)})
EARLIER = {
    "README.md": {"runs/demo": ("stub:first", *CONTACT)},
    "comparing.md": {"runs/base": ("stub:first", *CONTACT), "runs/scd": ("stub:last", *CONTACT)},
    "your-own.md": {
        "runs/labe": ("stub:random", *LABE),
        "runs/qwen": ("stub:first", *FACES),
        "runs/smolvlm": ("stub:say:left", *FACES),
    },
}
"""Runs that a page finds there, since another page or make demo made them."""
CAPTIONS = {"your-own.md": ("captions.jsonl", '{"caption": "A nurse and her patient."}\n')}


@pytest.fixture
def reader(tmp_path, monkeypatch, finished, request):
    """A place to type in: what another page made is there."""
    monkeypatch.chdir(tmp_path)
    page = request.getfixturevalue("page").name
    for name, (model, benchmark, options) in EARLIER.get(page, {}).items():
        shutil.copytree(finished(benchmark, model, **options), tmp_path / name)
    if page in CAPTIONS:
        name, text = CAPTIONS[page]
        (tmp_path / name).write_text(text)
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    return tmp_path


@pytest.fixture
def chores(tmp_path, monkeypatch):
    """The package of docs/adding-a-benchmark.md is installed, as far as that can be told."""
    site, example = tmp_path / "site", ROOT / "tests" / "plugins" / "example"
    told = (example / "pyproject.toml").read_text(encoding="utf-8")
    (site / "evenhand_chores-0.1.dist-info").mkdir(parents=True)
    told = told[told.index("[project.entry-points") : told.index("[tool.")]
    points = re.sub(r"project\.entry-points\.\"(.*?)\"", r"\1", told)
    (site / "evenhand_chores-0.1.dist-info" / "entry_points.txt").write_text(points.replace('"', ""))
    (site / "evenhand_chores-0.1.dist-info" / "METADATA").write_text("Name: evenhand-chores\nVersion: 0.1\n")
    shutil.copy(example / "evenhand_chores.py", site)
    monkeypatch.syspath_prepend(site)
    forget()
    yield
    forget()


def forget():
    """What registries know of other packages."""
    from evenhand.mitigations import MITIGATIONS
    from evenhand.models.registry import BACKENDS

    for registry in (BENCHMARKS, MITIGATIONS, BACKENDS):
        vars(registry).pop("_points", None)


def test_exit_codes_are_told_where_they_hold():
    """A comment on what a command ends with is tested where nothing stands in for anything."""
    told = [
        block
        for block in BLOCKS
        if block.language == "sh" and any(code is not None for _, code in block.with_exit_codes)
    ]
    assert {code for block in told for _, code in block.with_exit_codes if code is not None} == {0, 1, 3}
    assert all(block.as_it_stands for block in told)


def test_every_block_is_of_a_known_language():
    assert len(BLOCKS) > 40
    assert not [block.place for block in BLOCKS if block.language not in LANGUAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_announced_follows(page):
    """After a colon comes what it promises: neither the page's end nor the next heading."""
    prose = re.sub(r"^```.*?^```", "…", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in prose.splitlines() if line.strip()]
    ends = [line for line, after in zip(lines, [*lines[1:], "# the end"]) if after.startswith("#")]
    assert [line for line in ends if line.rstrip().endswith((":", ","))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_works(page, reader, request, made):
    if page.name == "adding-a-benchmark.md":
        request.getfixturevalue("chores")
    names = {"__name__": page.stem}
    for block in blocks(page):
        if block.reason is None and block.language == "sh":
            for command, exit_code in here(block).with_exit_codes:
                typed(command, block.place, made, exit_code)
        elif block.reason is None and block.language == "python":
            exec(compile(here(block).text, block.place, "exec"), names)


def here(block):
    """With stand-ins, unless it is run as it stands."""
    return block if block.as_it_stands else replace(block, text=stood_in(block.text))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(words) → the exit code of evenhand's main; what several pages run alike is run once, and copied."""
    runs = {}

    def call(words):
        words, kept = list(words), tmp_path_factory.mktemp("kept") / "run"
        asked = tuple(words[:-2]) if words[0] == "run" and words[-2] == "--output" else None
        if asked in runs:
            shutil.copytree(runs[asked], words[-1])
            return 0
        try:
            code = main(words)
        except SystemExit as exit_:
            code = exit_.code
        if asked and code == 0:
            runs[asked] = shutil.copytree(words[-1], kept)
        return code

    return call


def typed(words, place, made, exit_code):
    name = words[0]
    words = [each for word in words for each in (expanded(word) if "annotator-?" in word else [word])]
    if name == "evenhand":
        allowed = (exit_code,) if exit_code is not None else (0, 1, 3) if words[1] == "gate" else (0,)
        code = made(words[1:])
        assert code in allowed, f"{place}: {words} ended with {code}"
        if words[1:3] == ["annotate", "export"]:
            judged(Path(words[-1]))
    elif name == "cp":
        shutil.copy(ROOT / words[1], words[2])
    elif name == "printf":
        command = words[: words.index(">")]
        text = subprocess.run(["printf", *command[1:]], check=True, capture_output=True, text=True).stdout
        Path(words[-1]).write_text(text)
    else:
        known(words, place)


def expanded(pattern):
    """As a shell does it."""
    return sorted(map(str, Path().glob(pattern)))


def judged(sheet):
    """What people do between two commands: the first label in the last column of every row of every sheet."""
    for each in sheet.parent.glob(f"{sheet.stem}*.csv"):
        if not each.stem.endswith(".key"):
            with each.open(encoding="utf-8-sig", newline="") as file:
                head, *rows = csv.reader(file)
            with each.open("w", encoding="utf-8-sig", newline="") as file:
                csv.writer(file).writerows([head, *([*row[:-1], "1"] for row in rows)])


def known(words, place):
    """What isn't evenhand's own: is there such a target, script or extra?"""
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), place
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file(), place
    elif words[0] == "pip":
        config = ConfigParser()
        config.read(ROOT / "setup.cfg")
        extras = re.findall(r"\[(.*)\]", words[-1])
        assert all(extra in config["options.extras_require"] for some in extras for extra in some.split(",")), place
    else:
        assert words[0] in WITHOUT_TESTS | {"printf"}, f"{place}: {words[0]} is not known to this test"


class Parsed(BaseException):
    """The command line was accepted."""


@pytest.fixture
def only_parsed(monkeypatch):
    whole = Parser.parse_args

    def parse_args(self, *arguments, **options):
        whole(self, *arguments, **options)
        raise Parsed

    monkeypatch.setattr(Parser, "parse_args", parse_args)


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.reason], ids=lambda block: block.place)
def test_what_is_not_run_is_parsed(block, only_parsed, capsys):
    if block.language == "python":
        check_imports(ast.parse(block.text))
    for words in block.commands if block.language == "sh" else ():
        if words[0] != "evenhand":
            known(words, block.place)
            continue
        try:
            code = main(words[1:])
        except Parsed:
            continue
        except SystemExit as exit_:
            code = exit_.code
        assert code == 0, f"{block.place}: {words}: {capsys.readouterr().err}"


def check_imports(tree):
    """What is imported from evenhand is there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("evenhand"):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, each.name) for each in node.names)


def test_inline_commands_are_parsed(only_parsed, capsys):
    """`evenhand run labe --texts FILE --output DIR` in a sentence, where no part of it is left open."""
    for page in PAGES:
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for command in re.findall(r"`evenhand ([^`]+)`", prose):
            words = command.split()
            if "--" not in command or re.search(r"[…|]|COMMAND|BENCHMARK|SETTING", command):
                continue
            try:
                code = main(words)
            except Parsed:
                continue
            except SystemExit as exit_:
                code = exit_.code
            told = capsys.readouterr().err
            needed = code == 2 and ("are required" in told or "is needed" in told)
            assert code == 0 or needed, f"{page.name}: {command}: {told}"
