"""Runs of BBQ from the draw to the report, and runs beside one another."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow import results as module
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.plan import plan
from evenhand.flow.results import without_nan
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.models.stub import StubModel
from evenhand.report.comparison import compare
from evenhand.trainers.pairs import from_runs
from tests.benchmarks.bbq.known_answers import BENCHMARK, FILES, NAME, biased, choosing, right, scored, unknown
from tests.scripted_models import Scripted


def test_all_categories_that_the_mirror_holds_are_asked(tmp_path):
    """What is left out is said."""
    results = evaluate(run_config(NAME, "stub:first"), tmp_path / "run").read_results()
    assert results.config["configs"] == ["age", "race_x_gender", "ses"]
    assert results.config["source"] == "official"
    assert results.n == 144
    warnings = " ".join(results.metrics["warnings"])
    assert "holds no Disability_status.jsonl" in warnings
    assert results.published == {}
    written = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    schema = json.loads(Path(module.__file__).with_name("results.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(written)


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
    drawn = drawn_rows(BENCHMARK, BENCHMARK.filled(run_config(NAME, "m", limit=limit))).rows.to_pandas()
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
    assert resumed.predictions.read_bytes() == whole.predictions.read_bytes()
    assert resumed.read_results().metrics == whole.read_results().metrics
    assert resumed.read_results().metrics["bias_score"] == {"ambig": 100, "disambig": 100}


def test_the_report_shows_both_contexts_apart(rows):
    done = scored(rows, choosing(rows, biased), order="balanced")
    found = BENCHMARK.findings(done.predictions, SimpleNamespace(metrics=without_nan(done.metrics), model_name="m"))
    assert [table.title for table in found.tables] == ["Bias", "Accuracy", "Order of the answers"]
    for table in found.tables[:2]:
        assert [row[0].text for row in table.rows] == ["all", "age", "race by gender", "socioeconomic status"]
    assert [plot.draw.args[3] for plot in found.plots] == [(-100, 100)]  # scores below 0 are drawn, too
    assert found.tables[0].rows[0][1].text == "100.0 [62.9, 100.0]"  # 18 templates alike: 200 · 0.025^(1/18) - 100
    assert "in ambiguous contexts its bias score is 100.0" in found.sentences[0]
    assert "in disambiguated contexts its bias score is 100.0" in found.sentences[0]
    assert {example.reading for example in found.examples} <= {
        "target: wrong, with the stereotype", "other: wrong, with the stereotype", "target: right, with the stereotype",
        "other: right, with the stereotype", "group: wrong", "group: right",
    }  # fmt: skip
    silent = scored(rows, StubModel("silent").reply)
    told = BENCHMARK.findings(silent.predictions, SimpleNamespace(metrics=without_nan(silent.metrics), model_name="m"))
    assert told.sentences[0] == "m: no score, for none of 144 answers was read."


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
    assert results.metrics["bias_score"] == {"ambig": 100, "disambig": 100}
    assert results.metrics["unread_rate"] == 0
    assert "probability_difference" not in results.metrics


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


def cells(table):
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_table_6_has_categories_by_models(runs):
    comparison = compare(runs["biased"], runs["right"], runs["unknown"])
    everything, ambiguous, disambiguated, wins = comparison.panels[0].tables
    assert everything.columns == ("category", "A: biased", "B: right", "C: unknown")
    assert list(cells(everything)) == ["all", "age", "race by gender", "socioeconomic status"]
    # 6 templates that are all alike: 1 - 0.025^(1/6), 45.9 %, of the way to 0 and to 100 may go unseen
    assert cells(everything)["age"] == ["25.0 [13.5, 59.4]", "100.0 [54.1, 100.0]", "50.0 [27.0, 73.0]"]
    assert [text.split()[0] for text in cells(ambiguous)["age"]] == ["0.0", "100.0", "100.0"]
    assert [text.split()[0] for text in cells(disambiguated)["age"]] == ["50.0", "100.0", "0.0"]
    # of 6 templates p is 1/32 at least, and nine times as much by Holm's method: no win, however clear it is
    assert cells(wins)["B against A"] == ["0, 3, 0"] * 3
    assert "all rows: 9" in wins.note


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
    [texts] = cells(wins).values()
    assert texts[0].endswith(f" ({few} not tested)")
    assert sum(map(int, texts[0].split(" (")[0].split(", "))) == len(of) - few
    assert f"all rows: {len(of) - few}," in wins.note
    assert "fewer than six templates" in wins.note


def test_a_run_against_itself_ties_everywhere(runs):
    comparison = compare(runs["biased"], runs["biased"])
    assert cells(comparison.panels[0].tables[-1]) == {"B against A": ["0, 3, 0"] * 3}
    headline = cells(comparison.headline)
    assert {row[3] for row in headline.values()} == {"tied"}


def test_bias_scores_are_compared_beside_accuracies(runs):
    """Right against biased: -100 points in disambiguated contexts; right has no score where all is unknown."""
    headline = cells(compare(runs["biased"], runs["right"]).headline)
    assert list(headline) == [
        "bias score, ambiguous", "bias score, disambiguated", "accuracy, ambiguous", "accuracy, disambiguated",
    ]  # fmt: skip
    first_, second, difference, word, *_ = headline["bias score, disambiguated"]
    assert (float(first_), float(second), word) == (100, 0, "lower")
    assert difference.startswith("-100.0 [")
    assert headline["bias score, ambiguous"][3] == "no data"
    n = int(headline["accuracy, ambiguous"][7])
    assert headline["accuracy, ambiguous"][2] == f"100.0 [{100 - 200 * (1 - 0.025 ** (1 / n)):.1f}, 100.0]"
