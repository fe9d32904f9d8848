"""Measures that rank the same models: alike, the other way round, or nobody can say."""

import json
import math
import re

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import FigureRow, FigureTable
from evenhand.flow.configuration import run_config
from evenhand.flow.results import SCHEMA_VERSION, Results, RunWarning
from evenhand.flow.run_folder import RunFolder
from evenhand.report.agreement import agree
from evenhand.report.tables import p_text

CONTACT = ("contact_hypothesis", "m2", 1.0)


@pytest.fixture
def ran(tmp_path):
    """ran("labe", "m", 3.5, …) → the folder of a finished run with this score; further settings by name."""

    def call(benchmark, model, score, folder=None, unread_rate=0.0, rehearsal=False, identity=None, **options):
        config = get_benchmark(benchmark).configuring.filled(run_config(benchmark, model, **options)).to_json()
        n_read = round(100 * (1 - unread_rate))
        value = math.nan if score is None else score
        row = FigureRow(get_benchmark(benchmark).figures[0].key, {}, value, n=100, n_read=n_read, n_clusters=12)
        warnings = (RunWarning("rehearsal", "Placeholders."),) if rehearsal else ()
        results = Results(
            SCHEMA_VERSION, benchmark, config, model, model, identity or model, {}, [], 100, n_read,
            FigureTable([row]), warnings, [], {},
        )  # fmt: skip
        run = RunFolder(tmp_path / (folder or f"{benchmark}-{model}"))
        run.path.mkdir()
        run.config.write_text(json.dumps(config))
        run.predictions_file.touch()
        run.write_results(results)
        return run.path

    return call


@pytest.fixture
def both(ran):
    """both(scores of labe) → folders of five models in contact_hypothesis, with scores 1 to 5, and in labe."""

    def call(scores):
        short = [ran("contact_hypothesis", f"m{i}", float(i)) for i in range(1, 6)]
        return [*short, *(ran("labe", f"m{i}", score) for i, score in enumerate(scores, start=1))]

    return call


def cells(table):
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_five_models_alike_but_for_two(both):
    """1 2 3 4 5 against 1 2 3 5 4: r = 1 - 6 * 2 / (5 * 24) = 0.9; 10 of 120 orders correlate as much."""
    found = agree(*both([10, 20, 30, 50, 40]))
    assert cells(found.tables[0]) == {
        "contact_hypothesis and labe": ["0.90 [-0.17, 1.00]", "0.0833", "0.0833", "5", "5"]
    }
    assert cells(found.tables[1])["m4"] == ["4", "50"]
    assert "may be none: the one can't stand for the other" in found.sentences[0]
    assert not found.warnings
    assert "ACL 2025" in found.tables[0].note


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([5, 4, 3, 2, 1], "correlation of -1.00, the most there can be (adjusted p 0.0167): who is more biased"),
        ([7, 7, 7, 7, 7], "all 5 models have the same score in one of them"),
        ([10, 20, 30], "have 3 models in common: nothing can be said of fewer than 4"),
    ],
)
def test_what_can_be_said(both, scores, said):
    assert said in agree(*both(scores)).sentences[0]


def test_many_models_that_agree_are_said_to(ran):
    folders = [
        ran(name, f"m{i}", float(abs(i - swap)))
        for name, swap in (("labe", 0), ("contact_hypothesis", 0.6))
        for i in range(9)
    ]
    [sentence] = agree(*folders).sentences
    assert sentence.endswith("who is more biased by the one tends to be so by the other.")


def test_what_is_adjusted_away_is_not_said(ran):
    """Eight models of three measures, r = 0.81 [0.12, 0.97] in a pair: p is 0.0218 by itself, 0.0653 over three."""
    orders = {
        "labe": range(8),
        "contact_hypothesis": (1, 2, 0, 5, 4, 3, 7, 6),
        "contact_controls": (3, 6, 1, 4, 7, 2, 5, 0),
    }
    found = agree(*(ran(name, f"m{i}", 1.0 + rank) for name, of in orders.items() for i, rank in enumerate(of)))
    assert cells(found.tables[0])["labe and contact_hypothesis"][:3] == ["0.81 [0.12, 0.97]", "0.0218", "0.0653"]
    assert found.sentences[0].endswith("(adjusted p 0.0653), which may be none: the one can't stand for the other.")


def test_too_few_bases_to_reject_anything_are_not_in_the_family(ran):
    """Four models agree in all: p is 1/12 at least, and the pair of six models is adjusted for itself alone."""
    six = [ran(name, f"m{i}", float(i)) for name in ("labe", "contact_controls") for i in range(1, 7)]
    found = agree(*six, *(ran("contact_hypothesis", f"m{i}", float(i)) for i in range(1, 5)))
    rows = cells(found.tables[0])
    assert rows["labe and contact_controls"][1:3] == ["0.0028", "0.0028"]  # 2 of 720 orders
    assert rows["labe and contact_hypothesis"][1:3] == ["0.0833", "no data"]
    assert "Holm over this family of 1. It leaves out pairs with too few bases" in found.tables[0].note
    assert sum("which may be none" in each and "p is 0.0833 at least" in each for each in found.sentences) == 2


@pytest.mark.parametrize(
    ("constant", "n_clusters", "said"),
    [
        ([{}], 12, "its answers are constant"),
        ([{"scale": "certainty"}, {"scale": "likelihood"}, {}], 12, "its answers are constant"),
        ([{"scale": "certainty"}], 12, None),
        ([], 3, None),
        ([], 1, "its score is of 1 cluster, and chance alone ranks so few"),
    ],
    ids=str,
)
def test_scores_that_say_nothing_are_left_out(both, constant, n_clusters, said):
    folders = both([10, 20, 30, 50, 40])
    path = folders[0] / "results.json"
    record = json.loads(path.read_text())
    record["warnings"] = [{"code": "constant_answer", "text": "always yes", "groups": groups} for groups in constant]
    record["figures"][0]["n_clusters"] = n_clusters
    path.write_text(json.dumps(record))
    found = agree(*folders)
    assert cells(found.tables[0])["contact_hypothesis and labe"][-1] == ("4" if said else "5")
    assert [said in warning for warning in found.warnings] == ([True] if said else [])


def test_texts_are_told_by_what_is_in_them_not_by_where_they_lie(ran):
    """One file in two folders is one model of one measure; another file of that name is another."""
    folders = [ran("labe", "a.csv", float(i), f"t{i}", texts=f"/{i}/a.csv") for i in range(3)]
    for folder, sha in zip(folders, ("1" * 64, "1" * 64, "2" * 64)):
        path = folder / "results.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"rows_sha256": sha}))
    found = agree(*folders, ran("contact_controls", "m", 1.0))
    assert list(cells(found.tables[1])) == ["a.csv (texts 111111111111)", "a.csv (texts 222222222222)", "m"]
    assert cells(found.tables[1])["a.csv (texts 111111111111)"] == ["0.5", "not measured"]


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "<0.0001"), (0.00004, "<0.0001"), (0.00006, "0.0001"), (1.0, "1.0000"), (float("nan"), "no data")],
)
def test_no_p_is_zero(p, text):
    assert p_text(p) == text


def test_a_model_is_its_name_and_its_mitigation(both, ran):
    """m1 without and with the instruction: two models, of which contact_hypothesis knows one."""
    folders = [*both([10, 20, 30, 50, 40]), ran("labe", "m1", 9.0, "mitigated", mitigation="fairness-instruction")]
    found = agree(*folders)
    assert cells(found.tables[0])["contact_hypothesis and labe"][-1] == "5"
    assert cells(found.tables[1])["m1 with fairness-instruction"] == ["not measured", "9"]


def test_settings_make_measures_seeds_do_not(both, ran):
    """Another protocol is another measure, three pairs in all; another seed is the same one again, and averaged."""
    folders = both([10, 20, 30, 50, 40])
    generated = [ran("contact_hypothesis", f"m{i}", 6.0 - i, f"g{i}", protocol="generate") for i in range(1, 6)]
    again = ran("labe", "m1", 30.0, "again", seed=7, batch_size=2)
    found = agree(*folders, *generated, again, again)
    name = "contact_hypothesis (protocol generate)"
    assert list(cells(found.tables[0])) == [
        "contact_hypothesis and labe", f"contact_hypothesis and {name}", f"labe and {name}"
    ]  # fmt: skip
    assert cells(found.tables[1])["m1"] == ["1", "20", "5"]
    assert found.warnings == ("m1 has 2 runs of labe: the mean of their scores counts",)
    assert cells(found.tables[0])[f"contact_hypothesis and {name}"][:3] == ["-1.00", "0.0167", "0.0500"]  # 3 * 2 / 120


def test_a_measure_is_named_by_what_is_not_usual_in_it(ran):
    """Whichever run comes first."""
    part = ran("contact_hypothesis", "m", 1.0, "part", configs=("new_certainty", "certainty"), limit=60)
    found = agree(part, ran("contact_hypothesis", "m", 2.0))
    assert found.tables[1].columns[1:] == (
        "contact_hypothesis (configs new_certainty certainty, limit 60)", "contact_hypothesis"
    )  # fmt: skip


def test_runs_that_say_nothing_are_left_out_and_named(both, ran):
    more = [
        ran("labe", "silent", 1.0, unread_rate=0.6),
        ran("labe", "nowhere", None),
        ran("labe", "placed", 1.0, rehearsal=True),
    ]
    found = agree(*both([10, 20, 30, 50, 40]), *more)
    for path, why in zip(more, ("40 of 100 answers were read", "it has no score", "a rehearsal with placeholders")):
        assert any(warning.startswith(f"{path} is left out: {why}") for warning in found.warnings)
    assert len(found.tables[1].rows) == 5


def test_one_measure_agrees_with_nothing(ran):
    folders = [ran("labe", f"m{i}", 1.0 + i) for i in range(5)]
    with pytest.raises(UsageError, match=r"two measures or more are needed, of the same models; these are of labe$"):
        agree(*folders)
    silent = ran("contact_hypothesis", "m0", 1.0, unread_rate=1.0)
    with pytest.raises(UsageError, match=r"left out: .*contact_hypothesis-m0 is left out: 0 of 100 answers were read"):
        agree(*folders, silent)


def test_the_command_prints_and_writes_a_page(both, evenhand, tmp_path):
    page = tmp_path / "page.html"
    called = evenhand("agree", *both([10, 20, 30, 50, 40]), "--output", page)
    assert called.code == 0, called.err
    assert re.search(r"contact_hypothesis and labe\s+0\.90 \[-0\.17, 1\.00\]", called.out)
    assert "which may be none" in called.out
    assert "0.90 [-0.17, 1.00]" in page.read_text()
    assert evenhand("agree", "--help").code == 0
    assert evenhand("agree", tmp_path / "nowhere", page).code == 2


def test_revisions_of_a_model_are_models_of_their_own(both, ran):
    folders = [*both([1.0, 2.0, 3.0, 4.0, 5.0]), ran("labe", "m1", 9.0, folder="later", revision="later")]
    assert "m1@later" in {row[0].text for row in agree(*folders).tables[1].rows}
    assert not any("has 2 runs" in warning for warning in agree(*folders).warnings)


@pytest.mark.parametrize(
    ("usual", "other", "told"),
    [
        ({}, {"dtype": "float32"}, ("dtype auto", "dtype float32")),
        ({"identity": "m1@c0ffee bfloat16"}, {"identity": "m1@c0ffee float32"}, ("dtype bfloat16", "dtype float32")),
        ({"identity": "m1@c0ffee float32"}, {"identity": "m1@decade float32"}, ("weights c0ffee", "weights decade")),
        (
            {},
            {"model_options": (("quantization", "4bit"),)},
            ("model options none", "model options quantization=4bit"),
        ),
    ],
    ids=str,
)
def test_a_model_that_was_not_run_in_one_way_is_not_paired(ran, usual, other, told):
    """Of five models in common one had another dtype, other weights or options: four are left, and it is said."""
    folders = [ran("labe", f"m{i}", float(i), **usual if i == 1 else {}) for i in range(1, 6)]
    folders += [ran("contact_hypothesis", f"m{i}", float(i), **other if i == 1 else {}) for i in range(1, 6)]
    found = agree(*folders)
    assert cells(found.tables[0])["labe and contact_hypothesis"][-1] == "4"
    names = [f"m1 ({each})" for each in told]
    assert set(names) < cells(found.tables[1]).keys()
    assert found.warnings == (
        f"m1 was not run in one way, and what differs makes models of their own: {', '.join(names)}",
    )


def test_runs_of_one_measure_under_two_dtypes_are_not_averaged(both, ran):
    again = ran("labe", "m1", 30.0, "again", dtype="float32")
    found = agree(*both([10, 20, 30, 50, 40]), again)
    assert cells(found.tables[1])["m1 (dtype float32)"] == ["not measured", "30"]
    assert not any("runs of labe" in warning for warning in found.warnings)


def test_what_decides_nothing_tells_no_models_apart(ran):
    """A dtype that was asked for or chosen by itself, where weights go, a labels file, how many prompts at once."""
    alike = [
        {"dtype": "float32", "identity": "m1@c0ffee float32"},
        {"identity": "m1@c0ffee float32", "batch_size": 3},
        {"identity": "m1@c0ffee float32", "model_options": (("device_map", "cpu"),)},
        {"identity": "m1@c0ffee float32", "labels": "labels.csv"},
    ]
    found = agree(*(ran("labe", "m1", 10.0, f"r{i}", **each) for i, each in enumerate(alike)), ran(*CONTACT))
    assert cells(found.tables[1]) == {"m1": ["10", "not measured"], "m2": ["not measured", "1"]}
    assert found.warnings == ("m1 has 4 runs of labe: the mean of their scores counts",)


def test_a_run_with_an_impossible_unread_rate_is_damaged(both, ran):
    changed = ran("labe", "changed", 1.0)
    results = changed / "results.json"
    results.write_text(results.read_text().replace('"n_read": 100', '"n_read": 700'))
    with pytest.raises(EvenhandError, match="n_read"):
        agree(*both([1.0, 2.0, 3.0, 4.0, 5.0]), changed)


def test_variants_of_one_base_are_one_model(ran):
    """Five adapters of one base beside three others: eight models, four bases, of which the five count by their mean.

    Bases score 1, 2, 3 and (10 + … + 14) / 5 = 12; the other measure ranks them alike: r is 1, as of 2 of 24 orders.
    """
    alone = [ran(name, f"m{i}", float(i)) for name in ("labe", "contact_controls") for i in (1, 2, 3)]
    adapters = [
        ran(name, f"a{i}", 10.0 + i, identity=f"a{i}@{i}abc+c0ffee bfloat16")
        for name in ("labe", "contact_controls")
        for i in range(5)
    ]
    found = agree(*alone, *adapters)
    assert cells(found.tables[0]) == {"labe and contact_controls": ["1.00", "0.0833", "no data", "4", "8"]}
    assert "rank the 4 independent bases of 8 models that both have" in found.sentences[0]
    assert found.warnings == (
        "5 models have one base and count as one, by the mean of their scores: a0, a1, a2, a3, a4",
    )
    assert len(found.tables[1].rows) == 8
    [sentence] = agree(*alone[1:3], *alone[4:], *adapters).sentences
    assert "have 7 models in common, of 3 independent bases: nothing can be said of fewer than 4" in sentence


@pytest.mark.parametrize(
    "variants",
    [
        [{"model": "b", "identity": "b@c0ffee bfloat16"}, {"model": "a", "identity": "a@1abc+c0ffee float32"}],
        [{"model": "b", "dtype": "float32"}, {"model": "b", "dtype": "bfloat16"}],
        [{"model": "b"}, {"model": "b", "mitigation": "fairness-instruction"}],
        [{"model": "b"}, {"model": "b", "revision": "later"}],
        [{"model": "b"}, {"model": "a", "model_options": (("base", "b"),)}],
        [{"model": "b"}, {"model": "b", "model_options": (("quantization", "4bit"),)}],
    ],
    ids=str,
)
def test_what_makes_a_variant_of_a_base(ran, variants):
    folders = [
        ran(name, each["model"], float(i), f"{name}{i}", **{key: each[key] for key in each if key != "model"})
        for name in ("labe", "contact_controls")
        for i, each in enumerate(variants)
    ]
    assert sum("2 models have one base and count as one" in warning for warning in agree(*folders).warnings) == 1


def test_models_of_unknown_weights_are_bases_of_their_own(ran):
    folders = [ran("labe", f"m{i}", 1.0, identity=f"m{i}@unknown bfloat16") for i in range(2)]
    assert agree(*folders, ran(*CONTACT)).warnings == ()
