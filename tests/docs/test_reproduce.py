"""docs/reproduce: a page for each paper, whose commands work."""

import os
import re
import shlex
from pathlib import Path

import datasets
import pytest

from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.command_line import Parser
from tests.loading.made_prompt_sets import put

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "reproduce").glob("*.md"))
SOURCES = ROOT.parent / "shared" / "sources"
CAPTION = '{"caption": "A nurse and her patient."}\n'
STAND_INS = (
    (r"--model \S+", "--model stub:random"),
    (r"--prompts official", ""),  # the mirror lacks the authors' code
    (r"--faces FACES", "--faces rehearsal"),
    (r"--images DIR", ""),
    (r"--classifiers \S+", "--classifiers lexicon"),
    (r"--runs \d+", "--runs 1"),
    (r"--sample \d+", "--sample 8"),
    (r"--limit \d+", ""),
    (r"--scorer \S+", ""),
)


def commands(page, name):
    """The commands of the page's table that begin so."""
    table = "\n".join(line for line in page.read_text("utf-8").splitlines() if line.startswith("|"))
    return [each for each in re.findall(r"`(evenhand [^`]+)`", table) if each.startswith(f"evenhand {name} ")]


RUNS = [(page.stem, command) for page in PAGES for command in commands(page, "run")]


@pytest.mark.parametrize(("page", "command"), RUNS, ids=[f"{page}-{i}" for i, (page, _) in enumerate(RUNS)])
def test_each_run_works_on_a_stub(evenhand, monkeypatch, tmp_path, page, command):
    texts = re.search(r"--texts (\S+)", command)
    if page == "contact-hypothesis" and "--source official" in command:
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
        monkeypatch.setenv("EVENHAND_SOURCES", str(tmp_path / "mirror"))
        for scale in ("certainty", "likelihood", "frequency"):
            put(tmp_path / "mirror", monkeypatch, scale)
        for name, n in (("N_TRAIN", 10), ("N_VALIDATION", 5)):
            monkeypatch.setattr(cuts, name, n)
    elif (  # pictures of mllm_stereotypes are the reader's own
        "--source official" in command and "mllm_stereotypes" not in command
    ) or (texts and texts[1].startswith("chatgpt")):
        if not SOURCES.is_dir():
            pytest.skip("needs a mirror of the official files")
        monkeypatch.setenv("EVENHAND_SOURCES", str(SOURCES))
    if texts and not texts[1].startswith("chatgpt"):
        pytest.skip("reads a file of the reader's")
    if "run bbq" in command and not os.environ.get("EVENHAND_SOURCES"):
        if not SOURCES.is_dir():
            pytest.skip("needs a mirror of the official files")
        monkeypatch.setenv("EVENHAND_SOURCES", str(SOURCES))
        command += " --config religion"
    (tmp_path / "FILE.csv").write_text("question,answers\nWho directed Alien?,Ridley Scott\n" * 4)
    command = command.replace("--questions FILE", f"--questions {tmp_path / 'FILE.csv'}")
    for what, here in STAND_INS:
        command = re.sub(what, here, command)
    words = shlex.split(re.sub(r"--output \S+", "", command))[1:]
    words = [str(SOURCES / "labe" / word) if word.startswith("chatgpt") else word for word in words]
    if "implicit_bias_case_study" in words:
        words += ["--classifiers", "lexicon"]
    if "implicit_bias_understanding" in words:  # the mirror lacks the stories that are held out
        words = [word for word in words if word not in ("--source", "official")]
    if "--sample" not in words:
        words += ["--limit", "4"]
    called = evenhand(*words, "--output", tmp_path / "run")
    assert called.code == 0, called.err
    assert (tmp_path / "run" / "results.json").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_training_is_accepted(evenhand, monkeypatch, page):
    class Parsed(BaseException):
        pass

    whole = Parser.parse_args

    def parse_args(self, *arguments, **options):
        whole(self, *arguments, **options)
        raise Parsed

    monkeypatch.setattr(Parser, "parse_args", parse_args)
    for command in commands(page, "train"):
        with pytest.raises(Parsed):
            evenhand(*shlex.split(command)[1:])


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("contact-hypothesis", {"1", "2", "3", "4", "5", "6", "7"}),
        ("implicit-bias", {*map(str, range(1, 23))}),
        ("language-agency", {*map(str, range(1, 29))} - {"7", "8", "10", "15"}),
        ("mllm-stereotypes", {*"123456", *(f"A{number}" for number in range(1, 12))}),
    ],
)
def test_each_table_and_figure_with_results_has_a_row(page, wanted):
    text = (ROOT / "docs" / "reproduce" / f"{page}.md").read_text("utf-8")
    named = {
        number
        for line in text.splitlines()
        if line.startswith("|")
        for number in re.findall(r"\bA?\d+\b", line.split("|")[1])
    }
    assert wanted <= named
