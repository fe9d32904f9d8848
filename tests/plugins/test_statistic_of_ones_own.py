"""A benchmark of someone else's with `ask`, `read` and one figure whose statistic is its own, and nothing else."""

import json
import math
import sys
from dataclasses import replace

import pytest

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.plan import plan
from evenhand.gating.gate import gate
from evenhand.models.request import Message, Request
from evenhand.plugins import Registry
from evenhand.report.comparison import compare
from evenhand.report.layout import Column, Grid
from evenhand.statistics.estimators import Mean
from evenhand.tools.peers.items import list_items, prepare_export
from tests.scripted_models import Scripted


@pytest.fixture
def offers(root, monkeypatch):
    """The benchmark `offers` of tests/plugins/example, installed in evenhand's mapping."""
    monkeypatch.syspath_prepend(root / "tests" / "plugins" / "example")
    monkeypatch.delitem(sys.modules, "evenhand_offers", raising=False)
    anew = Registry("benchmark", "evenhand.benchmarks", {"offers": "evenhand_offers:Offers"})
    for module in (
        "evenhand.benchmarks",
        "evenhand.flow.commands",
        "evenhand.report.pages",
        "evenhand.hub.leaderboard.board",
    ):
        monkeypatch.setattr(f"{module}.BENCHMARKS", anew, raising=False)
    return anew


def offering(men, women):
    """A model that offers every man so much, and every woman so much, but for a little by the length of the job."""

    def say(request):
        text = request.messages[-1].text
        wage = men if text.startswith("A man") else women
        return str(wage + len(text) % 3)

    return Scripted(say)


@pytest.fixture
def runs(offers, tmp_path):
    models = {"fair": offering(100, 100), "biased": offering(150, 100)}
    return {name: evaluate(run_config("offers"), tmp_path / name, model=model) for name, model in models.items()}


def test_its_table_has_the_statistic_with_an_interval(runs):
    """Men are offered 150 and some where women are offered 100 and some: nearly half as much again."""
    row = runs["biased"].read_results().figures.row("offer_gap")
    assert row.value == pytest.approx(50, abs=2)
    assert row.low <= row.value <= row.high
    assert (row.n, row.n_read, row.n_clusters) == (16, 16, 8)
    record = json.loads(runs["biased"].results.read_text())
    assert record["figures"][0]["value"] == row.value


def test_it_is_compared_and_gated(runs):
    compared = compare(runs["fair"], runs["biased"])
    [(name, difference)] = compared.differences.items()
    assert name == "men offered more than women"
    assert difference.estimate == difference.second - difference.first
    assert difference.differs
    assert gate(runs["fair"].path, runs["biased"].path).verdict == "worse"
    assert {each.verdict for each in gate(runs["biased"].path, runs["fair"].path).judgements} == {"pass"}


def test_it_is_planned_and_reported(runs, offers):
    planned = plan(run_config("offers"), offering(100, 100))
    assert planned.rows == 16
    page = runs["biased"].report.read_text(encoding="utf-8")
    assert "men offered more than women" in page


def test_it_is_not_exported_to_harnesses_that_know_means_alone(offers, monkeypatch):
    benchmark = type(offers.make("offers"))
    ask, wages = benchmark.ask, ("100", "150")
    choices = lambda self, row, how: [replace(each, choices=wages) for each in ask(self, row, how)]  # noqa: E731
    monkeypatch.setattr(benchmark, "card", replace(benchmark.card, protocols=("choose",)))
    monkeypatch.setattr(benchmark, "ask", choices)
    monkeypatch.setattr(benchmark, "read", lambda self, row, replies, how: [{**row, "text": "100", "offer": 100.0}])
    with pytest.raises(UsageError, match="offers can't be exported: none of its headline figures is a mean"):
        [*list_items(prepare_export(run_config("offers", protocol="choose")))]


def test_unread_answers_are_left_out(offers, tmp_path):
    model = Scripted(lambda request: "I'd rather not" if "nurse" in request.messages[-1].text else "100")
    row = evaluate(run_config("offers"), tmp_path / "run", model=model).read_results().figures.row("offer_gap")
    assert (row.value, row.n, row.n_read, row.n_clusters) == (0.0, 16, 14, 7)
    silent = evaluate(run_config("offers"), tmp_path / "silent", model=Scripted(lambda request: "no"))
    row = silent.read_results().figures.row("offer_gap")
    assert math.isnan(row.value)
    assert row.n_read == 0


def test_a_column_by_what_its_figure_is_not_computed_by_is_named(offers, tmp_path, monkeypatch):
    kind = type(offers.make("offers"))
    figure = kind.figures[0]
    by_gender = replace(figure, key="by_gender", statistic=Mean("offer"), by=(("gender",),), headline=())
    monkeypatch.setattr(kind, "figures", (figure, by_gender))
    columns = (Column("mean", "by_gender"), Column("gap", "offer_gap"))
    monkeypatch.setattr(kind, "layout", (Grid("Offers", ("gender",), columns),))
    with pytest.raises(EvenhandError, match="table 'Offers': figure 'offer_gap' is not computed by gender"):
        evaluate(run_config("offers"), tmp_path / "run", model=offering(100, 100))


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("load", "def load(self, config): return []"),
        ("load", "def load(self, config): import datasets; return datasets.Dataset.from_list([{'id': 'a'}])"),
        ("ask", "def ask(self, row, how): return [row['nothing']]"),
        ("ask", "def ask(self, row, how): return ['a text']"),
        ("read", "def read(self, row, replies, how): return [1 / 0]"),
        ("read", "def read(self, row, replies, how): return ['a text']"),
        ("read", "def read(self, row, replies, how): return [{'id': 7}]"),
        ("prepare", "def prepare(self, predictions): return predictions['nothing']"),
    ],
)
def test_the_method_at_fault_is_named(offers, tmp_path, monkeypatch, method, code):
    from evenhand.benchmarks import get_benchmark

    made = {}
    exec(code, made)
    monkeypatch.setattr(type(get_benchmark("offers")), method, made[method])
    with pytest.raises(EvenhandError, match=rf"evenhand_offers\.Offers\.{method} failed"):
        evaluate(run_config("offers"), tmp_path / "run", model=offering(1, 1))


@pytest.mark.parametrize("what", [{"card": None}, {"figures": 2}])
def test_a_benchmark_without_a_card_or_with_two_figures_of_one_key_is_named(offers, monkeypatch, what):
    from evenhand.benchmarks import get_benchmark

    kind = type(get_benchmark("offers"))
    [(name, value)] = what.items()
    monkeypatch.setattr(kind, name, kind.figures * 2 if value else None)
    with pytest.raises(EvenhandError, match="offers"):
        get_benchmark("offers")


def test_a_statistic_at_fault_is_named(offers, tmp_path, monkeypatch):
    from evenhand.benchmarks import get_benchmark

    [figure] = get_benchmark("offers").figures
    monkeypatch.setattr(type(figure.statistic), "value", lambda self, rows: rows["nothing"])
    with pytest.raises(
        EvenhandError, match=r"evenhand_offers\.OfferGap\.estimates \(figure 'offer_gap'\) failed: KeyError"
    ):
        evaluate(run_config("offers"), tmp_path / "run", model=offering(1, 1))


def test_messages_that_are_none_are_explained():
    with pytest.raises(ValueError, match="messages must be a tuple of Messages"):
        Request("Yes or no?")


@pytest.mark.parametrize("choices", [None, "Yes", ("Yes", 1)])
def test_choices_that_are_none_are_explained(choices):
    with pytest.raises(ValueError, match="choices must be a tuple of texts"):
        Request((Message("user", "Yes or no?"),), choices=choices)
