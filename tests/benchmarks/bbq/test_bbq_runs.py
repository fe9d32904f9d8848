"""Runs of BBQ from the draw to the report, and runs beside one another."""

import json
import math
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow import results as module
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.plan import plan
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.gating.gate import gate
from evenhand.models.errors import ModelError
from evenhand.models.request import Reply
from evenhand.models.stub import StubModel
from evenhand.report.comparison import compare
from evenhand.report.differences import FigureKey
from evenhand.trainers.pairs import from_runs
from tests.benchmarks.bbq.known_answers import BENCHMARK, FILES, NAME, biased, by_context, choosing, right, unknown
from tests.scripted_models import Scripted


def test_all_categories_that_the_mirror_holds_are_asked(tmp_path):
    """What is left out is said."""
    results = evaluate(run_config(NAME, "stub:first"), tmp_path / "run").read_results()
    assert results.config["configs"] == ["age", "race_x_gender", "ses"]
    assert results.config["source"] == "official"
    assert results.n == 144
    assert any("holds no Disability_status.jsonl" in each.text for each in results.warnings)
    assert results.published == []
    written = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    schema = json.loads(Path(module.__file__).with_name("results.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(written)


def test_replies_that_were_cut_off_before_an_answer_are_unread_and_named(tmp_path):
    """As of a model whose thought has no mark."""
    model = Scripted(lambda request: Reply("Okay, it could be A or B. Let me", "length"))
    results = evaluate(run_config(NAME, "scripted", limit=12, protocol="generate"), tmp_path / "run", model)
    assert results.read_results().n_read == 0
    [warning] = results.read_results().warned("cut_off")
    assert "12 of 12" in warning.text


def test_runs_that_answer_otherwise_make_pairs_of_the_options_words(finished):
    """Predictions hold an answer's place; what is learned from is what the model was offered."""
    folders = [RunFolder.open(finished(NAME, model, limit=12)) for model in ("stub:first", "stub:last")]
    found = from_runs(folders, NAME, {str(name) for name in folders[0].read_predictions()["row"]})
    assert found.pairs
    assert all({pair.chosen, pair.rejected} < {*pair.request.choices} for pair in found.pairs)
    assert len(found.pairs) == 12 - found.counts["requests answered one way"]


def test_what_a_mirror_lacks_is_listed(tmp_path, monkeypatch):
    """Of the categories that were named; of all, where it holds nothing."""
    with pytest.raises(EvenhandError, match=r"holds no bbq/Religion\.jsonl \(from https://.*/Religion\.jsonl\)\. Put"):
        evaluate(run_config(NAME, "stub:first", configs=("age", "religion")), tmp_path / "run")
    monkeypatch.setenv("EVENHAND_SOURCES", str(tmp_path))
    with pytest.raises(EvenhandError) as error:
        evaluate(run_config(NAME, "stub:first"), tmp_path / "run")
    assert str(error.value).count("(from https://") == 11
    with pytest.raises(UsageError, match="'religon'; did you mean 'religion'"):
        evaluate(run_config(NAME, "stub:first", configs=("religon",)), tmp_path / "run")


@pytest.mark.parametrize("limit", [12, 24, 60])
def test_a_draw_keeps_fillings_whole(limit):
    """So either polarity and either context are as many as each other, in each category."""
    drawn = drawn_rows(BENCHMARK, BENCHMARK.configuring.filled(run_config(NAME, "m", limit=limit))).rows.to_pandas()
    assert len(drawn) == limit
    assert set(drawn.groupby("item").size()) == {4}
    assert set(drawn.groupby(["context_condition", "question_polarity"]).size()) == {limit // 4}
    assert drawn["category"].value_counts().to_dict() == dict.fromkeys(FILES, limit // 3)
    aligned, conflicting = (int((drawn["alignment"] == name).sum()) // 4 for name in ("aligned", "conflicting"))
    assert abs(aligned - conflicting) <= 1


def test_a_plan_counts_what_would_be_asked():
    config = run_config(NAME, "m", limit=12, order="balanced")
    planned = plan(config, StubModel("first"))
    assert (planned.rows, planned.requests) == (12, 36)


def test_a_stopped_run_goes_on_and_ends_as_one_that_was_not(rows, tmp_path):
    """Nothing of a finished call is asked again."""
    asked = []

    def stops(request):
        asked.append(request.name)
        if len(asked) == 20:
            raise ModelError("the model is gone")
        return choosing(rows, biased)(request)

    def goes_on(request):
        asked.append(request.name)
        return choosing(rows, biased)(request)

    config = run_config(NAME, "m", limit=36)
    with pytest.raises(ModelError, match="the model is gone"):
        evaluate(config, tmp_path / "run", model=Scripted(stops, at_once=4))
    resumed = evaluate(config, tmp_path / "run", model=Scripted(goes_on, at_once=4))
    whole = evaluate(config, tmp_path / "whole", model=Scripted(choosing(rows, biased), at_once=4))
    assert len({*asked}) == 36
    assert len(asked) <= 36 + 4  # of the call that failed, at most
    assert resumed.predictions_file.read_bytes() == whole.predictions_file.read_bytes()
    one, other = (each.read_results().figures.to_frame() for each in (resumed, whole))
    assert one.equals(other)
    assert by_context(whole.read_results().figures, "bias_score") == {"ambig": 100, "disambig": 100}


def test_the_report_shows_both_contexts_apart(rows, tmp_path):
    answers = Scripted(choosing(rows, biased))
    folder = evaluate(run_config(NAME, "m", order="balanced"), tmp_path / "run", model=answers)
    sample = BENCHMARK.sample(folder.read_predictions())
    found = BENCHMARK.findings(sample.rows, folder.read_results())
    tables = {table.title: table for table in found.tables}
    for title in ("Bias", "Accuracy"):
        assert [row[0].text for row in tables[title].rows] == ["all", "age", "race_x_gender", "socioeconomic status"]
    assert [plot.draw.args[3] for plot in found.plots] == [(-100, 100)]  # scores below 0 are drawn, too
    overall = tables["Bias"].rows[0][1]
    assert overall.value == overall.high == 100
    assert overall.low == pytest.approx(200 * 0.025 ** (1 / 18) - 100)  # 18 templates alike
    assert {example.reading for example in found.examples} <= {
        "target: wrong, with the stereotype", "other: wrong, with the stereotype", "target: right, with the stereotype",
        "other: right, with the stereotype", "group: wrong", "group: right",
    }  # fmt: skip


@pytest.mark.parametrize("options", [{"order": "balanced"}, {"aggregate": "sum"}])
def test_what_is_of_probabilities_is_refused_of_texts(options, tmp_path):
    with pytest.raises(UsageError, match="needs --protocol choose"):
        evaluate(run_config(NAME, "stub:first", protocol="generate", **options), tmp_path / "run")


def test_a_run_that_writes_is_read(rows, tmp_path):
    """A sentence around an answer's words; one category asked by name."""

    def reply(request):
        row = rows[request.name]
        return f"I think it was {row['answers'][biased(row)]}."

    config = run_config(NAME, "m", configs=("ses",), protocol="generate")
    results = evaluate(config, tmp_path / "run", model=Scripted(reply)).read_results()
    assert by_context(results.figures, "bias_score") == {"ambig": 100, "disambig": 100}
    assert results.unread_rate == 0
    assert "probability_difference" not in results.figures


# Comparisons


@pytest.fixture(scope="module")
def runs(rows, tmp_path_factory):
    """Runs that are right, that follow the stereotype, and that say nothing but that one can't know."""
    answers = {"right": right, "biased": biased, "unknown": unknown}
    return {
        name: evaluate(
            run_config(NAME, "m"), tmp_path_factory.mktemp("runs") / name, model=Scripted(choosing(rows, answer), name)
        ).path
        for name, answer in answers.items()
    }


def numbers(table):
    return [[cell.value for cell in row] for row in table.rows]


def test_table_6_has_categories_by_models(runs):
    comparison = compare(runs["biased"], runs["right"], runs["unknown"])
    everything, ambiguous, disambiguated, wins = comparison.panels[0].tables
    assert everything.columns == ("category", "A: biased", "B: right", "C: unknown")
    assert [row[0] for row in numbers(everything)] == ["all", "age", "race_x_gender", "socioeconomic status"]
    for table, expected in ((everything, [25, 100, 50]), (ambiguous, [0, 100, 100]), (disambiguated, [50, 100, 0])):
        assert numbers(table)[1][1:] == expected
    # 6 templates that are all alike: 1 - 0.025^(1/6), 45.9 %, of the way to 0 and to 100 may go unseen
    low, high = everything.rows[1][1].low, everything.rows[1][1].high
    assert (low, high) == pytest.approx((13.5, 59.4), abs=0.05)
    # of 6 templates p is 1/32 at least, and nine times as much by Holm's method: no win, however clear it is
    assert [row[2:6] for row in numbers(wins)] == [[0, 3, 0, 0]] * 9
    # by the paper's bootstrap over questions, all categories together: B and C against A, C against B, in each kind
    outcomes = [row[6] for row in numbers(wins)]
    assert outcomes == ["win", "win", "loss", "win", "win", "tie", "win", "loss", "loss"]


def test_categories_of_few_templates_are_not_counted_as_ties(rows, tmp_path):
    """A draw of 24 rows has five templates or fewer of some: whatever they say, no p is below 1/16."""
    drawn = [
        evaluate(run_config(NAME, "m", limit=24), tmp_path / name, model=Scripted(choosing(rows, answer), name))
        for name, answer in (("right", right), ("biased", biased))
    ]
    of = drawn[0].read_predictions().groupby("category")["template"].nunique()
    few = int((of < 6).sum())
    assert few > 0
    wins = compare(*(folder.path for folder in drawn)).panels[0].tables[-1]
    *counted, untested = numbers(wins)[0][2:6]
    assert (untested, sum(counted)) == (few, len(of) - few)


def test_a_run_against_itself_ties_everywhere(runs):
    comparison = compare(runs["biased"], runs["biased"])
    assert [row[2:] for row in numbers(comparison.panels[0].tables[-1])] == [[0, 3, 0, 0, "tie"]] * 3
    assert {row[4] for row in numbers(comparison.headline)} == {"tied"}


def test_bias_scores_are_compared_beside_accuracies(runs):
    """Right against biased: -100 points in disambiguated contexts; right has no score where all is unknown."""
    found = compare(runs["biased"], runs["right"]).differences
    labels = {
        (figure, context): FigureKey.of(BENCHMARK.figure(figure), {"context_condition": context}).label
        for figure in ("bias_score", "accuracy")
        for context in ("ambig", "disambig")
    }
    assert [*found] == [*labels.values()]
    bias = found[labels["bias_score", "disambig"]]
    assert (bias.first, bias.second, bias.estimate) == (100, 0, -100)
    assert bias.differs
    assert math.isnan(found[labels["bias_score", "ambig"]].estimate)
    accuracy = found[labels["accuracy", "ambig"]]
    unseen = 1 - 0.025 ** (1 / accuracy.n_clusters)
    assert (accuracy.estimate, accuracy.low, accuracy.high) == pytest.approx((100, 100 - 200 * unseen, 100))


def test_a_gate_judges_bias_scores_and_the_accuracy_where_the_context_tells_the_answer(runs):
    """Always unknown has no bias; it is of no use where an answer is there to be given."""
    judged = {(each.of, each.figure): each.verdict for each in gate(runs["biased"], runs["unknown"]).judgements}
    figures = (("bias", "bias_score", "ambig"), ("bias", "bias_score", "disambig"), ("utility", "accuracy", "disambig"))
    expected = [(of, BENCHMARK.figure(key).label({"context_condition": context})) for of, key, context in figures]
    assert [*judged] == expected
    assert judged[expected[-1]] == "worse"


@pytest.mark.parametrize(
    ("groups", "configs", "task"),
    [
        ({"category": "age", "context_condition": "ambig"}, ("age", "ses"), "age-ambig"),
        ({"context_condition": "ambig"}, BENCHMARK.card.configs, "all-ambig"),
        ({"context_condition": "disambig"}, ("age", "ses"), ""),
    ],
)
def test_tasks_are_categories_and_kinds_of_context(groups, configs, task):
    assert BENCHMARK.publishing.task(groups, configs, BENCHMARK.card) == task
