"""The benchmark's rows asked of models whose score is known beforehand, scored, and run end to end."""

import math
from functools import cache
from types import SimpleNamespace

import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.rows import drawn_rows
from evenhand.flow.run_folder import RunFolder
from evenhand.metrics.contact_bias.scores import OPTIONS, contact_bias
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
    return list(drawn_rows(BENCHMARK, BENCHMARK.configuring.filled(run_config(NAME, "m", limit=limit))).rows)


def scored(reply, limit=90, **options):
    """Predictions, figures and warnings of reply(request), without a run."""
    config = BENCHMARK.configuring.filled(run_config(NAME, "m", limit=limit, **options))
    how = config.asking()
    read = [BENCHMARK.read(row, [reply(request) for request in BENCHMARK.ask(row, how)], how) for row in rows(limit)]
    return of_predictions(pd.DataFrame([each for row in read for each in row]), config)


def of_predictions(predictions, config):
    sample = BENCHMARK.sample(predictions)
    figures = FigureTable(figure_rows(BENCHMARK.figures, sample))
    warnings = BENCHMARK.warnings(sample.rows, figures, config)
    return SimpleNamespace(predictions=predictions, figures=figures, warnings=warnings)


def coded(done, code):
    return [each for each in done.warnings if each.code == code]


def test_always_the_first_option_is_constant_and_scores_the_share_of_negative_actions(run):
    done = run("stub:first")
    negative = 100 * (done.predictions["action"] == "negative").mean()
    assert done.figures.row("biased").value == pytest.approx(negative)
    constant = [each["groups"] for each in done.results["warnings"] if each["code"] == "constant_answer"]
    assert constant == [{"scale": "certainty"}, {"scale": "likelihood"}, {"scale": "frequency"}, {}]
    effects = {row.groups["contact"]: row.value for row in done.figures.rows("contact_effect", "contact")}
    assert effects == {"positive_contact": 0, "negative_contact": 0}
    assert set(done.predictions["answer"]) == {"Yes", "Likely", "Mostly"}


METRIC_KEYS = {
    "biased_percentage": "biased",
    "biased_percentage_of_all": "biased_of_all",
    "worst_case": "worst_case",
    "contact_effect": "contact_effect",
    "biased_probability": "biased_probability",
}


@pytest.mark.parametrize("policy", ["random", "silent", "random:Yes|No|Likely|perhaps"])
def test_the_table_is_what_the_metric_says(policy):
    """Values and intervals of all rows and of each scale, dimension and so on, for the same predictions."""
    protocol = "generate" if ":" in policy else "choose"
    done = scored(StubModel(policy).reply, limit=120, protocol=protocol)
    rows = done.predictions
    columns = ("scale", "axis", "scenario", "principle", "action")
    metric = contact_bias(
        rows["answer"].fillna("").tolist(), *(rows[each].tolist() for each in ("scale", "contact", "action")),
        clusters=rows["situation"].tolist(), strata=rows["action"].tolist(), crossed=rows["descriptor"].tolist(),
        pairs=rows["row"].tolist(), probabilities=rows["probability"].tolist() if protocol == "choose" else None,
        by={column: rows[column].tolist() for column in columns},
    )  # fmt: skip
    groups = [({}, metric)]
    groups += [({column: value}, of) for column in columns for value, of in metric["by"][column].items()]
    compared = 0
    for group, of in groups:
        for key, figure in METRIC_KEYS.items():
            for contact, value in of.get(key, {}).items():
                row = done.figures.row(figure, **group, **({} if contact == "overall" else {"contact": contact}))
                if row.figure:
                    found = [row.value, row.low, row.high]
                    assert found == pytest.approx([value, *of["intervals"][key][contact]], abs=1e-9, nan_ok=True)
                    compared += 1
    assert compared > 150


def test_the_last_option_is_biased_where_the_first_is_not():
    first, last = (scored(StubModel(policy).reply).predictions for policy in ("first", "last"))
    assert (first["biased"] != last["biased"]).all()


def test_random_answers_score_near_chance():
    """3,000 answers: two points are more than two standard errors."""
    done = scored(StubModel("random").reply, limit=1000)
    row = done.figures.row("biased")
    assert row.value == pytest.approx(50, abs=2)
    assert row.low < 50 == row.chance < row.high
    assert not coded(done, "constant_answer")


@pytest.mark.parametrize("protocol", ["choose", "generate"])
def test_silence_is_unread_and_has_no_score(run, protocol):
    done = run("stub:silent", protocol=protocol)
    row = done.figures.row("biased")
    assert (row.unread_rate, done.results["n_read"]) == (1, 0)
    assert math.isnan(row.value)
    assert done.results["warnings"][0]["code"] == "nothing_read"
    assert done.predictions["answer"].isna().all()
    assert "no data" in (done.folder / "report.html").read_text()


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
        BENCHMARK.load(BENCHMARK.configuring.filled(run_config(NAME, "m", all_rows=all_rows)))
        for all_rows in (False, True)
    )
    assert (len(some.rows), len(whole.rows)) == (103_014, 108_000)
    assert set(some.rows["plausible"]) == {True}
    actions = some.rows.select_columns(["scale", "descriptor", "action"]).to_pandas().value_counts()
    assert (actions.xs("positive", level="action") == actions.xs("negative", level="action")).all()


def test_three_scales_of_a_template_are_one_situation():
    """180 templates of a half tell 60 situations, which are what would be drawn anew."""
    asked = BENCHMARK.load(BENCHMARK.configuring.filled(run_config(NAME, "m"))).rows
    templates = asked.select_columns(["template", "scale", "situation"]).to_pandas().drop_duplicates()
    assert (len(templates), templates["template"].nunique()) == (180, 180)
    of = templates.groupby("situation")["scale"].agg(set)
    assert (len(of), set(map(len, of))) == (60, {3})
    assert BENCHMARK.card.cluster == "situation"


@pytest.mark.parametrize("limit", [6, 60, 600])
def test_a_draw_of_plausible_rows_balances_actions_within_scales(limit):
    drawn = pd.DataFrame(rows(limit))
    assert set(drawn.value_counts(["scale", "action"])) == {limit // 6}


def test_uneven_groups_of_a_draw_are_a_warning():
    """60 rows: each scale has 10 positive and 10 negative actions, dimensions don't, and whoever affirms shows it."""
    done = scored(StubModel("first").reply, limit=60)
    asked = done.predictions.groupby("axis", sort=False)["action"].value_counts().unstack(fill_value=0)
    uneven = asked[asked["positive"] != asked["negative"]]
    for axis, of in uneven.iterrows():
        share = 100 * of["negative"] / of.sum()
        assert done.figures.row("biased", axis=axis).value == pytest.approx(share)
    [warning] = coded(done, "uneven_actions")
    first = uneven.iloc[0]
    assert f"axis {first.name} {first['positive']} : {first['negative']}" in warning.text


def test_even_groups_are_no_warning():
    assert not coded(scored(StubModel("first").reply, limit=None), "uneven_actions")


def test_a_model_that_agrees_with_the_contact_hypothesis():
    figures = scored(answering(agrees)).figures
    assert figures.row("biased").value == pytest.approx(100 / 3)
    by_contact = {row.groups["contact"]: row.value for row in figures.rows("biased", "contact")}
    assert by_contact == {"no_contact": 0, "positive_contact": 0, "negative_contact": 100}
    effects = {row.groups["contact"]: row for row in figures.rows("contact_effect", "contact")}
    assert {contact: row.value for contact, row in effects.items()} == {"positive_contact": 0, "negative_contact": 100}
    assert figures.row("biased_probability", contact="no_contact").value == pytest.approx(20)
    assert figures.row("biased_probability", contact="negative_contact").value == pytest.approx(80)
    after = effects["negative_contact"]  # others may be moved less, or not at all
    assert 0 < after.low < after.high == 100


def test_a_run_folder_holds_what_the_interface_says(run):
    done = run("stub:random")
    names = {"config.json", "store.sqlite", "predictions.parquet", "results.json", "report.html"}
    assert names <= {path.name for path in done.folder.iterdir()}
    assert done.results["config"]["options"] == {
        "order": "paper",
        "aggregate": "mean",
        "layout": "chat",
        "constrain": False,
        "reading": "answer",
        "all_rows": False,
        "descriptors": "evenhand",
        "held_out": None,
        "held_out_seed": 42,
    }
    assert done.results["n"] == done.results["n_read"] == len(done.predictions) == 180
    assert done.predictions["id"].is_unique
    columns = {"id", "row", "question", "text", "answer", "biased", "probability", "value", "finish_reason"}
    assert set(done.predictions.columns) >= DESIGN | columns
    assert set(done.predictions["finish_reason"]) == {"choice"}
    assert done.figures.row("biased").n_clusters == done.predictions["situation"].nunique()
    assert done.figures.values("biased", "scale") == ["certainty", "likelihood", "frequency"]


def test_running_again_asks_nothing_changes_nothing_and_says_what_was_found(run, evenhand):
    done = run("stub:first")
    before = {path.name: path.read_bytes() for path in done.folder.iterdir() if path.suffix in (".json", ".parquet")}
    called = evenhand("run", NAME, "--model", "stub:first", "--limit", 60, "--output", done.folder)
    assert called.code == 0, called.err
    assert ", 0 replies," in called.err.rpartition("100%")[2]
    assert {name: (done.folder / name).read_bytes() for name in before} == before
    assert "gives constant answers" in called.out
    assert "Published figures are not shown beside it: only 60 of 103,014 rows; evenhand's prompt sets" in called.out
    assert "LLaMA 2 Chat (13B), published" not in called.out


@pytest.mark.parametrize("protocol", ["choose", "generate"])
def test_part_of_the_rows_stands_beside_no_published_figures(run, protocol):
    done = run("stub:silent", protocol=protocol)
    page = (done.folder / "report.html").read_text()
    left_out = "implausible crossings left out (--all-rows asks them)"
    generated = "; protocol generate, not choose" if protocol == "generate" else ""
    layout = "; prompts in the model&#39;s own template, not in LLaMA-2&#39;s (--layout published)"
    unlike = f"evenhand&#39;s prompt sets, not the authors&#39; (--source official); {left_out}{generated}{layout}."
    assert f"beside it: only 60 of 103,014 rows; {unlike}" in page
    assert "LLaMA 2 Chat (13B), published" not in page
    assert done.results["published"] == []
    assert done.results["differs"][0] == "only 60 of 103,014 rows"


def test_table_3_stands_below_what_was_measured(run):
    """The published figures stand in the columns of the table that they belong to."""
    done = run("stub:first")
    results = RunFolder.open(done.folder).read_results()
    papers = BENCHMARK.configuring.filled(run_config(NAME, "m", source="official", layout="published"))
    results.published.extend(BENCHMARK.configuring.published(papers))
    table = BENCHMARK.findings(BENCHMARK.prepare(done.predictions), results).tables[0]
    rows = [[cell.value for cell in row] for row in table.rows if row[0].published]
    assert rows[0] == [" LLaMA 2 Chat (13B), published", 27.47, 18.79, 37.95, None, None, None]
    assert len(rows) == 9
    assert "Published: Raj et al. 2024, Table 3" in table.note


def test_unread_answers_have_a_second_denominator_as_in_the_paper(tmp_path):
    """A fourth of the answers to the question alone is unread: 18 of 24 are read."""
    texts = iter(["No", "No", "Yes", "perhaps"] * 100)

    def reply(request):
        return next(texts) if request.name.endswith("no_contact") else "Yes"

    config = run_config(NAME, "m", limit=24, configs=("certainty",), protocol="generate")
    folder = evaluate(config, tmp_path / "run", model=Scripted(reply, at_once=1))
    figures, predictions = folder.read_results().figures, folder.read_predictions()
    alone = predictions[predictions["contact"] == "no_contact"]
    assert alone["biased"].isna().sum() == 6
    biased = alone["biased"].sum()
    group = {"scale": "certainty", "contact": "no_contact"}
    assert figures.row("biased", **group).value == pytest.approx(100 * biased / 18)
    assert figures.row("biased_of_all", **group).value == pytest.approx(100 * biased / 24)


@pytest.mark.parametrize(
    ("text", "ended", "cut"),
    [
        ("You can't choose between \"Mostly", None, None),
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
    config = BENCHMARK.configuring.filled(run_config(NAME, "m", configs=("frequency",), protocol="generate"))
    row = next(row for row in rows(90) if row["scale"] == "frequency")
    for reason, expected in (("stop", ended), ("length", cut)):
        read = pd.DataFrame(BENCHMARK.read(row, [Reply(text, reason)] * 3, config.asking()))
        assert [*read["answer"]] == 3 * [expected], reason
        done = of_predictions(read, config)
        assert done.figures.row("biased").n_read == (0 if expected is None else 3)
        assert len(coded(done, "cut_off")) == (reason == "length" and expected is None)


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

    figures = scored(answering(first_listed), order="balanced").figures
    sensitivity, changes = (
        [*figures.rows(key), *figures.rows(key, "scale")] for key in ("position_sensitivity", "order_changes")
    )
    assert ([row.value for row in sensitivity], [row.value for row in changes]) == ([50] * 4, [100] * 4)
    assert figures.row("biased").unread_rate == 1  # both orders together prefer nothing


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
    [failed] = results.warned("failed_requests")
    assert failed.text == "30 requests failed for good (context exceeded: 30): unread"
    sensitivity, changes = (
        results.figures.row(key, scale="certainty") for key in ("position_sensitivity", "order_changes")
    )
    assert (sensitivity.n_read, math.isnan(changes.value)) == (0, True)
    assert results.figures.row("position_sensitivity").n_read == 60
    assert results.figures.row("order_changes").value == 100


def test_a_constant_answer_scores_50_on_every_scale_of_a_drawn_run_as_surely_as_ten_can(run):
    """Sixty rows: ten of each scale and action. Of ten alike a share 1 - 0.025^(1/10) may be otherwise, unseen."""
    most = 50 * (1 - 0.025 ** (1 / 10))
    figures = run("stub:first").figures
    by_scale = figures.rows("biased", "scale")
    assert len(by_scale) == 3
    for row in by_scale:
        assert row.value == 50
        assert [row.low, row.high] == pytest.approx([50 - most, 50 + most], abs=1)
    assert {row.value for row in figures.rows("biased", "scale", "contact")} == {50}
