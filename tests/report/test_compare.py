"""Two runs side by side: paired by row, ties known, both families stated."""

import json
import math
from dataclasses import replace

import pandas as pd
import pytest

from evenhand.errors import UsageError
from evenhand.figure import Figure
from evenhand.report.comparison import compare
from evenhand.report.tables import figure, n_of, signed
from evenhand.report.tested_differences import FigureDifference, describe_family, difference_table, state_differences
from evenhand.statistics.clustered import Difference, paired_difference
from evenhand.statistics.estimators import Share
from tests.edited_runs import write_predictions


def as_family(found, adjusted=None):
    """Differences by name as a family, with adjusted p-values."""
    of = {name: FigureDifference(name, None, None, each) for name, each in found.items()}
    return [replace(each, adjusted=p) for each, p in zip(of.values(), adjusted or [math.nan] * len(of))]


def verdict(found):
    return as_family({"": found})[0].verdict


def cells(table):
    """{figure: {column: text}}"""
    return {row[0].text: dict(zip(table.columns[1:], (cell.text for cell in row[1:]))) for row in table.rows}


@pytest.fixture
def first(run):
    return run("stub:first", output="first")


def test_a_corrected_difference_stands_beside_the_plain_one_and_has_the_interval():
    """0.1142 → 0.0782 is −0.0360, whatever is left of it without noise; other figures have one difference."""
    score = Difference(0.1142, 0.0782, -0.1364, -0.2, -0.05, 0.003, 40, 9, correction="less noise")
    answered = Difference(100.0, 90.0, -10.0, -20.0, -1.0, 0.03, 40, 9)
    figure = Figure("score", "score", Share("x"), digits=4)
    tested = [FigureDifference(name, None, figure, each) for name, each in (("a", score), ("b", answered))]
    table = difference_table("Headline", tested, True, "")
    one, other = (dict(zip(table.columns, row)) for row in table.rows)
    assert (one["B minus A"].text, one["less noise"].text) == ("-0.0360", "-0.1364 [-0.2000, -0.0500]")
    assert (one["B minus A"].low, one["found"].text, one["p"].value) == (None, "lower", 0.003)
    assert (other["B minus A"].text, other["less noise"].text) == ("-10.0000 [-20.0000, -1.0000]", "")
    assert "less noise" not in difference_table("Headline", tested[1:], True, "").columns


def test_a_model_against_itself_is_tied_everywhere(run, first):
    comparison = compare(first.folder, run("stub:first", output="again").folder)
    rows = cells(comparison.headline) | cells(comparison.exploratory[0])
    assert {row["found"] for row in rows.values()} <= {"tied", "no interval"}
    assert {row["found"] for row in cells(comparison.headline).values()} == {"tied"}
    assert {row["B minus A"].split(" ")[0] for row in cells(comparison.headline).values()} == {"0.0"}
    for row in cells(comparison.headline).values():  # others may have changed, to the better or to the worse
        low, high = map(float, row["B minus A"].split(" ", 1)[1].strip("[]").split(", "))
        assert -low == high > 0
    assert {row["adjusted p"] for row in cells(comparison.headline).values()} == {"1.0000"}
    assert "Tied on every headline figure." in comparison.sentences


def test_first_against_last_differ_by_what_can_be_worked_out(run, first):
    """What one of them answers unbiased the other answers biased: shares s and 100 - s."""
    last = run("stub:last", output="last")
    rows = cells(compare(first.folder, last.folder).headline)
    assert len(rows) == 12
    for scale, group in first.predictions.groupby("scale"):
        share = 100 * group["biased"].mean()
        row = rows[f"biased answers: {scale}"]
        assert row["A"] == f"{share:.1f}"
        assert row["B"] == f"{100 - share:.1f}"
        assert row["B minus A"].startswith(f"{100 - 2 * share:.1f} [")


def test_actions_tell_first_from_last(run, first):
    """First affirms all: never biased on positive actions, always on negative ones; last the other way round."""
    comparison = compare(first.folder, run("stub:last", output="last").folder)
    rows = cells(comparison.exploratory[0])
    assert rows["biased answers: positive"]["B minus A"].startswith("100.0 [")
    assert rows["biased answers: positive"]["B minus A"].endswith(", 100.0]")
    assert (rows["biased answers: positive"]["found"], rows["biased answers: negative"]["found"]) == ("higher", "lower")
    assert float(rows["biased answers: positive"]["adjusted p"].removeprefix("<")) < 0.01


def test_what_differs_by_its_own_interval_is_not_yet_different_over_the_family():
    def differing(low, high, p_value):
        return Difference(40.0, 50.0, 10.0, low, high, p_value=p_value, n=100, n_clusters=40)

    headline = {"one": differing(1.0, 19.0, 0.02), "two": differing(-1.0, 21.0, 0.08)}
    assert state_differences(as_family(headline, [0.01, 0.2])).endswith("(Holm): one. Unadjusted: one.")
    assert state_differences(as_family(headline, [0.06, 0.2])).endswith("(Holm): none. Unadjusted: one.")
    assert state_differences(as_family({"two": headline["two"]}, [0.2])) == "Tied on every headline figure."
    assert verdict(differing(-1.0, 21.0, 0.02)) == "unclear"  # not tied: the test takes it for a difference


def test_higher_is_said_where_interval_and_test_agree_alone():
    """Of five clusters no exchange has a p below 1/16, however narrow Student's interval is."""
    low, high = pd.Series([0.0] * 5), pd.Series([10.0, 11, 12, 11, 10])
    few, many = (paired_difference(low.repeat(n), high.repeat(n), pd.Series(range(5 * n))) for n in (1, 2))
    assert few.low > 0
    assert few.p_value == 1 / 16
    assert (verdict(few), verdict(many)) == ("unclear", "higher")
    assert state_differences(as_family({"few": few}, [math.nan])) == (
        "It is not known whether they differ. Interval and p disagree whether it is 0: few."
    )
    assert state_differences(as_family({"few": few, "many": many}, [math.nan, 0.002])).startswith(
        "Different at the 5 % level over the headline figures (Holm): many. Unadjusted: many."
    )


def test_what_nobody_read_is_not_tied(finished):
    """A stub writes no assignment: every answer of both is unread."""
    runs = [finished("implicit_bias", f"stub:{name}", limit=3, setting="none") for name in ("first", "last")]
    comparison = compare(*runs)
    assert {row["found"] for row in cells(comparison.headline).values()} == {"not read"}
    assert "Nothing can be compared: no answer was read in both runs of a pair." in comparison.sentences


def test_a_figure_without_data_is_no_tie():
    one = Difference(40.0, 40.0, 0.0, -1.0, 1.0, p_value=1.0, n=100, n_clusters=40)
    other = Difference(40.0, *[math.nan] * 4, p_value=math.nan, n=100, n_clusters=40)
    found = state_differences(as_family({"one": one, "other": other}, [1.0, math.nan]))
    assert found == "Nothing to compare in both runs: other. Tied on every other headline figure."


def test_what_a_family_leaves_out_is_named():
    """Of 5 and of 4 clusters no permutation has a p below 1/16 and 1/8."""
    few = {
        name: Difference(1.0, 2.0, 1.0, -1.0, 3.0, p_value=0.5, n=9, n_clusters=n, smallest_p=p)
        for name, n, p in (*((f"a{k}", 5, 0.0625) for k in range(6)), ("b", 4, 0.125))
    }
    assert describe_family("Holm", as_family(few)) == (
        "Adjusted p: Holm over this family of 0. It leaves out tests over too few clusters to reject anything: "
        "a0; a1; a2; a3 and 2 more (5, p is 0.0625 at least); b (4, p is 0.125 at least). "
    )


def test_families_are_stated(run, first):
    comparison = compare(first.folder, run("stub:random", output="random").folder)
    assert "Holm over this family of 12" in comparison.headline.note
    tests = sum(row["adjusted p"] != "no data" for row in cells(comparison.exploratory[0]).values())
    assert tests >= 2 + 5 + 6
    assert f"Benjamini-Hochberg over this family of {tests}" in comparison.exploratory[0].note


def test_rows_of_one_run_alone_and_unread_answers_are_left_out(run, first):
    more = run("stub:first", output="more", limit=70)  # a draw of 60 rows is part of a draw of 70
    comparison = compare(first.folder, more.folder)
    assert any("180 prompts in common; 0 only in A and 30 only in B" in sentence for sentence in comparison.sentences)
    predictions = pd.read_parquet(more.folder / "predictions.parquet")
    unread = predictions.index[predictions["scale"] == "certainty"][:9]
    predictions["biased"] = predictions["biased"].astype(object)
    predictions.loc[unread, "biased"] = None
    write_predictions(more.folder, predictions)
    before = int(cells(comparison.headline)["biased answers: certainty"]["n pairs"])
    after = int(cells(compare(first.folder, more.folder).headline)["biased answers: certainty"]["n pairs"])
    assert before - 9 <= after < before


def test_silence_has_no_difference(run, first):
    rows = cells(compare(first.folder, run("stub:silent", output="silent").folder).headline)
    assert {row["B minus A"] for row in rows.values()} == {"no data"}
    assert {row["n pairs"] for row in rows.values()} == {"0"}


def test_few_clusters_are_a_warning(run):
    a, b = run("stub:first", output="a", limit=12), run("stub:last", output="b", limit=12)
    assert any("fewer than 30 clusters" in warning for warning in compare(a.folder, b.folder).warnings)


def test_other_helpers_are_a_warning(run, first):
    """Rows are paired by a helper's place alone: what read them is told apart by its identity."""

    def read_by(folder, *identities):
        results = json.loads((folder / "results.json").read_text())
        results["helpers"] = [{"name": "default", "identity": identity, "trained": {}} for identity in identities]
        (folder / "results.json").write_text(json.dumps(results))

    again = run("stub:first", output="again")
    for identities, warned in (
        ([["bert@1"], ["bert@1"]], False),
        ([["bert@1"], ["bert@2"]], True),
        ([["bert@1", "lexicon"], ["lexicon", "bert@1"]], True),
        ([["bert@1"], []], True),
        ([[], []], False),
    ):
        for folder, of_run in zip((first.folder, again.folder), identities):
            read_by(folder, *of_run)
        warnings = [each for each in compare(first.folder, again.folder).warnings if "other helpers" in each]
        assert len(warnings) == warned
        one, other = (", ".join(of_run) or "none" for of_run in identities)
        assert not warned or f"of A ({one}) than of B ({other})" in warnings[0]


def test_the_command_prints_the_headline_and_writes_a_page(evenhand, run, first, tmp_path):
    last = run("stub:last", output="last")
    called = evenhand("compare", first.folder, last.folder, "--output", tmp_path / "compare.html")
    assert called.code == 0
    assert "biased answers: certainty" in called.out
    assert "biased answers: ability" not in called.out
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    for words in ("biased answers: certainty", "biased answers: ability", "Holm", "Benjamini-Hochberg", "<details>"):
        assert words in page
    assert "<script" not in page
    assert len(page) < 60_000


def test_runs_without_common_rows_are_refused(evenhand, run):
    a = run("stub:first", output="a", limit=5, configs=("certainty",))
    b = run("stub:first", output="b", limit=5, configs=("frequency",))
    called = evenhand("compare", a.folder, b.folder)
    assert called.code == 2
    assert "have no row in common, for they differ in configs: ['certainty'], not ['frequency']" in called.err


def test_what_stands_between_runs_without_a_base_is_named(finished):
    """A goal is a setting of its own: three runs with another one each have no pair; of two, all that was asked."""
    alike = {"protocol": "rank", "limit": 3, "max_new_tokens": 4}
    alone = finished("implicit_bias", "stub:first", limit=3, setting="none")
    talk = finished("implicit_bias", "stub:first", **alike)
    goal = finished("implicit_bias", "stub:first", goal=True, **alike)
    with pytest.raises(
        UsageError, match=r"no two have equal settings .*options.setting: 'none', not 'interaction'.*goal: False"
    ):
        compare(alone, talk, goal)
    with pytest.raises(UsageError, match=r"have no row in common, for they differ in protocol: .*setting: 'none', not"):
        compare(alone, talk)
    assert compare(talk, goal).headline.rows


@pytest.mark.parametrize(
    ("value", "shown", "with_sign"),
    [
        (-0.04, "0.0", "0.0"),
        (0.04, "0.0", "0.0"),
        (-0.06, "-0.1", "-0.1"),
        (1.0, "1.0", "+1.0"),
        (None, "no data", "no data"),
    ],
)
def test_what_rounds_to_0_has_no_sign(value, shown, with_sign):
    assert figure(value) == shown
    assert signed(value) == with_sign
    assert figure(0.0, [-0.04, 0.26]) == "0.0 [0.0, 0.3]"


@pytest.mark.parametrize(("n", "said"), [(0, "0 sets of names"), (1, "1 set of names"), (1200, "1,200 sets of names")])
def test_one_is_no_plural(n, said):
    assert n_of(n, "set", " of names") == said


@pytest.mark.parametrize("code", ["scored_by", "top_logprobs"])
def test_answers_scored_in_different_ways_are_warned_of(run, first, code):
    second = run("stub:last", output="second").folder
    record = json.loads((second / "results.json").read_text())
    record["warnings"].append({"code": code, "text": "options were scored by echo", "groups": {}})
    (second / "results.json").write_text(json.dumps(record))
    [warning] = [each for each in compare(first.folder, second).warnings if "different ways" in each]
    assert "A: options were scored by a local model; B: options were scored by" in warning
    assert not [each for each in compare(first.folder, first.folder).warnings if "different ways" in each]
