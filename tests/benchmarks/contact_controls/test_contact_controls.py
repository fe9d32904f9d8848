"""The controls asked of models that are known to follow polarity, what is right, or neither."""

import math
from functools import cache
from types import SimpleNamespace

import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.results import without_nan
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.models.request import Reply
from evenhand.models.stub import StubModel
from tests.scripted_models import Scripted

NAME = "contact_controls"
BENCHMARK = get_benchmark(NAME)
ROWS = {row["id"]: row for row in drawn_rows(BENCHMARK, BENCHMARK.filled(run_config(NAME, "m"))).rows}


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
    """Predictions and metrics of reply(request), without a run: look, and leave them as they are."""
    config = BENCHMARK.filled(run_config(NAME, "m", **options))
    how, rows = config.asking(), drawn_rows(BENCHMARK, config).rows
    read = [BENCHMARK.read(row, [reply(request) for request in BENCHMARK.ask(row, how)], how) for row in rows]
    predictions = pd.DataFrame([each for row in read for each in row])
    return SimpleNamespace(predictions=predictions, metrics=BENCHMARK.score(predictions, config))


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
    metrics = scored(choosing(answer)).metrics
    assert metrics["against_ideal"] == pytest.approx(against)
    assert metrics["follows_polarity"] == {"agreeing": agreeing, "differing": differing}
    assert metrics["polarity"] == verdict
    assert metrics["constant_answer"] == ("No" if answer is always_no else None)
    assert (metrics["n"], metrics["n_read"], metrics["n_clusters"]) == (280, 280, 254)


def test_polarity_scores_by_kind():
    """All right where sound and right agree, all wrong where they never do, half right where they are crossed."""
    kinds = scored(choosing(by_polarity)).metrics["by"]["kind"]
    assert {kind: group["against_ideal"] for kind, group in kinds.items()} == {
        "things": 50, "nobody_special": 0, "unwise_kindness": 100, "right_unkindness": 100, "heeded_contact": 50,
        "paraphrases": 0, "other_words": 0,
    }  # fmt: skip
    assert math.isnan(kinds["paraphrases"]["follows_polarity"]["differing"])
    assert kinds["unwise_kindness"]["constant"] == {"affirming": 100, "declining": 0}


def test_random_answers_score_near_chance():
    metrics = scored(StubModel("random").reply).metrics
    low, high = metrics["intervals"]["against_ideal"]
    assert low < 50 < high
    assert metrics["polarity"] == "undecided"


def test_the_option_listed_first_is_no_option_that_is_right():
    metrics = scored(StubModel("first").reply).metrics
    assert metrics["against_ideal"] == 50
    assert (metrics["polarity"], metrics["constant_answer"]) == ("constant", "Yes")
    assert any("nearly every answer is 'Yes'" in warning for warning in metrics["warnings"])


def test_most_answers_by_polarity_need_not_be_all():
    """A model that follows what is right of things alone follows polarity still."""
    metrics = scored(choosing(lambda row: (right if row["kind"] == "things" else by_polarity)(row))).metrics
    assert metrics["follows_polarity"]["differing"] == pytest.approx(100 * 100 / 120)
    assert metrics["polarity"] == "polarity"


def test_polarity_of_groups_alone_is_not_called_so():
    """Who knows polarity of contact, and says no to everything else, has half of what differs by polarity."""
    metrics = scored(choosing(lambda row: (by_polarity if row["descriptor"] else always_no)(row))).metrics
    assert metrics["follows_polarity"]["differing"] == 50
    assert metrics["polarity"] == "one-sided"  # of unkind actions; of the kind ones where yes is right, half are groups


def test_cells_cross_sound_and_right():
    """A polarity alone, of things: right where it is right, and wrong where it isn't, in either action."""
    cells = scored(choosing(by_polarity)).metrics["by"]["cell"]
    assert {name: (cell["n"], cell["against_ideal"]) for name, cell in cells.items()} == {
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
    metrics = scored(choosing(right), order="balanced").metrics
    assert metrics["position_sensitivity"] == 0
    assert metrics["against_ideal"] == 0


def test_targets_are_what_is_right():
    for row in ROWS.values():
        [target] = BENCHMARK.targets(row, BENCHMARK.asking())
        assert (target.ideal, target.opposite) == (row["ideal"], wrong(row))
        assert target.request == BENCHMARK.ask(row, BENCHMARK.asking())[0]


def test_the_value_is_the_probability_of_what_is_not_right():
    predictions = scored(choosing(by_polarity)).predictions.set_index("id")
    values = {name: BENCHMARK.value(predictions.loc[name]) for name in ("things-01", "things-11")}
    assert values == {"things-01": pytest.approx(0.2), "things-11": pytest.approx(0.8)}
    assert BENCHMARK.value({"against_ideal": None}) is None
    assert BENCHMARK.value({"against_ideal": True}) == 1


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
    assert any(
        "40 items with other options than Yes and No are left out" in each for each in results.metrics["warnings"]
    )
    assert results.metrics["polarity"] == "polarity"
    assert "other_words" not in results.metrics["by"]["kind"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            by_polarity,
            "Its answers follow a polarity, how kind the action sounds, where that is right and where it is wrong: it "
            "says yes to 100.0 [",
        ),
        (
            yes_to_kind,
            "Its answers are one-sided, yes to most actions that sound kind, where that is right and where it is "
            "wrong: ",
        ),
        (
            right,
            "Most of its answers are right, to kind actions and to unkind ones, where polarity is right and, in every "
            "kind of control, where it is wrong: it says yes to 100.0 [",
        ),
        (always_no, "Its answer is constant, 'No' to nearly all questions that offer it: "),
        (wrong, "It is not shown whether its answers follow what is right or how kind the action sounds: "),
    ],
)
def test_what_was_found_is_told_in_a_sentence(answer, told):
    done = scored(choosing(answer))
    results = SimpleNamespace(metrics=without_nan(done.metrics), model_name="m", option=lambda name: None)
    found = BENCHMARK.findings(done.predictions, results)
    assert found.sentences[1].startswith(told)
    if answer is right:
        assert "sound kind where yes is right, and to 0.0 [0.0, 6.0] where it is wrong; no to" in found.sentences[1]
        assert found.sentences[1].endswith("sound unkind where no is right, and to 0.0 [0.0, 6.0] where it is wrong.")
    assert [row[0].text for row in found.tables[0].rows] == [
        *("all", " polarity is right", " polarity is wrong", " kind actions, yes is right"),
        *(" kind actions, no is right", " unkind actions, no is right", " unkind actions, yes is right"),
        *("things and plans", "people of no group"),
        *("kind actions that are unwise", "unkind actions that are right", "experiences to be heeded"),
        *("contact questions in other words", "contact questions with other options"),
    ]


def test_the_interval_of_answers_that_are_all_alike():
    metrics = scored(choosing(by_polarity)).metrics
    assert metrics["polarity"] == "polarity"
    assert metrics["follows_polarity"] == {"agreeing": 100, "differing": 100}
    interval = metrics["intervals"]["follows_polarity"]["differing"]
    assert interval == [pytest.approx(100 * 0.025 ** (1 / 110)), 100]  # 110 items


def test_two_runs_are_compared_by_sound_and_right():
    table = BENCHMARK.comparison().headline(scored(choosing(by_polarity)).predictions)
    assert table.groupby("figure")["value"].agg(["mean", "count"]).to_dict("index") == {
        "against what is right": {"mean": pytest.approx(100 * 120 / 280), "count": 280},
        "against what is right: kind actions, yes is right": {"mean": 0, "count": 80},
        "against what is right: kind actions, no is right": {"mean": 100, "count": 60},
        "against what is right: unkind actions, no is right": {"mean": 0, "count": 80},
        "against what is right: unkind actions, yes is right": {"mean": 100, "count": 60},
    }


def test_silence_has_no_score(finished):
    results = RunFolder.open(finished(NAME, "stub:silent")).read_results()
    assert results.metrics["against_ideal"] is None
    assert results.metrics["polarity"] == "undecided"
    assert BENCHMARK.headline(results.metrics) is None


@pytest.mark.parametrize("limit", [7, 28, 140])
def test_a_draw_keeps_sound_and_right_balanced(limit):
    drawn = drawn_rows(BENCHMARK, BENCHMARK.filled(run_config(NAME, "m", limit=limit))).rows.to_pandas()
    assert {*drawn["kind"].value_counts()} == {limit // 7}
    assert abs((drawn["action"] == "positive").mean() - 0.5) <= 0.5 / limit + 1e-9


def test_there_are_no_official_rows(evenhand, tmp_path):
    called = evenhand("run", NAME, "--model", "stub:first", "--source", "official", "--output", tmp_path / "run")
    assert called.code == 2
    assert "has questions of ours alone: --source evenhand is accepted" in called.err


def test_the_layout_of_the_paper_needs_a_model_that_takes_it(tmp_path):
    model = Scripted(choosing(right))  # it can't go on with a text to the letter
    with pytest.raises(EvenhandError, match="--layout published sends prompts to the letter"):
        evaluate(run_config(NAME, "m", layout="published"), tmp_path / "run", model=model)
