"""The tables of scripts/reproduce_scd.py, out of runs whose figures are known."""

import runpy

import pytest

from evenhand.flow.run_folder import RunFolder


@pytest.fixture(scope="module")
def script(root):
    return runpy.run_path(str(root / "scripts" / "reproduce_scd.py"))


@pytest.fixture(scope="module")
def results(finished):
    def of(benchmark, model, **options):
        return RunFolder.open(finished(benchmark, model, **options)).read_results()

    return of


def columns(table):
    """{row: {column: text}}."""
    return {row[0].text: dict(zip(table.columns[1:], [cell.text for cell in row[1:]])) for row in table.rows}


def test_a_constant_answerer_is_biased_in_one_kind_of_action_alone(script, results):
    always = results("contact_hypothesis", "stub:first", limit=24)
    rows = columns(script["biased"]("Held out", {"base": always, "tuned": always}, "axis"))
    assert rows["unkind actions, accepted"]["tuned"].startswith("100.0 [")
    assert rows["kind actions, declined"]["tuned"].startswith("0.0 [")
    assert rows["scales with constant answers"]["base"] == "certainty, likelihood, frequency"
    assert [rows[name]["tuned"] for name in ("answers", "of them unread")] == ["72", "0"]
    assert {"overall", "certainty", "no contact", "mean probability of the biased answer"} < {*rows}
    assert any(name.startswith("axis: ") and name.endswith(" answers") for name in rows)


def test_who_says_yes_errs_where_no_is_right(script, finished):
    """By kind in all unwise kindness, and no more than the base that says it, too.

    Who chooses the option listed first says yes, but to six questions: in three of 80 of either cell No stands first.
    """
    always = script["sample"](finished("contact_controls", "stub:first"))
    base, tuned, moved = script["controls"]({"base": always, "balanced": always}).rows
    assert [cell.text.split(" [")[0] for cell in tuned] == [
        *("half counter-examples", "50.0", "3.8", "100.0", "96.2", "0.0", "280", "0")
    ]
    assert [cell.text for cell in base[1:]] == [cell.text for cell in tuned[1:]]
    assert [cell.text.split(" [")[0] for cell in moved] == ["half counter-examples minus base", *["0.0"] * 5, "280", ""]
    kinds = columns(script["by_kind"]({"base": always}))["base"]
    assert kinds["kind actions that are unwise"].startswith("100.0 [")
    assert kinds["unkind actions that are right"].startswith("0.0 [")


def test_controls_say_how_many_were_read(script, finished):
    unread = finished("contact_controls", "stub:random:perhaps", protocol="generate")
    [row] = columns(script["controls"]({"base": script["sample"](unread)})).values()
    assert (row["answers"], row["unread"]) == ("240", "240")  # of the Yes/No questions; other words are scored alone


def test_answers_that_are_written_stand_beside_scored_ones(script, finished):
    """In half of the questions Yes is biased, in the others No; "perhaps" is neither."""
    asked = {"limit": 24, "configs": ("certainty",)}
    scored = [finished("contact_hypothesis", f"stub:say:{text}", **asked) for text in ("Yes", "No")]
    written = [
        finished("contact_hypothesis", f"stub:say:{text}", protocol="generate", **asked) for text in ("No", "perhaps")
    ]
    table = script["scored_and_written"](dict(zip(("base", "tuned"), zip(scored, written))))
    base, tuned = columns(table).values()
    shares = [base[name].split(" [")[0] for name in ("scored", "written", "written minus scored")]
    assert shares == ["50.0", "50.0", "0.0"]
    assert (base["answers"], base["unread where scored"], base["where written"]) == ("72", "0", "0")
    assert base["scored, minus the base"] == base["written, minus the base"] == ""
    assert tuned["scored, minus the base"].startswith("0.0 [")
    names = ("written", "written, minus the base", "where written", "certainty, where written")
    assert [tuned[name] for name in names] == ["no data", "no data", "72", "72"]
