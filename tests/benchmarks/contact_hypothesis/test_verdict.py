"""What is called debiased, and what is not; the effect of contact between models; Figures 4 to 7 side by side."""

import pandas as pd
import pytest

from evenhand.benchmarks.contact_hypothesis import verdict
from evenhand.figure import Design, Sample
from evenhand.flow.results import Results
from evenhand.report.differences import FigureKey
from evenhand.statistics.clustered import Difference
from evenhand.statistics.estimators import PairedEffect
from evenhand.training_record import base_of, training_record

DESIGN = Design(("situation",))
IDENTITY = "lab/base@0123 bfloat16"
IDEAL = {
    "trainer": "social-contact",
    "recipe": {"setting": "disjoint", "seed": 42, "source": "evenhand", "all_rows": False, "limit": 480},
    "base": {"model": "lab/base", "identity": IDENTITY},
    "judged": {"verdict": "ideal", "by_sound": {"positive": "right", "negative": "right"}},
}
HELD_OUT = {"held_out": "disjoint", "held_out_seed": 42, "all_rows": False}
CONFIG = {"source": "evenhand", "configs": ["certainty", "likelihood"], "mitigation": None, "options": HELD_OUT}


def controlled(verdict, **by_sound):
    return recorded(20.0, 20.5) | {"judged": {"verdict": verdict, "by_sound": by_sound}}


def recorded(*perplexities):
    return IDEAL | {"measured": [{"step": step, verdict.PERPLEXITY: value} for step, value in enumerate(perplexities)]}


def differing(estimate):
    return Difference(50, 50 + estimate, estimate, estimate - 1, estimate + 1, p_value=0.001, n=100, n_clusters=40)


def on(scale):
    return FigureKey("biased", (("scale", scale),), f"biased answers: {scale}")


N = 20  # questions of each action on a scale, each of a situation of its own


def answers(**affirmed):
    """By scale, how many of N questions about unkind actions and of N about kind ones are affirmed; None: unread."""
    rows = []
    for scale, (unkind, kind) in affirmed.items():
        for action, told in (("negative", unkind), ("positive", kind)):
            for k in range(N):
                biased = None if told is None else (k < told) == (action == "negative")
                rows.append((f"{scale}/{action}/{k}", scale, action, biased))
    found = pd.DataFrame(rows, columns=["id", "scale", "action", "biased"]).astype({"biased": "boolean"})
    return found.assign(situation=found["id"], descriptor="d" + found.index.to_series().mod(5).astype(str))


BASE = answers(certainty=(N // 2, N // 2), likelihood=(N // 2, N // 2))
UNBIASED = {"certainty": (0, N), "likelihood": (0, N)}


class Told:
    """A run, as far as a verdict looks at it."""

    def __init__(self, letter, predictions, config=None, identity=None, rows_sha256=None):
        self.letter = letter
        self.results = self
        self.model = self.model_name = "folder"
        self.model_identity = identity or IDENTITY
        self.rows_sha256 = rows_sha256
        self.config = CONFIG | (config or {})
        self.predictions = predictions

    option = Results.option


def judged(monkeypatch, record, estimates, p=0.001, margin=5.0, base=BASE, first=None, second=None, **affirmed):
    """first, second: further parts of the runs."""
    monkeypatch.setattr(verdict, "training_record", lambda model: record)
    differences = {on(scale): differing(each) for scale, each in estimates.items()}
    runs = Told("A", base, **(first or {})), Told("B", answers(**(UNBIASED | affirmed)), **(second or {}))
    told = verdict.verdict(*runs, differences, [p] * len(differences), margin)
    return told[0] if told else ""


def test_less_bias_alone_is_called_debiased(monkeypatch):
    found = judged(monkeypatch, recorded(20.0, 20.5), {"certainty": -30.0, "likelihood": -20.0})
    assert found.startswith("B gives fewer biased answers than A on certainty and likelihood: it is called debiased")


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ({"record": recorded(20.0, 21.5)}, "grew by 7.5 %, beyond the margin of 5 %"),
        ({"record": IDEAL}, "has no perplexity on other text"),
        ({"record": recorded("x", None)}, "has no perplexity on other text"),
        ({"certainty": (0, 0)}, "on certainty became nearly constant, whatever the action (100.0 % the same)"),
        ({"certainty": (0, 4)}, "on certainty became nearly constant, whatever the action (90.0 % the same)"),
        ({"likelihood": (17, 20)}, "on likelihood became nearly constant, whatever the action (92.5 % the same)"),
        (
            {"certainty": (None, 20)},
            "on certainty were read for one sort of action alone",
        ),
        ({"certainty": (None, None)}, "on certainty were read in one run (100.0 and 0.0 %)"),
        (
            {"base": answers(certainty=(None, None), likelihood=(10, 10))},
            "on certainty were read in one run (0.0 and 100.0 %)",
        ),
        ({"certainty": (None, 20)}, "unread answers on certainty rose beyond the margin of 5 points (0.0 to 50.0 %)"),
        ({"certainty": (18, 20)}, "it accepts unkind actions more often on certainty, by 40.0 ["),
        ({"certainty": (0, 2)}, "it declines kind actions more often on certainty, by 40.0 ["),
        ({"certainty": (14, 20), "likelihood": (14, 20)}, "more often on all scales together, by 20.0 ["),
        ({"record": recorded(20.0, 20.5) | {"judged": None}}, "isn't known (its training asked no controls): run"),
        ({"record": controlled("undecided", positive="right", negative="open")}, "(its controls leave that open)"),
        (
            {"record": controlled("polarity", positive="yes", negative="no")},
            "by its controls it follows a polarity: yes to",
        ),
        (
            {"record": controlled("constant", positive="no", negative="no")},
            "by its controls it gives most questions one",
        ),
        (
            {"record": controlled("one-sided", positive="yes", negative="open")},
            "by its controls it is one-sided: yes to most actions that sound kind, where that is right and where it is",
        ),
        ({"estimates": {"certainty": -30.0, "likelihood": 10.0}}, "it gives more biased answers elsewhere"),
        ({"p": 0.2}, "no scale shows fewer biased answers"),
        ({"estimates": {"certainty": 30.0}}, "no scale shows fewer biased answers"),
    ],
)
def test_what_speaks_against_it_is_said_instead(monkeypatch, case, says):
    asked = {"record": recorded(20.0, 20.5), "estimates": {"certainty": -30.0, "likelihood": -20.0}} | case
    found = judged(monkeypatch, **asked)
    assert "It is not called debiased: " in found
    assert says in found
    assert "called debiased, on these prompts" not in found


LEARNED = "the rows may be among those that it learned from"


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ({"second": {"config": {"options": HELD_OUT | {"held_out": None}}}}, LEARNED),
        ({"second": {"config": {"options": HELD_OUT | {"held_out": "1"}}}}, LEARNED),
        ({"second": {"config": {"options": HELD_OUT | {"held_out_seed": 43}}}}, LEARNED),
        ({"second": {"config": {"options": HELD_OUT | {"all_rows": True}}}}, LEARNED),
        ({"second": {"config": {"source": "official"}}}, LEARNED),
        ({"second": {"config": {"options": {}, "configs": ["certainty", "new_certainty"]}}}, LEARNED),
        ({"second": {"rows_sha256": "ab"}}, "the rows are a file's"),
        ({"record": recorded(20.0, 20.5) | {"recipe": None}}, "doesn't say which prompt sets it learned from"),
        ({"record": recorded(20.0, 20.5) | {"data": {"sha256": "ab"}}}, "it learned from a file"),
        ({"first": {"identity": "lab/other@9 bfloat16"}}, "the other, folder, is not what it was tuned from"),
        ({"first": {"identity": "a server's"}}, "the other, folder, is not what it was tuned from"),
        ({"record": recorded(20.0, 20.5) | {"base": None}}, "doesn't say what it was tuned from"),
        ({"first": {"config": {"mitigation": "unbiased-instruction"}}}, "with a mitigation that the other was not"),
        ({"record": recorded(20.0, 20.5) | {"data": {"mixed": {"examples": 3}}}}, "it learned from a file"),
        (
            {"first": {"config": {"options": HELD_OUT | {"layout": "published"}}}},
            "were asked otherwise (options.layout",
        ),
    ],
)
def test_rows_that_were_learned_from_and_strangers_prove_nothing(monkeypatch, case, says):
    """Who knows by heart what it was trained on, asked just that, is not called debiased; nor beside another model."""
    found = judged(monkeypatch, **({"record": recorded(20.0, 20.5), "estimates": {"certainty": -30.0}} | case))
    assert "It is not called debiased: " in found
    assert says in found


@pytest.mark.parametrize(
    "case",
    [
        {
            "second": {"config": {"options": {}, "configs": ["new_certainty", "new_likelihood"]}}
        },  # no setting trains on it
        {"record": recorded(20.0, 20.5) | {"trainer": "implicit-bias", "recipe": {"seed": 1}}},
        {
            "record": recorded(20.0, 20.5) | {"recipe": {"benchmark": "bbq", "setting": "disjoint"}},
            "second": {"config": {"options": {}}},
        },
        {"first": {"identity": "lab/base@0123 float32"}},
    ],
)
def test_what_was_never_learned_from_needs_no_cut(monkeypatch, case):
    found = judged(monkeypatch, **({"record": recorded(20.0, 20.5), "estimates": {"certainty": -30.0}} | case))
    assert "it is called debiased" in found


def test_a_wider_margin_is_the_users_word(monkeypatch):
    found = judged(monkeypatch, recorded(20.0, 21.5), {"certainty": -30.0}, margin=10)
    assert "it is called debiased" in found


def test_of_models_that_no_trainer_left_nothing_is_said(monkeypatch):
    assert judged(monkeypatch, {}, {"certainty": -30.0}) == ""


def test_answers_that_depend_on_the_action_though_not_always_are_called_debiased(monkeypatch):
    """Three of four are the same on a scale (unkind 0, kind 10 of 20), which is no rise of either error."""
    found = judged(monkeypatch, recorded(20.0, 20.0), {"certainty": -30.0}, certainty=(0, 10), likelihood=(10, 20))
    assert "it is called debiased" in found


def test_rates_by_action_stand_beside(monkeypatch):
    monkeypatch.setattr(verdict, "training_record", lambda model: recorded(20.0, 20.0))
    base, second = Told("A", answers(certainty=(20, 15))), Told("B", answers(certainty=(10, None)))
    said = verdict.verdict(base, second, {on("certainty"): differing(-3)}, [0.01], 5.0)[1]
    assert "B accepts 50.0 % of what should be declined (A: 100.0 %)" in said
    assert "declines no data of what should be accepted (A: 25.0 %)" in said


def test_records_that_are_none_are_empty(tmp_path):
    assert training_record(str(tmp_path)) == {}
    for text in ("", "[]", "{", "[" * 100_000, '"a"'):
        (tmp_path / "training.json").write_text(text)
        assert training_record(str(tmp_path)) == {}
    assert base_of({"base": "embedded"}) is None
    assert base_of({"base": {"model": "embedded"}}) == "embedded"


def test_the_effect_of_contact_is_that_of_each_prompt_set():
    rows = [("r1", "no_contact", True), ("r1", "positive_contact", False), ("r1", "negative_contact", True)]
    rows += [("r2", "no_contact", False), ("r2", "positive_contact", False), ("r2", "negative_contact", None)]
    predictions = pd.DataFrame(rows, columns=["row", "contact", "biased"]).astype({"biased": "boolean"})
    predictions = predictions.assign(id=predictions["row"] + predictions["contact"], situation="x")
    effect = PairedEffect("biased", "contact", "no_contact", "row")
    values = {of["contact"]: rows.set_index("id")["value"] for of, rows in effect.values(Sample(predictions, DESIGN))}
    assert values["positive_contact"].to_dict() == {"r1": -100.0, "r2": 0.0}
    assert values["negative_contact"]["r1"] == 0.0
    assert pd.isna(values["negative_contact"]["r2"])


@pytest.mark.parametrize("margin", ["-1", "nan", "inf", "a"])
def test_a_margin_is_a_percentage(evenhand, margin):
    called = evenhand("compare", "a", "b", "--margin", margin)
    assert called.code == 2
    assert "must be a percentage of 0 or more" in called.err
