"""Bytes that a training writes, of a model whose weights can be counted."""

from torch import nn

from evenhand.trainers.options import TuningOptions
from evenhand.trainers.run import count_bytes


def test_checkpoints_have_thrice_the_weights_that_are_learned():
    """100 learned weights and 900 others, of four bytes: a checkpoint has 1,200 bytes, what is saved at the end 400."""
    model = nn.ModuleList([nn.Linear(10, 10, bias=False), nn.Linear(30, 30, bias=False)])
    model[1].requires_grad_(False)
    assert count_bytes(model, TuningOptions(save_every=50), 40) == 1200 + 400
    assert count_bytes(model, TuningOptions(save_every=50), 90) == 2 * 1200 + 400
    assert count_bytes(model, TuningOptions(save_every=50), 9000) == 3 * 1200 + 400
    assert count_bytes(model, TuningOptions(save_every=50, merge=True), 40) == 1200 + 400 + 4000
