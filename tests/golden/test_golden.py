"""Golden numbers: runs of all benchmarks give what they gave when tests/golden/record.py recorded them."""

import json
import math

import pytest

from tests.golden import cases

EXACT = 1e-9


def recorded(name):
    return json.loads((cases.HERE / f"{name}.json").read_text(encoding="utf-8"))


def unlike(found, golden, tolerance=EXACT, path=""):
    """Where the two differ, in words."""
    if isinstance(golden, dict) and isinstance(found, dict):
        for key in sorted({*golden} ^ {*found}):
            yield f"{path}/{key}: {'is missing' if key in golden else 'is new'}"
        for key in golden:
            if key in found:
                yield from unlike(found[key], golden[key], tolerance, f"{path}/{key}")
    elif isinstance(golden, list) and isinstance(found, list) and len(golden) == len(found):
        for k, (one, other) in enumerate(zip(found, golden)):
            yield from unlike(one, other, tolerance, f"{path}/{k}")
    elif isinstance(golden, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        if not math.isclose(found, golden, rel_tol=tolerance, abs_tol=tolerance):
            yield f"{path}: {found}, not {golden}"
    elif found != golden or isinstance(found, bool) != isinstance(golden, bool):
        yield f"{path}: {found!r}, not {golden!r}"


@pytest.fixture(scope="session")
def golden_root(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_SOURCES", str(cases.SOURCES))
        yield tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="session")
def again(golden_root):
    """again(case) → all of its parts and the recorded ones, its runs made once."""
    made = {}

    def call(case):
        if case.lacks:
            pytest.skip(f"{case.lacks} absent")
        if case.name not in made:
            golden = recorded(case.name)
            folders = cases.made(case, golden_root)
            found = cases.golden(case, *folders, golden_root, golden["gate"]["names"])
            made[case.name] = json.loads(json.dumps(found)), golden
        return made[case.name]

    return call


OF_RUNS = ("predictions", "results", "submit")
OF_BOTH = ("compare", "gate", "leaderboard")
EACH = [pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.slow else []) for each in cases.CASES]


@pytest.mark.parametrize("case", EACH)
@pytest.mark.parametrize("part", OF_RUNS)
def test_of_each_run(again, case, part):
    found, golden = again(case)
    for letter in ("a", "b"):
        of, recorded_of = (each["runs"][letter][part] for each in (found, golden))
        assert list(unlike(of, recorded_of, case.tolerance, letter)) == []


@pytest.mark.parametrize("case", EACH)
@pytest.mark.parametrize("part", OF_BOTH)
def test_of_both_runs(again, case, part):
    found, golden = again(case)
    assert list(unlike(found[part], golden[part], case.tolerance)) == []


@pytest.mark.parametrize("name", ["profile", "agree"])
def test_of_many_runs(golden_root, name):
    found = json.loads(json.dumps(getattr(cases, name)(golden_root)))
    assert list(unlike(found, recorded(name))) == []


@pytest.mark.parametrize(
    ("found", "golden", "said"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, []),
        ({"a": 1.1}, {"a": 1.0}, ["/a: 1.1, not 1.0"]),
        ({"a": True}, {"a": 1}, ["/a: True, not 1"]),
        ({"b": 1}, {"a": 1}, ["/a: is missing", "/b: is new"]),
        ({"a": [1, None]}, {"a": [1, 0.0]}, ["/a/1: None, not 0.0"]),
    ],
    ids=str,
)
def test_what_differs_is_told(found, golden, said):
    assert list(unlike(found, golden)) == said
