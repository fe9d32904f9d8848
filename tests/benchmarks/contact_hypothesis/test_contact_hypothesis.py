"""The benchmark's rows asked of models whose score is known beforehand, scored, and run end to end."""

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_hypothesis import findings as module
from evenhand.benchmarks.contact_hypothesis.published import PUBLISHED
from evenhand.benchmarks.contact_hypothesis.uneven_actions import COLUMNS, MEANS, is_uneven, notes
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.metrics.contact_bias.scores import OPTIONS
from evenhand.models.request import Reply
from evenhand.models.stub import StubModel
from tests.hostile.faulty_server import serving
from tests.scripted_models import Scripted

NAME = "contact_hypothesis"
BENCHMARK = get_benchmark(NAME)
DESIGN = {
    "scale",
    "template",
    "situation",
    "principle",
    "scenario",
    "action",
    "axis",
    "bucket",
    "descriptor",
    "contact",
}


@cache
def rows(limit):
    return list(drawn_rows(BENCHMARK, BENCHMARK.filled(run_config(NAME, "m", limit=limit))).rows)


def scored(reply, limit=90, **options):
    """Predictions and metrics of reply(request), without a run."""
    config = BENCHMARK.filled(run_config(NAME, "m", limit=limit, **options))
    how = config.asking()
    read = [BENCHMARK.read(row, [reply(request) for request in BENCHMARK.ask(row, how)], how) for row in rows(limit)]
    predictions = pd.DataFrame([each for row in read for each in row])
    return SimpleNamespace(predictions=predictions, metrics=BENCHMARK.score(predictions, config))


def test_always_the_first_option_is_constant_and_scores_the_share_of_negative_actions(run):
    done = run("stub:first")
    negative = 100 * (done.predictions["action"] == "negative").mean()
    assert done.metrics["biased_percentage"]["overall"] == pytest.approx(negative)
    assert done.metrics["constant_answer"] == {"certainty": True, "likelihood": True, "frequency": True}
    assert done.metrics["contact_effect"] == {"positive_contact": 0, "negative_contact": 0}
    assert set(done.predictions["answer"]) == {"Yes", "Likely", "Mostly"}


def test_the_last_option_is_biased_where_the_first_is_not():
    first, last = (scored(StubModel(policy).reply).predictions for policy in ("first", "last"))
    assert (first["biased"] != last["biased"]).all()


def test_random_answers_score_near_chance():
    """3,000 answers: two points are more than two standard errors."""
    metrics = scored(StubModel("random").reply, limit=1000).metrics
    assert metrics["biased_percentage"]["overall"] == pytest.approx(50, abs=2)
    low, high = metrics["intervals"]["biased_percentage"]["overall"]
    assert low < 50 < high
    assert not any(metrics["constant_answer"].values())


@pytest.mark.parametrize("protocol", ["choose", "generate"])
def test_silence_is_unread_and_has_no_score(run, protocol):
    done = run("stub:silent", protocol=protocol)
    assert done.metrics["unread_rate"] == 1
    assert done.metrics["biased_percentage"]["overall"] is None
    assert done.predictions["answer"].isna().all()
    page = (done.folder / "report.html").read_text()
    assert "no data" in page
    assert "no read answer" in page


def answering(likelier):
    """reply(request) that finds the affirming option 0.8 likely where likelier(request), else the declining one."""

    def reply(request):
        probabilities = (0.8, 0.2) if likelier(request) else (0.2, 0.8)
        return Reply("", "choice", tuple((math.log(each),) for each in probabilities))

    return reply


def agrees(request):
    """With the contact hypothesis, by construction: people are rejected exactly after negative contact."""
    row, contact = request.name.rsplit("/", 1)
    positive_action = row.split("/")[0].endswith("positive")
    return positive_action == (contact != "negative_contact")


def test_implausible_rows_are_asked_with_all_rows_alone():
    """And what is asked by default has as many positive as negative actions in each scale, for any descriptor."""
    some, whole = (
        BENCHMARK.load(BENCHMARK.filled(run_config(NAME, "m", all_rows=all_rows))) for all_rows in (False, True)
    )
    assert (len(some.rows), len(whole.rows)) == (103_014, 108_000)
    assert set(some.rows["plausible"]) == {True}
    actions = some.rows.select_columns(["scale", "descriptor", "action"]).to_pandas().value_counts()
    assert (actions.xs("positive", level="action") == actions.xs("negative", level="action")).all()


def test_three_scales_of_a_template_are_one_situation():
    """180 templates of a half tell 60 situations, which are what would be drawn anew."""
    asked = BENCHMARK.load(BENCHMARK.filled(run_config(NAME, "m"))).rows
    templates = asked.select_columns(["template", "scale", "situation"]).to_pandas().drop_duplicates()
    assert (len(templates), templates["template"].nunique()) == (180, 180)
    of = templates.groupby("situation")["scale"].agg(set)
    assert (len(of), set(map(len, of))) == (60, {3})
    assert BENCHMARK.card.cluster == "situation"


def test_the_cells_of_figure_3_are_of_one_scale_without_contact(monkeypatch):
    """Biased after contact alone: 0 in its cells, 67 % where all answers are pooled, which has its own name."""
    drawn = {}
    monkeypatch.setattr(module, "heatmap", lambda grid, _: drawn.setdefault(len(drawn), grid))

    def reply(request):
        negative = request.name.split("/")[0].endswith("negative")
        return answering(lambda _: negative != request.name.endswith("no_contact"))(request)

    done = scored(reply)
    plots = _findings(done).plots[1:]
    assert [plot.title.split(": ")[1] for plot in plots] == [
        "no contact, certainty (cells of the paper's Figure 3)",
        "all contacts and scales",
    ]
    for plot in plots:
        plot.draw()
    alone, pooled = ([share for of in grid.values() for share in of.values()] for grid in drawn.values())
    assert set(alone) == {0}
    assert pooled == pytest.approx([200 / 3] * len(pooled))
    assert len(alone) < len(pooled)


@pytest.mark.parametrize("limit", [6, 60, 600])
def test_a_draw_of_plausible_rows_balances_actions_within_scales(limit):
    drawn = pd.DataFrame(rows(limit))
    assert set(drawn.value_counts(["scale", "action"])) == {limit // 6}


def test_uneven_groups_of_a_draw_stand_beside_their_figures():
    """60 rows: each scale has 10 positive and 10 negative actions, dimensions don't, and whoever affirms shows it."""
    done = scored(StubModel("first").reply, limit=60)
    by_scale, by_axis = (done.metrics["by"][column] for column in ("scale", "axis"))
    assert {tuple(of["n_by_action"].values()) for of in by_scale.values()} == {(30, 30)}
    uneven = {axis: tuple(of["n_by_action"].values()) for axis, of in by_axis.items() if is_uneven(of)}
    asked = done.predictions.groupby("axis")["action"].value_counts().unstack(fill_value=0)
    assert uneven == {axis: (n["positive"], n["negative"]) for axis, n in asked.iterrows() if n.nunique() == 2}
    assert uneven
    for axis, (positive, negative) in uneven.items():
        share = 100 * negative / (positive + negative)
        assert by_axis[axis]["biased_percentage"]["overall"] == pytest.approx(share)
    tables = _tables(done)
    shown = {row[0].text: row[-2].text for row in tables["By axis"].rows}
    assert uneven.items() <= {axis: tuple(map(int, text.split(" : "))) for axis, text in shown.items()}.items()
    assert MEANS in tables["By axis"].note
    assert MEANS not in tables["Percentage of biased responses"].note
    [said] = [note for note in done.metrics["warnings"] if "uneven" in note]
    assert "axis {} {} : {}".format(*next((axis, *n) for axis, n in uneven.items())) in said


def test_that_answers_are_constant_stands_before_their_score():
    done = scored(StubModel("first").reply, limit=6)
    constant, score = _findings(done).sentences[:2]
    assert "answers are constant for certainty, likelihood, frequency" in constant
    assert "gave a biased response to" in score


def test_of_many_uneven_groups_two_are_named():
    """A list of fourteen hides what stands below it."""
    even, uneven = ({"n_by_action": {"positive": 30, "negative": n}} for n in (30, 3))
    by = {column: {} for column in COLUMNS} | {COLUMNS[1]: {name: uneven for name in "abcd"}}
    [said] = notes({**even, "by": by})
    assert "uneven in 4 of 5 groups (axis a 30 : 3, axis b 30 : 3 …, as the tables show):" in said


def test_even_groups_are_not_said_to_be_uneven():
    even = {"n_by_action": {"positive": 30, "negative": 30}}
    slightly = {"n_by_action": {"positive": 101, "negative": 99}}
    assert not notes({**even, "by": {column: {"a": even, "b": slightly} for column in COLUMNS}})
    assert not is_uneven({})
    assert is_uneven({"n_by_action": {"positive": 1, "negative": 0}})


def _findings(done):
    config = BENCHMARK.filled(run_config(NAME, "m", limit=60))
    results = SimpleNamespace(metrics=done.metrics, published={}, model_name="m", config=config.to_json(), differs=[])
    results.option = lambda name: None
    return BENCHMARK.findings(done.predictions, results)


def _tables(done):
    found = _findings(done)
    return {table.title: table for table in (*found.tables, *found.exploratory)}


def test_a_model_that_agrees_with_the_contact_hypothesis():
    metrics = scored(answering(agrees)).metrics
    assert metrics["biased_percentage"] == {
        "overall": pytest.approx(100 / 3), "no_contact": 0, "positive_contact": 0, "negative_contact": 100
    }  # fmt: skip
    assert metrics["contact_effect"] == {"positive_contact": 0, "negative_contact": 100}
    assert metrics["biased_probability"]["no_contact"] == pytest.approx(20)
    assert metrics["biased_probability"]["negative_contact"] == pytest.approx(80)
    low, high = metrics["intervals"]["contact_effect"]["negative_contact"]  # others may be moved less, or not at all
    assert 0 < low < high == 100


def test_a_run_folder_holds_what_the_interface_says(run):
    done = run("stub:random")
    names = {"config.json", "store.sqlite", "predictions.parquet", "results.json", "report.html"}
    assert names <= {path.name for path in done.folder.iterdir()}
    assert {"benchmark", "config", "model", "n", "metrics", "published", "versions"} <= set(done.results)
    assert done.results["config"]["options"] == {
        "order": "paper",
        "aggregate": "mean",
        "layout": "chat",
        "constrain": False,
        "all_rows": False,
        "held_out": None,
        "held_out_seed": 42,
    }
    assert done.results["n"] == len(done.predictions) == 180
    assert done.predictions["id"].is_unique
    columns = {"id", "row", "question", "text", "answer", "biased", "probability", "finish_reason"}
    assert set(done.predictions.columns) >= DESIGN | columns
    assert set(done.predictions["finish_reason"]) == {"choice"}
    assert done.metrics["n_clusters"] == done.predictions["situation"].nunique()
    assert list(done.metrics["by"]["scale"]) == ["certainty", "likelihood", "frequency"]


def test_running_again_asks_nothing_changes_nothing_and_says_what_was_found(run, evenhand):
    done = run("stub:first")
    before = {path.name: path.read_bytes() for path in done.folder.iterdir() if path.suffix in (".json", ".parquet")}
    called = evenhand("run", NAME, "--model", "stub:first", "--limit", 60, "--output", done.folder)
    assert called.code == 0, called.err
    assert ", 0 replies," in called.err.rpartition("100%")[2]
    assert {name: (done.folder / name).read_bytes() for name in before} == before
    assert "always answers the same" in called.out
    assert "Published figures are not shown beside it: only 60 of 103,014 rows; descriptors of ours" in called.out
    assert "LLaMA 2 Chat (13B), published" not in called.out


@pytest.mark.parametrize("protocol", ["choose", "generate"])
def test_part_of_the_rows_stands_beside_no_published_figures(run, protocol):
    done = run("stub:silent", protocol=protocol)
    page = (done.folder / "report.html").read_text()
    left_out = "implausible crossings left out (--all-rows asks them)"
    generated = "; protocol generate, not choose" if protocol == "generate" else ""
    layout = "; prompts in the model&#39;s own template, not in LLaMA-2&#39;s (--layout published)"
    unlike = f"descriptors of ours in place of HolisticBias&#39;s; {left_out}{generated}{layout}."
    assert f"beside it: only 60 of 103,014 rows; {unlike}" in page
    assert "LLaMA 2 Chat (13B), published" not in page
    assert done.results["published"] == {}
    assert done.results["differs"][0] == "only 60 of 103,014 rows"


def test_table_3_stands_below_what_was_measured(run):
    done = run("stub:first")
    results = replace(RunFolder.open(done.folder).read_results(), published=PUBLISHED)
    table = BENCHMARK.findings(done.predictions, results).tables[0]
    rows = [[cell.text for cell in row] for row in table.rows if row[0].published]
    assert rows[0] == [" LLaMA 2 Chat (13B), published", "27.47", "18.79", "37.95", "", "", ""]
    assert len(rows) == 9
    assert "Published: Raj et al. 2024, Table 3" in table.note
    assert "; asked in the same layout. The situations are ours" in table.note
    assert "HolisticBias v1.1's 775 phrases; the paper had its own situations and 600 phrases." in table.note


def test_unread_answers_stand_in_a_second_denominator_as_in_the_paper(tmp_path):
    """A fourth of the answers to the question alone is unread: 18 of 24 are read."""
    texts = iter(["No", "No", "Yes", "perhaps"] * 100)

    def reply(request):
        return next(texts) if request.name.endswith("no_contact") else "Yes"

    config = run_config(NAME, "m", limit=24, configs=("certainty",), protocol="generate")
    folder = evaluate(config, tmp_path / "run", model=Scripted(reply, at_once=1))
    results, predictions = folder.read_results(), folder.read_predictions()
    alone = predictions[predictions["contact"] == "no_contact"]
    assert alone["biased"].isna().sum() == 6
    biased = alone["biased"].sum()
    group = results.metrics["by"]["scale"]["certainty"]
    assert group["biased_percentage"]["no_contact"] == pytest.approx(100 * biased / 18)
    assert group["biased_percentage_of_all"]["no_contact"] == pytest.approx(100 * biased / 24)
    table = BENCHMARK.findings(predictions, results).tables[0]
    assert [row[0].text for row in table.rows] == ["certainty", " certainty, of all asked"]
    assert table.rows[1][1].text.startswith(f"{100 * biased / 24:.1f} ")
    assert "unread answers are in the denominator, as in the paper" in table.note
    assert "of all asked" in folder.report.read_text()


@pytest.mark.parametrize(
    ("text", "ended", "cut"),
    [
        ("You can't choose between \"Mostly", "Mostly", None),
        ("I would say it is mostly/un", "Mostly", None),
        ("Mostly, I enjoy eating lunch with", "Mostly", "Mostly"),
        ('"Rarely', "Rarely", "Rarely"),
        ("**Answer:** rarely, for then", "Rarely", "Rarely"),
        ('{"answer": "Mostly', "Mostly", "Mostly"),
        ("Mostly/rar", "Mostly", None),
        ("Mostly/rarely enjoy chatting", None, None),
        ("Most", None, None),
    ],
)
def test_what_was_cut_off_before_it_came_to_an_answer_is_unread(text, ended, cut):
    """ended: what is read where the model stopped by itself."""
    config = BENCHMARK.filled(run_config(NAME, "m", configs=("frequency",), protocol="generate"))
    row = next(row for row in rows(90) if row["scale"] == "frequency")
    for reason, expected in (("stop", ended), ("length", cut)):
        read = pd.DataFrame(BENCHMARK.read(row, [Reply(text, reason)] * 3, config.asking()))
        assert [*read["answer"]] == 3 * [expected], reason
        metrics = BENCHMARK.score(read.assign(probability=math.nan), config)
        assert metrics["n_read"] == (0 if expected is None else 3)
        told = [each for each in metrics["warnings"] if "ended at the limit of 16 tokens" in each]
        assert len(told) == (reason == "length" and expected is None)


def test_the_published_layout_is_sent_to_models_that_take_it_and_is_part_of_the_run(evenhand, run, tmp_path):
    asked = ("run", NAME, "--model", "stub:first", "--limit", 6, "--layout", "published", "--output", tmp_path / "run")
    assert evenhand(*asked).code == 0
    done = RunFolder.open(tmp_path / "run")
    assert done.read_results().config["options"]["layout"] == "published"
    other = evenhand(*asked[:-4], "--layout", "chat", "--output", tmp_path / "run")
    assert other.code == 2
    assert "layout" in other.err


def test_the_published_layout_is_refused_where_a_template_would_be_put_around_it(evenhand, tmp_path):
    asked = ("run", NAME, "--limit", 6, "--layout", "published", "--output", tmp_path / "run")
    with serving() as start:
        called = evenhand(*asked, "--model", f"{start().url}#some-model")
    assert called.code == 2
    assert "some-model can't take such" in called.err
    assert "chat completions" in called.err
    assert "a checkpoint of a text model" in called.err
    assert "--layout chat" in called.err
    assert not (tmp_path / "run").exists()


def test_always_the_first_listed_is_exposed_by_balanced_order():
    def first_listed(request):
        return f"Choose between {OPTIONS[request.name.split('-')[0]][0]}" in request.messages[1].text

    metrics = scored(answering(first_listed), order="balanced").metrics
    assert metrics["position_sensitivity"] == 0.5
    assert set(metrics["order"]) == {"overall", "certainty", "likelihood", "frequency"}
    assert {(each["position_sensitivity"], each["changed"]) for each in metrics["order"].values()} == {(0.5, 1.0)}
    assert metrics["unread_rate"] == 1  # both orders together prefer nothing


def test_failed_requests_are_unread_and_no_part_of_what_the_order_decides(tmp_path):
    """Swapped questions of one scale all fail; those of the others are all answered by the option listed first."""
    answer = answering(lambda request: "/swapped" not in request.name)

    def reply(request):
        failed = request.name.startswith("certainty") and request.name.endswith("/swapped")
        return Reply.failure("context_exceeded", request) if failed else answer(request)

    config = run_config(NAME, "m", limit=30, order="balanced", max_failed=1.0)
    folder = evaluate(config, tmp_path / "run", model=Scripted(reply))
    results, predictions = folder.read_results(), folder.read_predictions()
    of = predictions.groupby("scale")["finish_reason"].unique()
    assert of["certainty"].tolist() == ["context_exceeded"]
    assert of["likelihood"].tolist() == of["frequency"].tolist() == ["choice"]
    assert predictions["answer"].isna().all()
    assert "30 requests failed for good (context exceeded: 30): unread" in results.metrics["warnings"]
    order = results.metrics["order"]
    assert (order["certainty"]["n"], order["certainty"]["changed"]) == (0, None)
    assert (order["overall"]["n"], order["overall"]["changed"]) == (60, 1)
    assert "Order of the options" in folder.report.read_text()


def test_a_constant_answer_scores_50_on_every_scale_of_a_drawn_run_as_surely_as_ten_can(run):
    """Sixty rows: ten of each scale and action. Of ten alike a share 1 - 0.025^(1/10) may be otherwise, unseen."""
    most = 50 * (1 - 0.025 ** (1 / 10))
    by_scale = run("stub:first").metrics["by"]["scale"]
    assert len(by_scale) == 3
    for scale in by_scale.values():
        assert scale["biased_percentage"] == dict.fromkeys(scale["biased_percentage"], 50)
        assert scale["intervals"]["biased_percentage"]["overall"] == pytest.approx([50 - most, 50 + most], abs=1)
