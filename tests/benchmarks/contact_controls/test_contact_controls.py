"""The controls asked of models that are known to follow polarity, what is right, or neither."""

import math
from functools import cache
from types import SimpleNamespace

import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_controls.figures import CELLS, constant_answer
from evenhand.benchmarks.contact_controls.verdict import judge_controls, verdict_of
from evenhand.errors import EvenhandError
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.models.request import Reply
from evenhand.models.stub import StubModel
from evenhand.report.differences import differences
from evenhand.report.findings import Run
from tests.scripted_models import Scripted

NAME = "contact_controls"
BENCHMARK = get_benchmark(NAME)
ROWS = {row["id"]: row for row in drawn_rows(BENCHMARK, BENCHMARK.configuring.filled(run_config(NAME, "m"))).rows}


def other(row, option):
    return next(each for each in row["options"] if each != option)


def by_polarity(row):
    return row["affirming"] if row["action"] == "positive" else other(row, row["affirming"])


def yes_to_kind(row):
    return row["affirming"] if row["action"] == "positive" else row["ideal"]


def right(row):
    return row["ideal"]


def wrong(row):
    return other(row, row["ideal"])


def always_no(row):
    return other(row, row["affirming"])


@cache
def choosing(answer):
    """reply(request) that finds answer(row) 0.8 likely."""

    def reply(request):
        chosen = answer(ROWS[request.name.removesuffix("/swapped")])
        return Reply("", "choice", tuple((math.log(0.8 if each == chosen else 0.2),) for each in request.choices))

    return reply


@cache
def scored(reply, **options):
    """Predictions, figures and warnings of reply(request), without a run: look, and leave them as they are."""
    config = BENCHMARK.configuring.filled(run_config(NAME, "m", **options))
    how, rows = config.asking(), drawn_rows(BENCHMARK, config).rows
    read = [BENCHMARK.read(row, [reply(request) for request in BENCHMARK.ask(row, how)], how) for row in rows]
    predictions = pd.DataFrame([each for row in read for each in row])
    sample = BENCHMARK.sample(predictions)
    figures = FigureTable(figure_rows(BENCHMARK.figures, sample))
    warnings = BENCHMARK.warnings(sample.rows, figures, config)
    return SimpleNamespace(predictions=predictions, figures=figures, warnings=warnings)


def follows(figures):
    """{part: percent of answers that follow polarity}."""
    return {row.groups["part"]: row.value for row in figures.rows("follows_polarity", "part")}


@pytest.mark.parametrize(
    ("answer", "against", "agreeing", "differing", "verdict"),
    [
        (by_polarity, 100 * 120 / 280, 100, 100, "polarity"),
        (right, 0, 100, 0, "ideal"),
        (wrong, 100, 0, 100, "undecided"),
        (always_no, 50, 50, 50, "constant"),
    ],
)
def test_known_answers_have_known_scores(answer, against, agreeing, differing, verdict):
    figures = scored(choosing(answer)).figures
    row = figures.row("against_ideal")
    assert row.value == pytest.approx(against)
    assert follows(figures) == {"agreeing": agreeing, "differing": differing}
    assert verdict_of(figures) == judge_controls(figures)["verdict"] == verdict
    assert constant_answer(figures) == ("No" if answer is always_no else None)
    assert (row.n, row.n_read, row.n_clusters) == (280, 280, 254)


def test_polarity_scores_by_kind():
    """All right where sound and right agree, all wrong where they never do, half right where they are crossed."""
    figures = scored(choosing(by_polarity)).figures
    assert {row.groups["kind"]: row.value for row in figures.rows("against_ideal", "kind")} == {
        "things": 50, "nobody_special": 0, "unwise_kindness": 100, "right_unkindness": 100, "heeded_contact": 50,
        "paraphrases": 0, "other_words": 0,
    }  # fmt: skip
    assert math.isnan(figures.row("follows_polarity", kind="paraphrases", part="differing").value)
    assert figures.row("always_yes", kind="unwise_kindness").value == 100


def test_random_answers_score_near_chance():
    figures = scored(StubModel("random").reply).figures
    row = figures.row("against_ideal")
    assert row.low < row.chance == 50 < row.high
    assert verdict_of(figures) == "undecided"


def test_the_option_listed_first_is_no_option_that_is_right():
    found = scored(StubModel("first").reply)
    assert found.figures.row("against_ideal").value == 50
    assert (verdict_of(found.figures), constant_answer(found.figures)) == ("constant", "Yes")
    assert [(each.code, each.groups) for each in found.warnings] == [("constant_answer", {})]


def test_most_answers_by_polarity_need_not_be_all():
    """A model that follows what is right of things alone follows polarity still."""
    figures = scored(choosing(lambda row: (right if row["kind"] == "things" else by_polarity)(row))).figures
    assert follows(figures)["differing"] == pytest.approx(100 * 100 / 120)
    assert verdict_of(figures) == "polarity"


def test_polarity_of_groups_alone_is_not_called_so():
    """Who knows polarity of contact, and says no to everything else, has half of what differs by polarity."""
    figures = scored(choosing(lambda row: (by_polarity if row["descriptor"] else always_no)(row))).figures
    assert follows(figures)["differing"] == 50
    assert verdict_of(figures) == "one-sided"  # of unkind actions; of the kind ones where yes is right, half are groups


def test_cells_cross_sound_and_right():
    """A polarity alone, of things: right where it is right, and wrong where it isn't, in either action."""
    figures = scored(choosing(by_polarity)).figures
    assert {row.groups["cell"]: (row.n, row.value) for row in figures.rows("against_ideal", "cell")} == {
        "kind actions, yes is right": (80, 0),
        "kind actions, no is right": (60, 100),
        "unkind actions, no is right": (80, 0),
        "unkind actions, yes is right": (60, 100),
    }


def test_prompts_are_those_of_contact_hypothesis():
    """The same question of either benchmark is the same text, in either layout."""
    contact = get_benchmark("contact_hypothesis")
    row = {"id": "x", "scale": "certainty", "statement": "We met.", "question": "Should I?", "options": ["Yes", "No"]}
    row |= dict.fromkeys(("no_contact", "positive_contact", "negative_contact"), "We met. Should I?")
    for layout in ("chat", "published"):
        [ours] = BENCHMARK.ask(row, BENCHMARK.asking(layout=layout))
        theirs = contact.ask(row, contact.asking(layout=layout))[0]
        assert (ours.messages, ours.choices, ours.template) == (theirs.messages, theirs.choices, theirs.template)


def test_both_orders_list_the_options_the_other_way_round():
    how = BENCHMARK.asking(order="balanced")
    listed, swapped = BENCHMARK.ask(ROWS["other_words-29/A-is-yes"], how)
    assert "Choose between A and B" in listed.messages[-1].text
    assert "Choose between B and A" in swapped.messages[-1].text
    assert "A: Yes. B: No." in listed.messages[-1].text
    assert "A: Yes. B: No." in swapped.messages[-1].text
    assert listed.choices == swapped.choices == ("A", "B")
    figures = scored(choosing(right), order="balanced").figures
    assert [figures.row(key).value for key in ("position_sensitivity", "order_changes", "against_ideal")] == [0, 0, 0]


def test_targets_are_what_is_right():
    for row in ROWS.values():
        [target] = BENCHMARK.targets(row, BENCHMARK.asking())
        assert (target.ideal, target.opposite) == (row["ideal"], wrong(row))
        assert target.request == BENCHMARK.ask(row, BENCHMARK.asking())[0]


def test_the_value_is_the_probability_of_what_is_not_right():
    predictions = scored(choosing(by_polarity)).predictions.set_index("id")
    assert [predictions.loc[name, "value"] for name in ("things-01", "things-11")] == pytest.approx([0.2, 0.8])
    how = BENCHMARK.asking(protocol="generate")
    written = [BENCHMARK.read(ROWS["things-01"], [Reply(text)], how)[0]["value"] for text in ("Yes", "No", "")]
    assert written == [0, 1, None]


@pytest.mark.parametrize(
    ("text", "answer"), [("Yes.", "Yes"), ("No, never", "No"), ("Yes and no", None), ("Sure", None), ("", None)]
)
def test_written_answers_are_read_as_those_of_contact_hypothesis(text, answer):
    how = BENCHMARK.asking(protocol="generate")
    [read] = BENCHMARK.read(ROWS["things-01"], [Reply(text)], how)
    assert read["answer"] == answer
    assert read["against_ideal"] == (None if answer is None else answer == "No")
    assert read["text"] == text


@pytest.mark.parametrize("item", ["other_words-01", "other_words-11", "other_words-19", "other_words-29/A-is-yes"])
def test_written_answers_in_other_words_are_not_read(item):
    row = ROWS[item]
    for text in (*row["options"], "Yes", "No"):
        [read] = BENCHMARK.read(row, [Reply(text)], BENCHMARK.asking(protocol="generate"))
        assert read["answer"] is read["affirms"] is read["follows_polarity"] is read["against_ideal"] is None


def test_a_run_that_writes_leaves_other_words_out_and_says_so(tmp_path):
    def reply(request):
        return by_polarity(ROWS[request.name]) + "."

    folder = evaluate(run_config(NAME, "m", protocol="generate"), tmp_path / "run", model=Scripted(reply))
    results = folder.read_results()
    assert results.n == 240
    assert any("40 items with other options" in each.text for each in results.warnings)
    assert verdict_of(results.figures) == "polarity"
    assert "other_words" not in results.figures.values("against_ideal", "kind")


def test_a_training_records_what_the_verdict_rests_on():
    found = judge_controls(scored(choosing(yes_to_kind)).figures)
    assert {*found} == {"verdict", "by_sound", "sentence", "against_ideal", "cells"}
    assert (found["verdict"], found["by_sound"]) == ("one-sided", {"positive": "yes", "negative": "right"})
    shares = {name: cell["follows_polarity"] for name, cell in found["cells"].items()}
    assert shares == dict(zip(CELLS.values(), (100, 100, 100, 0)))
    assert all(len(cell["interval"]) == 2 for cell in found["cells"].values())


def test_the_interval_of_answers_that_are_all_alike():
    row = scored(choosing(by_polarity)).figures.row("follows_polarity", part="differing")
    assert (row.value, row.interval) == (100, (pytest.approx(100 * 0.025 ** (1 / 110)), 100))  # 110 items


def test_two_runs_are_compared_by_sound_and_right():
    first, second = (BENCHMARK.sample(scored(choosing(answer)).predictions) for answer in (by_polarity, right))
    found = differences(BENCHMARK, first, second)
    assert {key.label: (each.first, each.second, each.n) for key, each in found.items()} == {
        "against what is right": (pytest.approx(100 * 120 / 280), 0, 280),
        "against what is right: kind actions, yes is right": (0, 0, 80),
        "against what is right: kind actions, no is right": (100, 0, 60),
        "against what is right: unkind actions, no is right": (0, 0, 80),
        "against what is right: unkind actions, yes is right": (100, 0, 60),
    }


def test_a_card_says_what_is_accepted_for_its_sound(finished):
    before, after = (finished(NAME, model) for model in ("stub:random", "stub:first"))
    runs = [Run("", path, RunFolder.open(path).read_results(), RunFolder.open(path).read_predictions())
            for path in (before, after)]  # fmt: skip
    found = BENCHMARK.publishing.controls(*runs)
    assert found.not_debiased == "it gives most questions one answer, whether or not that is right"
    assert [after for _, _, after, _ in found.rows] == ["97.9", "100.0", "0.0"]


def test_silence_has_no_score(finished):
    results = RunFolder.open(finished(NAME, "stub:silent")).read_results()
    assert math.isnan(results.figures.row("against_ideal").value)
    assert verdict_of(results.figures) == "undecided"
    assert results.warned("nothing_read")


@pytest.mark.parametrize("limit", [7, 28, 140])
def test_a_draw_keeps_sound_and_right_balanced(limit):
    drawn = drawn_rows(BENCHMARK, BENCHMARK.configuring.filled(run_config(NAME, "m", limit=limit))).rows.to_pandas()
    assert {*drawn["kind"].value_counts()} == {limit // 7}
    assert abs((drawn["action"] == "positive").mean() - 0.5) <= 0.5 / limit + 1e-9


def test_there_are_no_official_rows(evenhand, tmp_path):
    called = evenhand("run", NAME, "--model", "stub:first", "--source", "official", "--output", tmp_path / "run")
    assert called.code == 2
    assert "has no official data; use --source evenhand" in called.err


def test_the_layout_of_the_paper_needs_a_model_that_takes_it(tmp_path):
    model = Scripted(choosing(right))  # it can't go on with a text to the letter
    with pytest.raises(EvenhandError, match="--layout published sends prompts to the letter"):
        evaluate(run_config(NAME, "m", layout="published"), tmp_path / "run", model=model)
