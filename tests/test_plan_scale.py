"""The calculation of docs/scale.md."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.report.markdown import markdown

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("plan_scale", ROOT / "scripts/plan_scale.py")
scale = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(scale)

GPU = scale.Gpu(operations=100.0, bandwidth=10.0, memory=200.0, computing=0.5, reading=0.5, filling=1.0)
MODEL = scale.Checkpoint("ten parameters", 10, kept=2, together=1)


def test_reading_is_arithmetic_and_writing_is_memory():
    """2 x 10 operations a token at 50 a second; a step reads 20 bytes of weights and 9 texts x 10 tokens x 2 at 5."""
    reading = scale.Work("", read=900, distinct=100, written=0, length=10)
    assert scale.seconds(reading, MODEL, GPU, 1) == pytest.approx(2 * 10 * 100 / 50)
    writing = replace(reading, distinct=0, written=90)
    assert scale.seconds(writing, MODEL, GPU, 1) == pytest.approx(10 * (20 + 9 * 10 * 2) / 5)


@pytest.mark.parametrize("work", scale.WORKS, ids=lambda work: work.name.split(":")[0])
@pytest.mark.parametrize("model", scale.MODELS, ids=lambda model: model.name)
def test_copies_share_the_work_and_small_machines_hold_none(work, model):
    fit = scale.seconds(work, model, scale.Gpu(), model.together)
    assert scale.seconds(work, model, scale.Gpu(), 8 * model.together) == pytest.approx(fit / 8)
    assert (scale.seconds(work, model, scale.Gpu(), 1) is None) == (model.together > 1)


def test_the_page_has_this_table():
    assert markdown(scale.table(scale.Gpu())) in (ROOT / "docs/scale.md").read_text()
