"""Packages of other people that are broken, quarrel about a name, or read their replies as numbers."""

import json
import sys

import pytest

from evenhand.errors import EvenhandError
from evenhand.flow import commands
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.plugins import Registry
from tests.scripted_models import Scripted

LIKERT = """
import datasets
from evenhand.benchmark import Benchmark, Card, Rows
from evenhand.models.request import Message, Request


class Likert(Benchmark):
    card = Card("likert", "Ratings", "nobody", "likert", ("all",), "", ("group",), ())

    def load(self, config):
        return Rows(datasets.Dataset.from_dict({"id": list("abcdef"), "group": ["x", "x", None, None, "y", "y"]}))

    def ask(self, row, how):
        return [Request((Message("user", row["id"]),), sampling=how.sampling, seed=how.seed, name=row["id"])]

    def read(self, row, replies, how):
        text = replies[0].text
        rating = int(text) if text.isdigit() else None
        value = None if rating is None else float(rating < 3)
        return [{"id": row["id"], "group": row["group"], "rating": rating, "value": value}]


class Alike(Likert):
    card = Card("alike", "Ratings", "nobody", "likert", ("all",), "", ("group",), ())

    def read(self, row, replies, how):
        return [{**each, "id": "the same"} for each in super().read(row, replies, how)]


class Failing:
    def __init__(self):
        raise RuntimeError("boom")
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """installed("name", code, {group: {entry: module:object}}) puts a package on the path, as an installer would."""

    def install(name, code, points):
        folder = tmp_path / name
        metadata = folder / f"{name}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{name}.py").write_text(code)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in each.items()) for group, each in points.items()]
        (metadata / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, name, raising=False)

    return install


@pytest.fixture
def benchmarks(installed, monkeypatch):
    """evenhand's mapping of benchmarks, made anew, with those of LIKERT."""
    known = {"likert": "likert:Likert", "alike": "likert:Alike", "failing": "likert:Failing", "other": "likert:Likert"}
    installed("likert", LIKERT, {"evenhand.benchmarks": known})
    anew = Registry("benchmark", "evenhand.benchmarks", {})
    for module in ("evenhand.benchmarks", "evenhand.flow.commands", "evenhand.report.pages"):
        monkeypatch.setattr(f"{module}.BENCHMARKS", anew)
    return anew


def test_unread_is_none_whatever_it_is_stored_as(benchmarks, tmp_path):
    """Ratings 1, hm, 5, 2, hm, 1: three of four read ones are below 3. Rows without a group count by themselves."""
    texts = dict(zip("abcdef", ["1", "hm", "5", "2", "hm", "1"]))
    model = Scripted(lambda request: texts[request.messages[-1].text])
    folder = evaluate(run_config("likert"), tmp_path / "run", model=model)
    row = folder.read_results().figures.row("value")
    assert row.value == 0.75
    assert (row.n, row.n_read, row.n_clusters) == (6, 4, 4)


def test_equal_ids_are_refused(benchmarks, tmp_path):
    with pytest.raises(EvenhandError, match="5 predictions have the id of another one, such as 'the same'"):
        evaluate(run_config("alike"), tmp_path / "run", model=Scripted(lambda request: "1"))


def test_what_can_not_be_made_is_explained_and_left_out(benchmarks, caplog):
    from evenhand.benchmarks import get_benchmark

    with pytest.raises(EvenhandError, match=r"'failing' of another package \(likert:Failing\).*boom; fix"):
        get_benchmark("failing")
    with pytest.raises(EvenhandError, match="'other' of another package calls itself 'likert' on its card"):
        get_benchmark("other")
    assert [each.card.name for each in benchmarks.every(get_benchmark)] == ["alike", "likert"]
    assert caplog.text.count("it is left out") == 2


def test_packages_that_bring_one_name_are_both_named(installed):
    for name in ("one", "two"):
        installed(name, LIKERT, {"evenhand.benchmarks": {"likert": f"{name}:Likert"}})
    known = Registry("benchmark", "evenhand.benchmarks", {"labe": "evenhand.benchmarks.labe.benchmark:Labe"})
    with pytest.raises(EvenhandError, match=r"several packages have .* 'likert' \(one:Likert, two:Likert\)"):
        known.make("likert")
    assert known.make("labe") is known.make("labe")


MITIGATIONS = """
from dataclasses import dataclass
from evenhand.mitigation import Mitigation
from evenhand.options import option

@dataclass(frozen=True)
class Clashing:
    sample: str = option("x", "its own", metavar="T")

@dataclass(frozen=True)
class Switched:
    gently: bool = option(True, "whether it is gentle")

class Clash(Mitigation):
    name, source, benchmarks, Options = "clash", "nobody", ("labe",), Clashing
    def wrap(self, episode, row, how, options): return episode

class Switch(Clash):
    name, Options = "switch", Switched
"""


@pytest.fixture
def mitigations(installed, monkeypatch):
    points = {"clash": "gentle:Clash", "switch": "gentle:Switch", "broken": "gentle:Nothing"}
    installed("gentle", MITIGATIONS, {"evenhand.mitigations": points})
    monkeypatch.setattr("evenhand.mitigations.MITIGATIONS", Registry("mitigation", "evenhand.mitigations", {}))


LABE = ["labe", "--model", "stub:first", "--classifiers", "lexicon", "--sample", "8"]


def test_a_broken_mitigation_and_one_whose_option_clashes_stop_nobody_else(mitigations, caplog):
    config, _ = commands.asked(LABE)
    assert config.options.sample == 8
    assert "'broken' of another package" in caplog.text
    with pytest.raises(EvenhandError, match="clash can't be used: its option --sample belongs to labe"):
        commands.asked([*LABE, "--mitigation", "clash"])


@pytest.mark.parametrize(("flags", "gently"), [([], True), (["--gently"], True), (["--no-gently"], False)])
def test_what_is_on_by_default_can_be_switched_off(mitigations, flags, gently):
    config, _ = commands.asked([*LABE, "--mitigation", "switch", *flags])
    assert json.loads(json.dumps(config.to_json()))["mitigation_options"] == {"gently": gently}
