"""A profile: what a model can do within a budget, resumed without asking again, and one page that hides nothing."""

import base64
import csv
import io
import json
import math
import re
import shutil
from types import SimpleNamespace

import pytest

from evenhand.figure import FigureRow
from evenhand.flow.run_folder import RunFolder
from evenhand.models.stub import StubModel
from evenhand.profiling.found import Measure, why_no_interval
from evenhand.profiling.settings import Cost, parse_budget, run_path, share_rows
from evenhand.report.differences import FigureKey

SOME = ("--benchmark", "contact_hypothesis", "--benchmark", "contact_controls", "--benchmark", "implicit_bias")
FEW = ("--budget", "full", "--limit", 12)


# The budget


def test_budgets():
    assert [parse_budget(text) for text in ("90s", "10m", "1h", "full")] == [90, 600, 3600, math.inf]
    for text in ("10", "m", "0m", "1.5h", ""):
        with pytest.raises(ValueError, match="a time like 10m"):
            parse_budget(text)


def test_what_one_leaves_over_the_others_have():
    """600 seconds for three: 60 seconds are less than 200, so the others have 270 each."""
    costs = {"long": Cost(1000, 1, 2700.0), "short": Cost(10, 1, 60.0), "twice": Cost(100, 2, 540.0)}
    assert share_rows(costs, 600) == {"long": 100, "short": None, "twice": 100}  # asked once: 2.7 seconds a row
    assert share_rows(costs, 1e9) == dict.fromkeys(costs)
    # One second for each of two: no row of "long" fits, so "short" has both seconds, and none of its rows fit either.
    assert share_rows({name: costs[name] for name in ("long", "short")}, 2) == {"long": 0, "short": 0}
    # Of 80 seconds half would be 14 rows of "long" and, of 10 seconds each, 4 of "slow": then "long" has all.
    assert share_rows({"long": costs["long"], "slow": Cost(50, 1, 500.0)}, 80) == {"long": 29, "slow": 0}


def test_names_of_models_are_names_of_folders(tmp_path):
    names = ["a/b", "a-b", "../../x", "http://h:1/v1#N", "x" * 300, "Ä"]
    folders = {run_path(tmp_path, name, "labe").relative_to(tmp_path).as_posix() for name in names}
    assert len(folders) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+/labe", each) and ".." not in each for each in folders)


# The command


def test_a_stub_that_answers_in_no_time_is_not_asked_all_rows_for_that(evenhand, tmp_path):
    """103,014 rows are more than five seconds can handle anywhere: its plan alone would say three."""
    found = evenhand(
        "profile", "--model", "stub:random", "--benchmark", "contact_hypothesis", "--budget", "5s", "--output",
        tmp_path / "p",
    )  # fmt: skip
    assert found.code == 0, found.err
    rows = json.loads((tmp_path / "p" / "profile.json").read_text())["limits"]["contact_hypothesis"]
    assert rows is not None
    assert rows < 10_000


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """Two models' profile, made once: look, and leave it as it is."""
    from evenhand.cli import main

    folder = tmp_path_factory.mktemp("profile") / "p"
    models = ("--model", "stub:random", "--model", "stub:last")
    assert main([str(each) for each in ("profile", *models, *SOME, *FEW, "--output", folder)]) == 0
    return folder


def test_one_page_has_every_figure_with_what_it_means(profiled):
    page = (profiled / "profile.html").read_text()
    for said in (
        "There is no single number",
        "biased answers: certainty",
        "bias score",
        "no data",  # the stubs write no assignment that can be read
        "0 of ",
        "the same whatever is asked",  # of stub:last
        "takes 4 base models or more",
        "Published figures are not shown beside it: only 12 of 103,014 rows",
        "How models differ",
    ):
        assert said in page, said
    links = re.findall(r'href="((?!data:)[^"#]+)"', page)
    assert len(set(links)) == 6
    assert all((profiled / link).is_file() for link in links)
    assert "<script" not in page
    assert str(profiled) not in page


def test_all_figures_can_be_saved_with_numbers_of_their_own(profiled):
    page = (profiled / "profile.html").read_text()
    [saved] = re.findall(r'download="all-figures.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    rows = list(csv.DictReader(io.StringIO(base64.b64decode(saved).decode(), newline="")))
    of_random = next(row for row in rows if row["model"] == "stub:random" and row["benchmark"] == "contact_hypothesis")
    assert float(of_random["score, low"]) <= float(of_random["score"]) <= float(of_random["score, high"])
    assert {row["model"] for row in rows} == {"stub:random", "stub:last"}
    for row in rows:  # what has no interval says why
        assert bool(row["note"]) == bool(row["score"] and not row["score, low"])


@pytest.mark.parametrize(
    ("value", "low", "high", "n_clusters", "why"),
    [
        (50.0, 40.0, 60.0, 12, ""),
        (math.nan, math.nan, math.nan, 0, ""),
        (50.0, math.nan, math.nan, 0, "no interval: its benchmark computes none of it"),
        (50.0, math.nan, math.nan, 2, "no interval: 2 of the 3 clusters that one needs"),
        (50.0, math.nan, math.nan, 12, "no interval: its clusters are too few, or all say the same"),
    ],
)
def test_a_figure_without_an_interval_says_why(value, low, high, n_clusters, why):
    assert why_no_interval(FigureRow("accuracy", {}, value, low, high, n_clusters=n_clusters)) == why


def test_it_goes_on_without_asking_again(evenhand, profiled, tmp_path, monkeypatch):
    folder = shutil.copytree(profiled, tmp_path / "p")
    shutil.rmtree(run_path(folder, "stub:last", "contact_controls"))
    asked = []
    answer = StubModel.answer

    def counted(self, requests, *others):
        asked.extend(requests)
        return answer(self, requests, *others)

    monkeypatch.setattr(StubModel, "answer", counted)
    found = evenhand("profile", "--model", "stub:random", "--model", "stub:last", *SOME, *FEW, "--output", folder)
    assert found.code == 0, found.err
    assert len(asked) == 12
    assert (folder / "profile.html").read_text() == (profiled / "profile.html").read_text()


def test_a_further_model_is_asked_the_same_rows(evenhand, profiled, tmp_path):
    folder = shutil.copytree(profiled, tmp_path / "p")
    found = evenhand("profile", "--model", "stub:first", *SOME, *FEW, "--output", folder)
    assert found.code == 0, found.err
    settings = json.loads((folder / "profile.json").read_text())
    assert settings["models"] == ["stub:random", "stub:last", "stub:first"]
    assert settings["limits"] == {"contact_hypothesis": 12, "contact_controls": 12, "implicit_bias": 12}
    assert "36 prompts in common" in (folder / "profile.html").read_text()


def test_other_settings_and_other_folders_are_refused(evenhand, profiled, tmp_path):
    found = evenhand("profile", "--model", "stub:last", *SOME, "--limit", 13, "--output", profiled)
    assert found.code == 2
    assert "budget: 'full', not '10m'" in found.err
    (tmp_path / "mine.txt").write_text("mine")
    found = evenhand("profile", "--model", "stub:last", *SOME, *FEW, "--output", tmp_path)
    assert found.code == 2
    assert "holds no profile" in found.err
    assert evenhand("profile", "--model", "stub:last", "--benchmark", "labee", "--output", tmp_path / "p").code == 2
    found = evenhand("profile", "--model", "stub:none-such", *SOME, *FEW, "--output", tmp_path / "q")
    assert found.code == 1
    assert "unknown stub" in found.err


def test_two_profiles_are_not_made_in_one_folder(evenhand, tmp_path):
    """One of both would be lost. What a killed one left before its first word is no hindrance."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / ".evenhand-0123.part").write_text("{")
    arguments = ("profile", "--model", "stub:random", "--benchmark", "contact_controls", *FEW, "--output", folder)
    with RunFolder(folder).locked():
        found = evenhand(*arguments)
        assert (found.code, "another evenhand runs" in found.err) == (1, True)
    assert evenhand(*arguments).code == 0


def test_what_a_model_can_not_do_is_left_out_and_said(evenhand, tmp_path, monkeypatch):
    """A model that only writes: no perplexity, no pictures, and contact_hypothesis by what it writes."""
    monkeypatch.setattr(StubModel, "can", frozenset({"generate"}))
    some = [each for name in ("contact_hypothesis", "utility", "mllm_stereotypes") for each in ("--benchmark", name)]
    found = evenhand("profile", "--model", "stub:random", *some, *FEW, "--output", tmp_path / "p")
    assert found.code == 0, found.err
    assert "mllm_stereotypes: mllm_stereotypes shows pictures, and stub:random takes none" in found.out
    assert "utility, all but questions: stub:random gives no log-probabilities of texts" in found.out
    settings = json.loads((tmp_path / "p/profile.json").read_text())
    assert [*settings["limits"]] == ["contact_hypothesis", "utility"]


def test_a_budget_of_time_draws_rows(evenhand, tmp_path, monkeypatch):
    """By what a plan says: 90 seconds a scenario, of which 6 fit into 10 minutes, less a moment for timing."""
    from evenhand.profiling import asking

    monkeypatch.setattr(asking, "plan", lambda config, model: asking.Cost(111, 1, 9_990.0))
    arguments = ("--benchmark", "implicit_bias", "--budget", "10m")
    found = evenhand("profile", "--model", "stub:random", *arguments, "--output", tmp_path / "p")
    assert found.code == 0, found.err
    assert "stub:random, 1 of 1: implicit_bias, 6 rows" in found.out


def test_what_does_not_fit_is_left_out_and_said(evenhand, tmp_path, monkeypatch):
    """Conversations of two minutes each: 6 need 12 minutes and a moment for timing, and there is one."""
    from evenhand.profiling import asking

    monkeypatch.setattr(asking, "plan", lambda config, model: asking.Cost(111, 1, 111 * 120.0))
    arguments = ("--benchmark", "implicit_bias", "--budget", "1m", "--output", tmp_path / "p")
    found = evenhand("profile", "--model", "stub:random", *arguments)
    assert found.code == 0, found.err
    assert "Left out: implicit_bias: fewer than 6 rows fit into its share of 1m: about 13m would do" in found.out
    assert "No benchmark was finished." in (tmp_path / "p/profile.html").read_text()
    assert "timing" not in evenhand("profile", "--model", "stub:random", *arguments).out


THREE = ("implicit_bias", "contact_controls", "labe")


@pytest.fixture
def clock(monkeypatch):
    """Each plan takes as many seconds as its list says, by a clock that runs for nothing else: {benchmark: seconds}."""
    from evenhand.profiling import asking

    now, took, named = [0.0], {}, []

    def plan(config, model):
        named.append(config.benchmark)
        now[0] += took[config.benchmark]
        return asking.Cost(12, 1, 12.0)

    monkeypatch.setattr(asking, "plan", plan)
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return SimpleNamespace(took=took, asked=named)


def timed_here(tmp_path, names=THREE, models=("stub:random",), minutes="1m"):
    """What timing leaves in profile.json, and returns."""
    from evenhand.profiling.asking import Profiler
    from evenhand.profiling.settings import ProfileOptions

    profiler = Profiler(ProfileOptions(budget=minutes), tmp_path, print)
    profiler.share_budget(models, names)
    return profiler.settings


def test_timing_takes_half_of_the_budget_at_most(clock, tmp_path):
    """Of one minute the first takes 25 seconds and the second 10: with 35 gone the third is left out."""
    clock.took |= dict(zip(THREE, (25, 10, 1)))
    found = timed_here(tmp_path)
    assert clock.asked == [*THREE[:2]]
    assert found.limits == dict.fromkeys(THREE[:2])  # 12 seconds each, of the 30 that are left
    assert found.timing == {"stub:random": 35.0}
    assert found.left_out["stub:random"][THREE[2]].startswith("timing what goes before it had taken half of 1m")


def test_models_are_asked_what_each_of_them_was_timed_with(clock, tmp_path):
    clock.took |= dict(zip(THREE, (1, 31, 1)))
    found = timed_here(tmp_path, models=("stub:random", "stub:last"))
    assert [*found.limits] == [*THREE[:2]]
    assert all(THREE[2] in found.left_out[model] for model in ("stub:random", "stub:last"))


def test_what_was_timed_is_kept_when_timing_is_killed(clock, tmp_path):
    """Killed in the second, it goes on with the second, and with the seconds that the first took."""
    clock.took |= {THREE[0]: 25, THREE[2]: 10}
    with pytest.raises(KeyError):  # the second: nobody catches what ends a process either
        timed_here(tmp_path)
    kept = json.loads((tmp_path / "profile.json").read_text())
    assert kept["costs"] == {"stub:random": {THREE[0]: {"rows": 12, "runs": 1, "seconds": 12.0}}}
    clock.took |= dict(zip(THREE, (25, 1, 10)))
    clock.asked.clear()
    found = timed_here(tmp_path)
    assert clock.asked == [*THREE[1:]]
    assert found.timing == {"stub:random": 36.0}
    assert [*found.limits] == [*THREE]


def test_a_hostile_name_stays_text(evenhand, tmp_path):
    name = "stub:say:<script>alert(1)</script>"
    found = evenhand("profile", "--model", name, "--benchmark", "contact_controls", *FEW, "--output", tmp_path / "p")
    assert found.code == 0, found.err
    page = (tmp_path / "p/profile.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_chance_is_of_each_models_own_design():
    """Two designs give random answers two scores: neither stands for both."""
    key = FigureKey("biased", (), "biased answers")

    def measure(*chances):
        runs = (SimpleNamespace(rows={key: FigureRow("biased", {}, 0.2, chance=chance)}) for chance in chances)
        return Measure(SimpleNamespace(), tuple(runs), None)

    assert measure(0.08, 0.11).chance(key) is None
    assert measure(0.08, 0.08).chance(key) == 0.08
    assert measure(None).chance(key) is None
