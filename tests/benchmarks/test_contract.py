"""What holds of every benchmark, and of one of another package: its table of figures, and all that read it."""

import csv
import io
import json
import math
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.figure import FigureRow, FigureTable
from evenhand.flow.results import published_beside, without_nan
from evenhand.flow.run_folder import RunFolder
from evenhand.gating.gate import gate
from evenhand.gating.judgement import list_judgeable
from evenhand.gating.pairs import pair_runs
from evenhand.gating.policy import Policy
from evenhand.hub.leaderboard.board import make_board
from evenhand.hub.leaderboard.sources import build_run_record, gather
from evenhand.plugins import Registry
from evenhand.profiling.found import read_profile, write_profile
from evenhand.profiling.settings import Settings, run_path
from evenhand.report.agreement import agree, distance_from_no_bias
from evenhand.report.comparison import compare
from evenhand.report.pages import write_report
from tests.edited_runs import write_predictions

PLUGIN = {"chores": "evenhand_chores:Chores", "offers": "evenhand_offers:Offers"}
RUNS = {
    "contact_hypothesis": ("stub:random", {"limit": 24}),
    "contact_controls": ("stub:random", {"limit": 14}),
    "bbq": ("stub:random", {"limit": 48}),
    "utility": ("stub:say:seven", {"limit": 40}),
    "labe": (
        "stub:random:led the team.|was kind and gentle.",
        {"limit": 48, "configs": ("biography",), "classifiers": ("lexicon",)},
    ),
    "implicit_bias": ("stub:random", {"limit": 4, "protocol": "rank"}),
    "implicit_bias_understanding": ("stub:random", {"limit": 12}),
    "implicit_bias_case_study": ("stub:random", {"limit": 9, "protocol": "rank", "classifiers": ("lexicon",)}),
    "mllm_stereotypes": ("stub:random:male|female", {"limit": 30, "configs": ("persona_gender",)}),
    "chores": ("stub:random", {}),
    "offers": ("stub:say:1200", {}),
}
MEASURES = ("contact_hypothesis", "chores")  # of one stub
HEAVY = ("pandas", "torch", "scipy", "datasets", "transformers", "sklearn")
OF_RECORDS = {"model", "figure", "value", "low", "high", "n", "source"}
EPSILON = 1e-9


@pytest.fixture(scope="module", autouse=True)
def installed(root):
    """The plugin's benchmarks beside evenhand's; and official data where this checkout has them."""
    anew = Registry("benchmark", "evenhand.benchmarks", {**BENCHMARKS.own, **PLUGIN})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "tests" / "plugins" / "example")
        for module in ("benchmarks", "flow.commands", "report.pages", "hub.leaderboard.board"):
            patch.setattr(f"evenhand.{module}.BENCHMARKS", anew, raising=False)
        patch.setenv("EVENHAND_SOURCES", str(root.parent / "shared" / "sources"))
        yield
    for module in PLUGIN.values():
        sys.modules.pop(module.partition(":")[0], None)


@pytest.fixture(params=RUNS)
def run(request, finished, root):
    """A small run of each benchmark, made once: look, and leave it as it is."""
    if request.param == "bbq" and not (root.parent / "shared" / "sources" / "bbq").is_dir():
        pytest.skip("the published questions of bbq are not here")
    model, options = RUNS[request.param]
    path = finished(request.param, model, **options)
    folder = RunFolder.open(path)
    return SimpleNamespace(
        path=path, folder=folder, results=folder.read_results(), benchmark=get_benchmark(request.param), model=model
    )


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run.path, tmp_path / "copy")


def findings(run):
    return run.benchmark.findings(run.benchmark.prepare(run.folder.read_predictions()), run.results)


def test_every_benchmark_is_run():
    assert set(RUNS) == {*BENCHMARKS.own, *PLUGIN}


# The table


def test_figures_are_declared_consistently(run):
    figures = run.benchmark.figures
    assert len({each.key for each in figures}) == len({each.name for each in figures}) == len(figures)
    for each in figures:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", each.key)
        assert set(each.judged_by_default) <= set(each.groupings)
        if each.statistic.range is not None:
            low, high = each.statistic.range
            assert low < high
            assert each.best != "zero" or low <= 0 <= high
            assert each.chance is None or low <= each.chance <= high
            if each.unit in ("percent", "share"):
                assert (low, high) == {"percent": (0, 100), "share": (0, 1)}[each.unit] or low < 0


def test_the_table_has_what_was_declared(run):
    table = run.results.figures
    assert len(table) > 0
    keys = [each.key for each in run.benchmark.figures]
    assert [keys.index(row.figure) for row in table] == sorted(keys.index(row.figure) for row in table)
    assert len({(row.figure, *sorted(row.groups.items())) for row in table}) == len(table)
    for row in table:
        of = run.benchmark.figure(row.figure)
        assert row.unit == of.unit
        assert row.headline == (of.grouping_of(row.groups) in of.headline)
        assert run.results.figures.row(row.figure, **row.groups) is row


def test_its_numbers_are_possible(run):
    inside = []
    for row in run.results.figures:
        what = (row.figure, row.groups)
        assert 0 <= row.n_read <= row.n, what
        assert 0 <= row.n_clusters <= row.n_clusters_asked <= row.n, what
        assert math.isnan(row.low) == math.isnan(row.high), what
        if row.interval is not None:
            assert row.low <= row.high, what
            inside.append(row.low - EPSILON <= row.value <= row.high + EPSILON)
        if (within := run.benchmark.figure(row.figure).statistic.range) is not None:
            low, high = within[0] - EPSILON, within[1] + EPSILON
            for number in (row.value, row.low, row.high, row.chance):
                assert number is None or math.isnan(number) or low <= number <= high, what
    assert sum(inside) >= 0.95 * len(inside)


def test_the_run_counts_its_answers(run):
    assert 0 <= run.results.n_read <= run.results.n
    assert run.results.n > 0
    distance = distance_from_no_bias(run.benchmark, run.results.figures)
    assert isinstance(distance, float)
    assert math.isnan(distance) or distance >= 0


def test_the_table_survives_json(run):
    table = run.results.figures
    computed = run.benchmark.sample(run.folder.read_predictions())
    assert len(computed)
    written = json.loads(json.dumps(without_nan([row.to_json() for row in table]), allow_nan=False))
    read = FigureTable(map(FigureRow.from_json, written))
    assert list(map(repr, read)) == list(map(repr, table))
    assert json.loads(json.dumps(without_nan(run.results.to_json()))) == json.loads(run.folder.results.read_text())


def test_the_table_is_a_frame_of_exact_numbers(run):
    """pandas.DataFrame(results["figures"]) is the result."""
    frame = run.results.figures.to_frame()
    record = json.loads(run.folder.results.read_text())
    of_json = pd.DataFrame(record["figures"])
    numbers = ["value", "low", "high", "n", "n_read", "n_clusters", "chance"]
    for each in (frame, of_json):
        each[numbers] = each[numbers].astype(float)
    pd.testing.assert_frame_equal(of_json, frame, check_exact=True)
    for number, row in zip(frame["value"], run.results.figures, strict=True):
        assert number == row.value or (math.isnan(number) and math.isnan(row.value))


def test_warnings_have_codes(run):
    for each in run.results.warnings:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", each.code)
        assert each.text.strip()
        assert all(isinstance(value, str) for value in each.groups.values())


def test_published_records_have_the_columns_of_figures(run):
    config = run.folder.read_config()
    for record in published_beside(type(run.benchmark)):
        assert {"model", "figure", "source"} <= record.keys()
        assert isinstance(record.get("value", record.get("low")), float)
    for record in run.benchmark.configuring.published(config):
        assert isinstance(record.get("value", record.get("low")), float)
        assert record["figure"] in {each.key for each in run.benchmark.figures}
        figure = run.benchmark.figure(record["figure"])
        groups = record.keys() - OF_RECORDS
        known = [set(row.groups) for row in run.results.figures if row.figure == figure.key]
        assert groups in (known or [set(columns) for columns in figure.groupings]), record


# The report


def test_tables_hold_exact_numbers_of_the_figures(run):
    """In frames and in what a page offers to save: a number with an interval is one of the table, to the last bit."""
    known = {(row.value, row.low, row.high) for row in run.results.figures}
    found = findings(run)
    assert found.tables
    for table in (*found.tables, *found.exploratory):
        for cell in (cell for row in table.rows for cell in row):
            of_helpers = table.title == "Classifiers"  # how good labe's are, on other texts
            if cell.low is not None and not (math.isnan(cell.low) or cell.published or of_helpers):
                assert (cell.value, cell.low, cell.high) in known, (table.title, cell)
        header, *lines = csv.reader(io.StringIO(table.to_csv(), newline=""))
        frame = table.to_frame(object)
        assert header == list(frame.columns)
        for line, values in zip(lines, frame.to_numpy().tolist(), strict=True):
            for text, value in zip(line, values, strict=True):
                if isinstance(value, (int, float)):
                    assert float(text) == value


def test_no_cell_is_a_number_in_a_text(run):
    """Texts name rows; what could be computed with stays a number."""
    found = findings(run)
    for table in (*found.tables, *found.exploratory):
        for row in table.rows:
            for cell in row[1:]:
                if isinstance(cell.value, str):
                    assert not re.fullmatch(r"[<+-]?\d[\d,.]*( \[.*\])?( \(.*\))?%?", cell.value), (table.title, cell)


def test_the_report_renders_and_escapes(run, copy):
    loud = "<script>alert('loud')</script>"
    predictions = pd.read_parquet(copy / "predictions.parquet")
    write_predictions(copy, predictions.assign(text=loud))
    record = json.loads((copy / "results.json").read_text())
    record |= {"model_name": loud, "warnings": [*record["warnings"], {"code": "note", "text": loud, "groups": {}}]}
    (copy / "results.json").write_text(json.dumps(record))
    write_report(RunFolder.open(copy))
    page = (copy / "report.html").read_text()
    assert run.benchmark.card.title in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


# What else reads the table


def test_a_run_is_tied_with_itself(run, copy):
    found = compare(run.path, copy).differences
    assert found
    for name, each in found.items():
        assert not each.differs, name
        assert each.tied or not each.known, name
        assert math.isnan(each.estimate) or abs(each.estimate) < EPSILON, name


def test_the_gate_does_not_call_a_run_worse_than_itself(run, copy):
    [pair] = pair_runs(run.path, copy)
    without_worst = [(figure.label(row.groups), 9.0) for figure, row in list_judgeable(pair) if figure.span is None]
    found = gate(run.path, copy, Policy(figures=tuple(without_worst)))
    assert found.verdict != "worse"
    assert found.judgements


def test_agree_takes_it(run, finished):
    """Beside two measures of a model: it is one more of them, or it is said why it is left out."""
    others = [finished(name, model, **options) for name, (model, options) in RUNS.items() if name in MEASURES]
    found = agree(run.path, *others)
    measures = " ".join(cell.text for row in found.tables[0].rows for cell in row[:1])
    left_out = [each for each in found.warnings if str(run.path) in each]
    assert run.benchmark.card.name in measures or left_out
    assert all(each in measures for each in MEASURES)


def test_a_profile_shows_it(run, tmp_path):
    name = run.benchmark.card.name
    shutil.copytree(run.path, run_path(tmp_path, run.model, name))
    found = read_profile(tmp_path, Settings({"budget": "full"}, (run.model,), {name: None}))
    [measure] = found.measures
    assert measure.of(run.model).results.n == run.results.n
    write_profile(found, tmp_path / "profile.html")
    assert run.benchmark.card.title in (tmp_path / "profile.html").read_text()


def test_its_record_can_be_submitted(run):
    """Each of its scores is a number of the table."""
    record, _ = build_run_record(run.path, "lab/small-model", rehearsal=True)
    scores = [each["score_details"]["score"] for each in record["evaluation_results"]]
    values = [abs(row.value) for row in run.results.figures]  # those with a sign are distances from 0 there
    assert scores
    assert all(any(abs(abs(score) - value) < EPSILON for value in values) for score in scores)


def test_a_leaderboard_lists_it(run):
    found = gather([str(run.path)], rehearsal=True)
    assert not found.refused
    assert {each.column.benchmark.partition(".")[0] for each in found.records} == {run.benchmark.card.name}
    assert make_board(found).rows


# Importing


@pytest.mark.parametrize("name", RUNS)
def test_importing_it_is_light(name, root):
    module = {**BENCHMARKS.own, **PLUGIN}[name].partition(":")[0]
    code = f"import sys, {module}; print(*(each for each in {HEAVY!r} if each in sys.modules))"
    example = str(root / "tests" / "plugins" / "example")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {example!r}); {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []
