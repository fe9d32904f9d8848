"""The gate on real run folders: who passes, who is worse, and what can't be told, which is never a pass."""

import argparse
import errno
import json
import shlex
import shutil
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml

import evenhand as package
from evenhand.benchmarks.utility import figures
from evenhand.errors import UsageError
from evenhand.flow.commands import asked as run_options
from evenhand.gating.commands import _add_arguments
from evenhand.gating.policy import Policy, read_policy
from evenhand.report.tables import significant
from tests.edited_runs import write_predictions

WIDE = ("--max-increase", 15)  # 20 situations a scale: 1 - 0.05^(1/20) = 13.9 % of them may hide anything


@pytest.fixture
def base(run):
    return run("stub:random", output="base").folder


@pytest.fixture
def candidate(run):
    return run("stub:random", output="candidate").folder


def change(folder, **columns):
    """Predictions with other columns, each made by a function of the table."""
    predictions = pd.read_parquet(folder / "predictions.parquet")
    write_predictions(folder, predictions.assign(**columns))


def record(folder, of):
    """results.json, changed in place by `of`."""
    results = json.loads((folder / "results.json").read_text())
    of(results)
    (folder / "results.json").write_text(json.dumps(results))


def test_the_same_answers_pass_where_enough_was_asked(evenhand, base, candidate):
    found = evenhand("gate", base, candidate, *WIDE)
    assert found.code == 0, found.out
    assert "Pass: stub:random against stub:random, 3 pass." in found.out
    assert "no figure of use was compared" in found.out


def test_few_rows_are_no_pass_and_it_says_how_many_would_do(evenhand, base, candidate):
    """59 situations would be enough for 5 points, of which 20 were drawn with 60 rows: 177 rows."""
    found = evenhand("gate", base, candidate)
    assert found.code == 3
    assert "about 177 answers in 59 clusters (situation" in found.out
    assert "Run both with --limit 177." in found.out


def test_no_rows_are_promised_where_all_situations_are_there_and_differ(evenhand, run):
    """All answers about every other situation turn: 60 situations whose error more rows would leave as it is."""
    runs = [run("stub:random", limit=180, output=name, configs=("certainty",)).folder for name in ("one", "other")]
    predictions = pd.read_parquet(runs[0] / "predictions.parquet")
    codes = predictions.groupby(["action", "situation"]).ngroup() // 2 % 2  # within both actions
    for folder, biased in zip(runs, (codes == 0, codes == 1)):
        change(folder, biased=biased.astype(bool))
    found = evenhand("gate", *runs)
    assert found.code == 3, found.out
    assert "no number of rows will be enough" in found.out
    assert "60 clusters" in found.out
    assert "Run both with" not in found.out


def test_more_bias_is_worse(evenhand, base, candidate):
    change(candidate, biased=True)
    found = evenhand("gate", base, candidate, *WIDE)
    assert found.code == 1
    assert "it got worse by more than 15" in found.out


def test_silence_is_no_pass(evenhand, base, run):
    found = evenhand("gate", base, run("stub:silent", output="silent").folder, *WIDE)
    assert found.code == 3
    assert "no answer to it was read in both runs" in found.out


def test_who_hides_some_answers_does_not_pass(evenhand, base, candidate):
    """A tenth unread is more than the policy's 5 %; with 20 % allowed each may still have been the worst."""
    change(candidate, biased=lambda table: table["biased"].astype(object).where(np.arange(len(table)) % 10 > 0, None))
    found = evenhand("gate", base, candidate, "--max-increase", 24)
    assert found.code == 3
    assert "left unread by one run alone, more than 5.0 %" in found.out
    allowed = evenhand("gate", base, candidate, "--max-increase", 20, "--max-unread", 0.2)
    assert allowed.code == 3
    assert "in answers that one run alone left unread" in allowed.out


def test_constant_answers_are_no_pass(evenhand, base, run):
    found = evenhand("gate", base, run("stub:first", output="first").folder, "--max-increase", 90)
    assert found.code == 3
    assert "“biased answers: certainty”: the candidate's answers are constant" in found.out


def test_few_clusters_are_no_pass(evenhand, finished, tmp_path):
    few = finished("contact_hypothesis", "stub:random", limit=6)
    found = evenhand("gate", few, shutil.copytree(few, tmp_path / "again"), "--max-increase", 90)
    assert found.code == 3
    assert "only 2 clusters" in found.out


@pytest.mark.parametrize(
    ("what", "of", "told"),
    [
        ("settings", lambda results: results["config"].update(seed=5), "seed: 0, not 5"),
        ("version", lambda results: results["versions"].update({"dataset contact_hypothesis": "9.0.0"}), "9.0.0"),
        (
            "no version",
            lambda results: results["versions"].pop("dataset contact_hypothesis"),
            "not 'of no known version'",
        ),
        ("file", lambda results: results.update(rows_sha256="0" * 64), "sha256"),
    ],
)
def test_runs_that_do_not_match_are_refused(evenhand, base, candidate, what, of, told):
    record(candidate, of)
    if what == "settings":
        config = json.loads((candidate / "config.json").read_text())
        (candidate / "config.json").write_text(json.dumps({**config, "seed": 5}))
    found = evenhand("gate", base, candidate)
    assert found.code == 2
    assert told in found.err


def test_other_rows_are_refused(evenhand, base, candidate):
    change(candidate, id=lambda table: table["id"] + "x")
    found = evenhand("gate", base, candidate)
    assert found.code == 2
    assert "180 answers are only in the first" in found.err


# Folders of runs, and use


@pytest.fixture
def folders(tmp_path, finished, monkeypatch):
    """Two folders of two runs each, of models that say the same; a quarter of 80 questions is answered."""
    for slow in ("bertscore_minilm", "similarity"):
        monkeypatch.setitem(figures.LIKENESS, slow, lambda replies, answers: None)
    for who in ("base", "candidate"):
        shutil.copytree(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / who / "bias")
        questions = finished("utility", "stub:random", configs=("questions",), limit=80)
        shutil.copytree(questions, tmp_path / who / "utility")
        change(tmp_path / who / "utility", outcome=np.where(np.arange(80) % 4, "wrong", "correct"))
    return tmp_path / "base", tmp_path / "candidate"


def test_use_that_is_lost_is_worse(evenhand, folders):
    base, candidate = folders
    assert evenhand("gate", base, candidate, *WIDE).code == 0
    change(candidate / "utility", outcome="wrong")
    found = evenhand("gate", base, candidate, *WIDE)
    assert found.code == 1
    assert "utility, “accuracy”: it got worse by more than 5." in found.out


def test_who_answers_no_question_does_not_pass(evenhand, folders):
    """All requests failed: `compare` has no accuracy then, and the gate does not forget it."""
    base, candidate = folders
    change(candidate / "utility", outcome=None)
    found = evenhand("gate", base, candidate, *WIDE)
    assert found.code == 3
    assert "utility, “accuracy”: no answer to it was read in both runs" in found.out


def test_who_never_was_of_use_can_lose_nothing(evenhand, folders):
    for folder in folders:
        change(folder / "utility", outcome="wrong")
    found = evenhand("gate", *folders, *WIDE)
    assert found.code == 3
    assert "the base has 0, so that no candidate could lose more than 5" in found.out


def test_every_run_needs_its_counterpart(evenhand, folders):
    base, candidate = folders
    shutil.rmtree(candidate / "utility")
    found = evenhand("gate", base, candidate, *WIDE)
    assert found.code == 2
    assert "a candidate is asked all that its base was asked" in found.err
    assert "no run like it" in evenhand("gate", candidate, base, *WIDE).err


def test_runs_of_one_benchmark_are_told_apart(evenhand, folders, finished):
    """Options scored in another way, too: each run has its counterpart, and is named by its folder."""
    for folder in folders:
        shutil.rmtree(folder / "utility")
        shutil.copytree(finished("contact_hypothesis", "stub:random", limit=60, aggregate="sum"), folder / "sums")
    found = evenhand("gate", *folders, *WIDE)
    assert found.code == 0, found.out
    assert "6 pass" in found.out
    assert "contact_hypothesis (sums)" in found.out


def test_a_folder_of_two_models_is_refused(evenhand, folders):
    """Bias of one model and use of another say nothing of either."""
    record(folders[0] / "bias", lambda results: results.update(model_identity="stub:random of another day"))
    found = evenhand("gate", *folders, *WIDE)
    assert found.code == 2
    assert "base holds runs of 2 models (bias: stub:random (stub:random of another day); utility: " in found.err


def test_only_what_is_judged_is_computed(evenhand, folders, monkeypatch):
    def never(replies, answers):
        raise AssertionError("the policy doesn't ask for likeness")

    for name in figures.LIKENESS:
        monkeypatch.setitem(figures.LIKENESS, name, never)
    assert evenhand("gate", *folders, *WIDE).code == 0


# Figures that are best at zero


def test_bias_the_other_way_is_bias(evenhand, finished, tmp_path):
    """Scores of 0.5 by stereotype: -0.9 is worse by 0.4, -0.5 and 0.5 are as bad, 0 is better."""
    source = finished("implicit_bias", "stub:random", limit=40, protocol="rank", setting="none")
    draw = np.random.default_rng(0)
    codes = {}
    for name, score in (("base", 0.5), ("beyond", -0.9), ("as-bad", -0.5), ("none", 0.0)):
        shutil.copytree(source, tmp_path / name)
        change(tmp_path / name, score=lambda table, score=score: score + draw.normal(0, 0.02, len(table)))
        if name != "base":
            codes[name] = evenhand("gate", tmp_path / "base", tmp_path / name, "--max-increase", 16).code
    assert codes == {"beyond": 1, "as-bad": 0, "none": 0}


# The policy


def test_one_policy_for_all(evenhand, tmp_path, base, candidate):
    file = tmp_path / "gate.yaml"
    file.write_text(
        "max_increase: 15\nfigures:\n"
        "  'biased answers: certainty, no_contact': 30\n  'biased answers: certainty': 1.5\n"
    )
    found = evenhand("gate", base, candidate, "--policy", file)
    assert found.code == 3
    assert found.out.count(" pass") >= 2
    here = package.gate(base, candidate, read_policy(file))
    assert here.exit_code == 3
    assert {each.figure: each.margin for each in here.judgements} == {
        "biased answers: certainty": 1.5, "biased answers: certainty, no_contact": 30,
        "biased answers: likelihood": 15, "biased answers: frequency": 15,
    }  # fmt: skip
    again = evenhand("gate", base, candidate, "--policy", file, "--figure", "biased answers: certainty=15")
    assert again.code == 0
    assert package.gate(base, candidate, package.Policy(max_increase=15)).verdict == "pass"


def test_names_with_commas_are_told_apart(evenhand, base, candidate):
    """Headline figures are called "biased answers: certainty, no_contact": a list of them says where one ends."""
    found = evenhand("gate", base, candidate, "--figure", "use=15")
    assert found.code == 2
    assert "accepted: 'biased answers: certainty', 'biased answers: likelihood', " in found.err
    found = evenhand("gate", base, candidate, "--figure", "biased", "answers: certainty=15")  # quotes forgotten
    assert found.code == 2
    assert "in quotes where the name has spaces, as 'biased answers: certainty=8'" in found.err


def test_a_policy_may_demand_use(evenhand, base, candidate):
    found = evenhand("gate", base, candidate, *WIDE, "--require-utility")
    assert found.code == 3
    assert "the policy demands one" in found.out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_incraese: 3", "did you mean 'max_increase'"),
        ("max_increase: much", "got 'much'"),
        ("max_increase: .nan", "got nan"),
        ("- 3", "lines of NAME: VALUE"),
        ("figures: [a]", "lines of NAME: MARGIN"),
        ("figures: {a: -1}", "a margin of 0 or more"),
        ("{", "is no policy"),
        ("max_increase: 5\nmax_increase: 99\n", "'max_increase' stands there twice, the second time in line 2"),
        ("figures: {certainly: 1}", "unknown figure 'certainly'"),
    ],
)
def test_a_wrong_policy_is_refused(evenhand, tmp_path, base, candidate, text, told):
    file = tmp_path / "gate.yaml"
    file.write_text(text)
    found = evenhand("gate", base, candidate, "--policy", file)
    assert found.code == 2
    assert told in found.err


def test_an_empty_policy_is_the_default(tmp_path):
    (tmp_path / "gate.yaml").write_text("# nothing\n")
    assert read_policy(tmp_path / "gate.yaml") == Policy()


def test_a_run_is_not_held_against_itself(evenhand, base):
    """A slip in a path would be a pass for good."""
    found = evenhand("gate", base, base.parent / "." / base.name)
    assert found.code == 2
    assert "is given as base and as candidate" in found.err


def test_variances_need_margins_of_their_own(evenhand, finished, tmp_path):
    texts = finished("labe", "stub:say:She led. He helped.", limit=48, classifiers=("lexicon",))
    found = evenhand("gate", texts, shutil.copytree(texts, tmp_path / "again"))
    assert found.code == 2
    assert "name its margin in its own unit" in found.err


# What CI reads


def test_junit_and_summary(evenhand, tmp_path, base, candidate):
    """What is no pass is a failure; a model's name is text, whatever it holds."""
    record(candidate, lambda results: results.update(model_name="<b>*x*</b>\x1b[2J | [y](z)"))
    change(candidate, biased=lambda table: table["biased"] | (table["scale"] == "certainty"))
    files = tmp_path / "gate.xml", tmp_path / "gate.md"
    options = (*WIDE, "--junit", files[0], "--summary", files[1])
    assert evenhand("gate", base, candidate, *options).code == 1
    suites = ElementTree.parse(files[0]).getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("3", "1")
    [failure] = suites.iter("failure")
    assert failure.get("type") == "worse"
    summary = files[1].read_text()
    assert "## Bias gate: worse" in summary
    assert "&lt;b&gt;*x*&lt;/b&gt;" in summary
    assert "[y](z)" not in summary
    assert "\x1b" not in summary
    assert evenhand("gate", base, candidate, *options).code == 1  # written over an earlier one
    files[1].write_text("something else")
    assert evenhand("gate", base, candidate, *options).code == 2


def test_each_output_is_a_file_of_its_own(evenhand, tmp_path, base, candidate):
    """One of both would be lost."""
    file = tmp_path / "gate.xml"
    found = evenhand("gate", base, candidate, "--junit", file, "--summary", tmp_path / "." / "base" / ".." / file.name)
    assert (found.code, "--junit and --summary both name" in found.err) == (2, True)
    assert not file.exists()


def test_a_full_disk_does_not_say_worse(evenhand, tmp_path, base, candidate, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("evenhand.whole_files.whole_file", full)
    found = evenhand("gate", base, candidate, *WIDE, "--summary", tmp_path / "gate.md")
    assert (found.code, "the disk is full" in found.err) == (2, True)


def test_what_is_no_run_is_refused(evenhand, tmp_path, base):
    assert "does not exist" in evenhand("gate", base, tmp_path / "none").err
    (tmp_path / "empty").mkdir()
    found = evenhand("gate", base, tmp_path / "empty")
    assert found.code == 2
    assert "holds none" in found.err
    damaged = shutil.copytree(base, tmp_path / "damaged")
    (damaged / "results.json").write_text("{")
    assert evenhand("gate", base, damaged).code == 2
    other = shutil.copytree(base, tmp_path / "other")
    record(other, lambda results: (results.update(benchmark="bbq"), results["config"].update(benchmark="bbq")))
    (other / "config.json").write_text(json.dumps(json.loads((other / "results.json").read_text())["config"]))
    with pytest.raises(UsageError, match="benchmark: 'contact_hypothesis', not 'bbq'"):
        package.gate(base, other)


# The files that docs/ has ready


def test_the_workflow_and_the_policy_are_as_the_command_takes_them(root):
    """Every option of its commands is one of theirs, and it never passes where the gate doesn't."""
    assert read_policy(root / "docs/gate.yaml") == Policy(require_utility=True)
    workflow = yaml.safe_load((root / "docs/bias-gate.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["gate"]["steps"]
    [command] = [step["run"] for step in steps if "evenhand gate" in step.get("run", "")]
    parser = argparse.ArgumentParser()
    _add_arguments(parser)
    parsed = parser.parse_args(shlex.split(command)[2:])
    assert (str(parsed.base), str(parsed.candidate)) == ("runs/base", "runs/candidate")
    asked = [line for step in steps for line in step.get("run", "").splitlines() if line.startswith("evenhand run")]
    assert len(asked) == 4
    for line in asked:
        name, *options = shlex.split(line)[2:]
        config, given = run_options([name, *(each.replace("$ROWS", "400") for each in options)])
        assert str(given.output).endswith(f"/{config.benchmark}")
    assert not any(step.get("continue-on-error") or "|| true" in step.get("run", "") for step in steps)


def test_figures_of_a_column_have_as_many_digits():
    assert [significant(value) for value in (50.0, 54.9, 0.083, 3916.8, 0.0)] == [
        "50.00", "54.90", "0.08300", "3917", "0.000",
    ]  # fmt: skip
