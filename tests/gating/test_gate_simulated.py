"""The whole gate on drawn answers, of several figures, some of them unread: it seldom passes what is worse."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from evenhand.gating import gate as gating
from evenhand.gating.pairs import RunPair, pair_runs
from evenhand.gating.policy import Policy
from evenhand.statistics import clustered

MARGIN = 20.0
CONTACTS = ("no_contact", "positive_contact", "negative_contact")
POLICY = Policy(
    max_increase=MARGIN, figures=tuple((f"biased answers: certainty, {each}", MARGIN) for each in CONTACTS[:2])
)


@pytest.fixture
def passed(finished, tmp_path, monkeypatch):
    """passed(more, unread) → of 30 data sets, each of 120 answers a contact, how many the gate passes. Of base answers
    30 % are biased, of the candidate's so many more, by contact; a share of both is unread."""
    monkeypatch.setattr(clustered, "PERMUTATIONS", 9)  # their p-values decide nothing here
    monkeypatch.setattr(gating, "describe_rows_needed", lambda pairs, judged: ())
    source = finished("contact_hypothesis", "stub:random", limit=120, configs=("certainty",))
    other = shutil.copytree(source, tmp_path / "other")
    [pair] = pair_runs(source, other)
    rng = np.random.default_rng(0)

    def drawn(run, more, unread):
        of = run.predictions
        biased = rng.random(len(of)) < 0.3 + of["contact"].map(more).astype(float)
        return replace(
            run, predictions=of.assign(biased=biased.astype(object).where(rng.random(len(of)) >= unread, None))
        )

    def call(more, unread):
        verdicts = []
        for _ in range(30):
            found = RunPair(
                drawn(pair.base, dict.fromkeys(CONTACTS, 0.0), unread), drawn(pair.candidate, more, unread), pair.name
            )
            monkeypatch.setattr(gating, "pair_runs", lambda base, candidate, found=found: [found])
            verdicts.append(gating.gate(source, other, POLICY).verdict)
        return verdicts.count("pass")

    return call


@pytest.mark.slow
@pytest.mark.parametrize("unread", [0.0, 0.02])
def test_one_figure_that_is_worse_by_its_margin_seldom_passes(passed, unread):
    """Two others got better. At most one in twenty passes in the long run: P(more than 5 of 30) is 0.3 %."""
    assert passed(dict(zip(CONTACTS, (MARGIN / 100, -0.1, -0.2))), unread) <= 5


@pytest.mark.slow
def test_what_is_no_worse_passes(passed):
    assert passed(dict.fromkeys(CONTACTS, 0.0), 0.0) >= 15
