"""Where several models play, seats are drawn: each model has each seat equally often, and the draw can be repeated."""

from collections import Counter
from dataclasses import replace

import pytest

from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBias
from evenhand.benchmarks.implicit_bias.case_study.benchmark import CaseStudy
from evenhand.benchmarks.implicit_bias.seating import SEATING, draw_seating
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.rows import drawn_rows
from tests.benchmarks.implicit_bias.stub_agents import Oracle, by_stereotype

AGENTS = (("a", "x"), ("b", "y"), ("c", "z"))


@pytest.mark.parametrize("models", [2, 3])
@pytest.mark.parametrize("benchmark", [ImplicitBias(), CaseStudy()], ids=lambda each: each.card.name)
def test_every_model_has_every_seat_equally_often(benchmark, models):
    """Of rows of one size; in a row no model has two seats more than another."""
    config = benchmark.configuring.filled(run_config(benchmark.card.name, "", agents=AGENTS[:models], limit=42))
    rows = drawn_rows(benchmark, config).rows
    assert rows[SEATING] == drawn_rows(benchmark, config).rows[SEATING]
    assert rows[SEATING] != drawn_rows(benchmark, replace(config, seed=1)).rows[SEATING]
    for seats in {len(row) for row in rows[SEATING]}:
        of_size = [row for row in rows[SEATING] if len(row) == seats]
        for seat in range(seats):
            counts = Counter(row[seat] for row in of_size)
            assert max(counts.values()) - min(counts[model] for model in range(models)) <= 1
        assert all(
            max(counts) - min(counts) <= 1 for counts in ([row.count(m) for m in range(models)] for row in of_size)
        )


def test_no_model_speaks_first_by_its_place_in_the_list():
    """Over many rows also orders are drawn: each of the six arrangements of two and two comes up."""
    found = Counter(tuple(draw_seating(4, 2, 0, number)) for number in range(240))
    assert len(found) == 6
    assert min(found.values()) > 20


def test_genders_are_not_models_either():
    """Men and women of the case study sit in a fixed order; the models' seats know nothing of it."""
    benchmark = CaseStudy()
    rows = drawn_rows(
        benchmark, benchmark.configuring.filled(run_config(benchmark.card.name, "", agents=AGENTS[:2]))
    ).rows
    counts = Counter(pair for row in rows for pair in zip(row[SEATING], row["genders"]))
    assert sum(counts.values()) == 90 * 4
    assert all(abs(n - 90) <= 15 for n in counts.values())


def test_models_change_seats_by_runs_and_predictions_say_who_sat_where(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.flow.evaluation.load_model", lambda name, **loading: Oracle(by_stereotype, name))
    config = run_config("implicit_bias", agents=AGENTS[:2], limit=8, runs=2)
    predictions = evaluate(config, tmp_path / "run").read_predictions()
    first = predictions[predictions["stage"] == "first"]
    for _, of in first.groupby("scenario_id"):
        one, other = (of[of["run"] == run].sort_values("seat") for run in (0, 1))
        assert one["seat"].tolist() == other["seat"].tolist() == list(range(1, len(one) + 1))
        assert one["turn"].is_monotonic_increasing
        assert all(a != b for a, b in zip(one["agent_model"], other["agent_model"]))


def test_alone_nobody_has_a_seat(tmp_path):
    config = run_config("implicit_bias", "m", setting="none", limit=2)
    predictions = evaluate(config, tmp_path / "run", model=Oracle(by_stereotype)).read_predictions()
    assert set(predictions["seat"]) == {0}


def test_a_row_is_seated_without_a_run():
    """Whoever trains asks rows of the dataset: they are drawn by their ids, and known by the same."""
    benchmark = ImplicitBias()
    config = benchmark.configuring.filled(run_config("implicit_bias", "", agents=AGENTS[:2]))
    rows = benchmark.load(config).rows.select(range(40))
    asked = [[each.agent for each in benchmark.ask(row, config.asking())] for row in rows]
    assert asked == [[each.agent for each in benchmark.ask(row, config.asking())] for row in rows]
    assert len({tuple(each) for each in asked if len(each) == 4}) == 6
