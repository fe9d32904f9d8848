"""How the paper's questions are put to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import Setting
from evenhand.benchmarks.option_order import OptionOrder
from evenhand.options import option


@dataclass(frozen=True)
class QuestionOptions(OptionOrder):
    """Of every benchmark that asks in the paper's words."""

    layout: Literal["chat", "published"] = option(
        "chat",
        "chat: each model's own template; published: LLaMA-2's for every model, as the published evaluation had it",
    )
    constrain: bool = option(
        False, "answers that are written are forced to JSON by a schema, of models that can keep to one"
    )


@dataclass(frozen=True)
class ContactOptions(QuestionOptions):
    held_out: Setting | None = option(
        None, "only what `evenhand train social-contact --setting SETTING` leaves for the test", metavar="SETTING"
    )
    held_out_seed: int = option(42, "the training's --seed", least=0, metavar="S", needs="held_out")
    all_rows: bool = option(
        False, 'rows whose descriptor contradicts the situation ("unemployed colleagues") are asked, too'
    )
