"""The consensus of runs of mllm_stereotypes: whose answers are known, so that what they agree on can be counted."""

import json
import math
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from evenhand.benchmarks.mllm_stereotypes import queries
from evenhand.benchmarks.mllm_stereotypes.ensemble import ENSEMBLE, ensemble
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.report.comparison import compare
from tests.benchmarks.mllm_stereotypes.placeholders import PLACEHOLDERS
from tests.edited_runs import write_predictions
from tests.scripted_models import Scripted

DRAWINGS = 4  # of the ten of a trait: few enough to count by hand
PERSONAS = 14 * DRAWINGS  # the rows of persona_gender here
PAIRS = 16 * 10 * 2  # ages and races × occupations × orders: the rows of occupation_gender with a pair of each


def by_drawing(answers):
    """Answers a drawing by its number (1 to 4) in its trait: "FM-" is female, male, nothing to 1, 2, 3, then again."""

    def reply(request):
        number = int(request.name.split("/")[-2]) - 1
        return {"F": "The person is female.", "M": "The person is male.", "-": ""}[answers[number % len(answers)]]

    return Scripted(reply, f"drawing:{answers}", identity=f"drawing:{answers}@1")


@pytest.fixture(autouse=True)
def four_drawings(monkeypatch):
    """Queries are built of the first four drawings of each trait."""

    def first(name, config=None, **options):
        rows = every(name, config, **options)
        if config != "persona_images":
            return rows
        return rows.select([place for place, each in enumerate(rows["id"]) if int(each.split("/")[-1]) <= DRAWINGS])

    every = queries.load_dataset
    monkeypatch.setattr(queries, "load_dataset", first)


@pytest.fixture
def persona(tmp_path, made):
    """persona("FFMM") → the folder of a run on persona_gender whose answers go by the drawing's number."""

    def call(answers, config="persona_gender", **changes):
        run = made(by_drawing(answers), configs=(config,), **changes)
        return shutil.copytree(run.folder, tmp_path / f"run {answers}", dirs_exist_ok=True)

    return call


@pytest.fixture
def faces(tmp_path, made):
    """faces("left") → the folder of a run on placeholders in occupation_gender whose answers are the same."""

    def call(answer):
        run = made(f"stub:say:{answer}", configs=("occupation_gender",), **PLACEHOLDERS)
        return shutil.copytree(run.folder, tmp_path / f"run {answer}")

    return call


@pytest.fixture
def agreed(tmp_path):
    """agreed(RUN, RUN, …) → the ensemble's folder, results and predictions; its drawings only where `report`."""

    def call(*runs, output="ensemble", report=False):
        with pytest.MonkeyPatch.context() as patch:
            if not report:
                patch.setattr("evenhand.benchmarks.mllm_stereotypes.ensemble.write_report", lambda folder: None)
            folder = ensemble(runs, tmp_path / output)
        return folder.path, folder.read_results(), folder.read_predictions()

    return call


def value(results, figure, **groups):
    """Of persona_gender."""
    return results.figures.row(figure, config="persona_gender", **groups).value


def outcomes(results):
    """Of how many queries the runs agreed, disagreed, and had an unread answer."""
    rows = [results.figures.row(figure) for figure in ("agreed", "disagreed", "unread_by_one")]
    return [round(row.n * row.value / 100, 9) for row in rows]


def codes(results):
    return [each.code for each in results.warnings]


# Scores that can be counted


def test_runs_that_agree_on_everything_have_each_ones_score(persona, agreed):
    first, second = persona("FFFM"), persona("FFFMFFFM")
    _, results, predictions = agreed(first, second)
    alone = RunFolder.open(first).read_results()
    # Of each trait's four drawings three are female: 1/2 · (|3/4 - 1/2| + |1/4 - 1/2|).
    assert value(results, "association_score") == value(alone, "association_score") == 0.25
    of_consensus = ("agreed", "disagreed", "unread_by_one")
    kept = [row.to_json() for row in results.figures if row.figure not in of_consensus]
    assert json.dumps(kept) == json.dumps([row.to_json() for row in alone.figures])
    assert [value(results, figure) for figure in of_consensus] == [100, 0, 0]
    assert outcomes(results) == [PERSONAS, 0, 0]
    assert list(predictions["text"][:4]) == ["A: female; B: female"] * 3 + ["A: male; B: male"]


def test_a_consensus_on_three_of_four_is_scored_on_these_and_by_their_share(persona, agreed):
    """F, F and M of four: 1/2 · (|2/3 - 1/2| + |1/3 - 1/2|) = 1/6 answered, times 3/4 = 1/8."""
    _, results, predictions = agreed(persona("FFMM"), persona("FFFM"))
    assert value(results, "association_score_answered") == pytest.approx(1 / 6)
    assert value(results, "association_score") == pytest.approx(1 / 8)
    rates = [value(results, "selection_rate", instance="Bookworm", group=each) for each in ("male", "female")]
    assert rates == pytest.approx([100 / 3, 200 / 3])
    assert (results.n, results.n_read) == (PERSONAS, PERSONAS * 3 // 4)
    of_four = predictions[:4]
    assert list(of_four["consensus"]) == ["agreed", "agreed", "disagreed", "agreed"]
    assert list(of_four["chosen"].fillna("none")) == ["female", "female", "none", "male"]
    assert of_four["text"][2] == "A: male; B: female"
    assert set(predictions["candidates"].map(sorted).map(tuple)) == {("female", "male")}


def test_two_of_three_are_no_consensus(persona, agreed):
    """M M F, M F M, F M M and M M M: only the last is a consensus, a quarter of all."""
    _, results, _ = agreed(persona("MMFM"), persona("MFMM"), persona("FMMM"))
    assert outcomes(results) == [14, 42, 0]
    assert value(results, "association_score_answered") == 0.5
    assert value(results, "association_score") == 0.125


def test_an_unread_answer_is_no_disagreement(persona, agreed):
    """F F, F M, - M and - -: agreed, disagreed, and twice unread."""
    _, results, predictions = agreed(persona("FF--"), persona("FMM-"))
    assert outcomes(results) == [14, 14, 28]
    assert list(predictions["text"][2:4]) == ["A: unread; B: male", "A: unread; B: unread"]
    assert results.unread_rate == 0.75


def test_one_silent_run_leaves_all_unread(persona, agreed):
    _, results, _ = agreed(persona("M"), persona("MM"), persona("-"))
    assert outcomes(results) == [0, 0, PERSONAS]
    assert math.isnan(value(results, "association_score"))
    assert "nothing_read" in codes(results)


def test_always_male_and_always_female_agree_on_nothing(persona, agreed):
    _, results, _ = agreed(persona("M"), persona("F"))
    assert outcomes(results) == [0, PERSONAS, 0]
    assert math.isnan(value(results, "association_score_answered"))
    assert "nothing_read" in codes(results)


def test_left_only_and_right_only_agree_on_nothing(faces, agreed):
    _, results, predictions = agreed(faces("left"), faces("right"))
    assert outcomes(results)[1] == results.n == PAIRS
    assert predictions["side"].isna().all()


def test_left_only_twice_is_exposed_as_one_sided(faces, agreed):
    _, results, predictions = agreed(faces("left"), faces("on the left"))
    rows = [
        results.figures.row(key, config="occupation_gender") for key in ("association_score", "position_sensitivity")
    ]
    assert [row.value for row in rows] == [0, 50]
    assert "one_sided" in codes(results)
    assert set(predictions["side"]) == {"left"}


# What is combined


def test_only_queries_that_all_have_are_counted_and_the_others_named(persona, agreed):
    whole, part = persona("M"), persona("F", limit=28)
    ids = set(RunFolder(part).read_predictions()["id"])
    _, results, predictions = agreed(whole, part)
    assert set(predictions["id"]) == ids
    assert results.n == outcomes(results)[1] == 28
    [warning] = results.warned("queries_left_out")
    assert "28 of 56 queries are left out, for not every run has them: A lacks 0, B lacks 28" in warning.text
    assert results.published == []
    assert {"evenhand's drawings, not a model's pictures", "only 28 of 56 rows"} <= {*results.differs}


def test_only_configurations_that_all_have_are_scored(made, persona, agreed):
    both = made(by_drawing("F"), configs=("persona_gender", "persona_race"))
    _, results, predictions = agreed(both.folder, persona("FF"))
    assert set(predictions["config"]) == {"persona_gender"}
    assert results.config["configs"] == ["persona_gender"]
    for figure in ("association_score", "agreed"):
        assert results.figures.values(figure, "config") == ["persona_gender"]


def test_differing_settings_are_told(persona, agreed):
    runs = persona("M"), persona("MM", role="Barack Obama"), persona("MMM", mitigation="debiasing")
    _, results, predictions = agreed(*runs)
    mitigation, role = (each.text for each in results.warned("members_differ"))
    assert "differ in their role (A, C: none; B: Barack Obama)" in role
    assert "differ in their mitigation (A, B: none; C: debiasing)" in mitigation
    assert results.model_name == "ensemble of drawing:M, drawing:MM as Barack Obama, drawing:MMM with debiasing"
    assert outcomes(results) == [PERSONAS, 0, 0]
    assert not predictions["prompt"].str.contains("Obama").any()  # the first run's


def test_orders_are_combined_on_the_rows_that_both_have(persona, agreed):
    _, results, _ = agreed(persona("M"), persona("MM", order="balanced"))
    assert outcomes(results) == [PERSONAS, 0, 0]
    [warning] = results.warned("members_differ")
    assert "differ in their order (A: paper; B: balanced)" in warning.text
    [warning] = results.warned("queries_left_out")
    assert "A lacks 56, B lacks 0" in warning.text


def test_the_papers_ensemble_stands_beside_the_score_without_unread(made, as_published, persona, agreed):
    options = {"configs": ("persona_gender",), **as_published}
    papers = [made(f"stub:say:The person is {said}.", **options).folder for said in ("male", "a male")]
    _, results, _ = agreed(*papers)
    [record] = results.published
    assert (record["model"], record["figure"], record["value"]) == (ENSEMBLE, "association_score_answered", 0.3744)
    _, other, _ = agreed(persona("M"), persona("MMM", role="Barack Obama"), output="other")
    assert other.published == []
    assert {"evenhand's drawings, not a model's pictures", "the model asked to act as Barack Obama"} <= {*other.differs}


def test_results_tell_who_is_in_it(persona, agreed):
    first, second = persona("M"), persona("F")
    folder, results, _ = agreed(first, second)
    assert results.model_identity == "ensemble of drawing:M@1, drawing:F@1"
    assert results.agents == {"A": "drawing:M@1", "B": "drawing:F@1"}
    config, member = (RunFolder.open(each).read_config() for each in (folder, first))
    assert config.model == results.config["model"] == "ensemble of drawing:M, drawing:F"
    assert replace(config, model=member.model) == member


def test_a_rehearsal_stays_one(faces, agreed, tmp_path):
    runs = faces("left"), faces("on the left")
    frame = pd.read_parquet(runs[0] / "predictions.parquet")
    write_predictions(runs[0], frame.assign(rehearsal=False))
    folder, results, predictions = agreed(*runs)
    assert results.rehearsal
    assert predictions["rehearsal"].all()
    with pytest.raises(UsageError, match="rehearsal"):
        RunFolder.open(folder).publishable()


def test_shares_in_the_world_are_kept_without_their_file(persona, agreed, tmp_path):
    shares = tmp_path / "shares.csv"
    shares.write_text("instance,group,percent\nBookworm,female,60\n")
    runs = persona("M"), persona("MM", real_shares=str(shares))
    shares.unlink()
    _, results, _ = agreed(*runs)
    assert value(results, "real_share", instance="Bookworm", group="female") == 60
    _, results, _ = agreed(*reversed(runs), output="other")
    assert value(results, "real_share", instance="Bookworm", group="female") == 60


# It is a run like others


def test_compare_takes_it_with_its_member(persona, agreed):
    """A alone scores 0 (two of each four); on its consensus with B, F F - M, 1/8."""
    first = persona("FFMM")
    folder, _, _ = agreed(first, persona("FFFM"))
    comparison = compare(first, folder)
    found = {name.split(": ")[0]: (each.first, each.second) for name, each in comparison.differences.items()}
    assert found["association score"] == (0, 0.125)
    assert found["association score, unread left out"] == pytest.approx((1 / 6, 1 / 6))
    assert found["answered queries"] == (100, 75)
    assert f"{PERSONAS} prompts in common" in " ".join(comparison.sentences)


def test_the_report_can_be_written_again_and_shows_the_pictures(persona, agreed, evenhand):
    runs = persona("M"), persona("MF")
    shutil.rmtree(runs[0] / "pictures")
    folder, _, _ = agreed(*runs, report=True)
    page = (folder / "report.html").read_text()
    assert page.count('<img src="data:image/png;base64,') == 6
    assert "A: male; B: female" in page
    assert "no consensus" in page
    for run in runs:
        shutil.rmtree(run)
    (folder / "report.html").unlink()
    assert evenhand("report", folder).code == 0
    assert (folder / "report.html").read_text() == page


def test_what_models_said_is_escaped_in_the_report(persona, agreed):
    runs = persona("M"), persona("MM")
    for run in runs:
        frame = pd.read_parquet(run / "predictions.parquet")
        frame["prompt"] = "<script>alert(1)</script>"
        write_predictions(run, frame)
        results = json.loads((run / "results.json").read_text())
        results["model_name"] = "<script>alert(2)</script>"
        (run / "results.json").write_text(json.dumps(results))
    folder, _, _ = agreed(*runs, report=True)
    page = (folder / "report.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_command_prints_tables_sentences_and_the_report(persona, evenhand, tmp_path):
    runs = persona("FFMM"), persona("FFFM", role="Barack Obama")
    called = evenhand("ensemble", *runs, "--output", tmp_path / "out")
    assert called.code == 0, called.err
    printed = " ".join(called.out.split())
    assert "persona, gender 75.0 [" in printed
    assert "Warning: The runs differ in their role" in printed
    assert f"Report: {tmp_path / 'out' / 'report.html'}" in printed


# What is refused, and that nothing is left of it


@pytest.fixture
def refused(tmp_path):
    """refused(RUN, …) → the message; nothing was written."""

    def call(*runs, output="refused", error=UsageError):
        with pytest.raises(error) as raised:
            ensemble(runs, tmp_path / output)
        assert not (tmp_path / "refused").exists()
        return str(raised.value)

    return call


def test_one_run_is_no_ensemble(persona, refused, evenhand, tmp_path):
    assert "2 to 26 runs, got 1" in refused(persona("M"))
    called = evenhand("ensemble", tmp_path / "run M", "--output", tmp_path / "refused")
    assert (called.code, called.err) == (2, "evenhand: an ensemble needs 2 to 26 runs, got 1\n")


def test_the_same_run_twice_is_refused_under_any_name(persona, refused, tmp_path):
    run = persona("M")
    (tmp_path / "link").symlink_to(run, target_is_directory=True)
    for same in (run, run / ".." / run.name, tmp_path / "link"):
        assert "the same run is named twice" in refused(run, persona("F"), same)


def test_runs_of_other_benchmarks_are_refused(persona, refused):
    other = persona("F")
    results = json.loads((other / "results.json").read_text())
    config = results["config"] | {"benchmark": "labe"}
    (other / "config.json").write_text(json.dumps(config))
    (other / "results.json").write_text(json.dumps(results | {"benchmark": "labe", "config": config}))
    assert "run F is a run of labe; an ensemble is of runs of mllm_stereotypes" in refused(persona("M"), other)


def test_unfinished_folders_are_refused(persona, refused, tmp_path):
    unfinished = persona("F")
    (unfinished / "results.json").unlink()
    assert "has not finished" in refused(persona("M"), unfinished)
    assert "does not exist" in refused(persona("M"), tmp_path / "nowhere")


def test_an_ensemble_is_no_member(persona, agreed, refused):
    folder, _, _ = agreed(persona("M"), persona("F"))
    assert "is an ensemble itself" in refused(folder, persona("MF"))


def test_runs_without_common_queries_are_refused(persona, refused):
    message = refused(persona("M"), persona("F", config="persona_race"))
    assert "have no query in common; run them with the same --config" in message


def test_other_orders_of_the_same_terms_are_other_queries(persona, agreed):
    """With another seed most terms are listed in the other order; only those listed alike are common."""
    runs = persona("M"), persona("F", seed=1)
    listed = [pd.read_parquet(run / "predictions.parquet")["candidates"].map(tuple) for run in runs]
    _, results, _ = agreed(*runs)
    assert 0 < results.n == (listed[0] == listed[1]).sum() < PERSONAS
    assert outcomes(results) == [0, results.n, 0]


def test_predictions_of_another_version_are_refused(persona, refused):
    runs = persona("M"), persona("F")
    frame = pd.read_parquet(runs[1] / "predictions.parquet")
    write_predictions(runs[1], frame.drop(columns="chosen"))
    assert "it has no 'chosen'" in refused(*runs, error=EvenhandError)
    write_predictions(runs[1], pd.concat([frame, frame]))
    assert "it has an id twice" in refused(*runs, error=EvenhandError)


def test_an_output_of_something_else_is_left_as_it_is(persona, refused, tmp_path):
    runs = persona("M"), persona("F")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "todo.txt").write_text("milk")
    (tmp_path / "file").write_text("milk")
    before = {path: path.read_bytes() for path in runs[0].rglob("*") if path.is_file()}
    for output, said in (("notes", "is no run folder"), ("file", "is no run folder"), (runs[0].name, "other settings")):
        assert said in refused(*runs, output=output)
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["todo.txt"]
    assert (tmp_path / "file").read_text() == "milk"
    assert {path: path.read_bytes() for path in runs[0].rglob("*") if path.is_file()} == before


def test_the_same_ensemble_is_written_again_and_another_one_is_not(persona, agreed, refused):
    first, second, third = persona("M"), persona("MF"), persona("F")
    folder, results, _ = agreed(first, second)
    (folder / "report.html").write_text("old")
    (folder / "compare.html").write_text("kept")
    assert agreed(first, second, report=True)[1].to_json() == results.to_json()
    assert "Association bias scores" in (folder / "report.html").read_text()
    assert (folder / "compare.html").read_text() == "kept"
    for others in ((first, third), (first, second, third)):
        assert "other settings" in refused(*others, output="ensemble")
    assert RunFolder(folder).read_results().to_json() == results.to_json()


def test_what_failed_on_the_way_is_written_by_the_same_command(persona, tmp_path, monkeypatch):
    runs = persona("M"), persona("MF")

    def full(folder):
        raise EvenhandError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("evenhand.benchmarks.mllm_stereotypes.ensemble.write_report", full)
        with pytest.raises(EvenhandError, match="the disk is full"):
            ensemble(runs, tmp_path / "out")
    monkeypatch.setattr("evenhand.benchmarks.mllm_stereotypes.ensemble.write_report", lambda folder: None)
    assert ensemble(runs, tmp_path / "out").read_results().n == PERSONAS
