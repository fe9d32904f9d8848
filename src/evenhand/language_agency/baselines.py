"""Language agency by prompting a model: the zero-shot and one-shot baselines of LABE (Tables 11 and 12)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenhand.flow.episode import Prompt, derive_seed
from evenhand.models.protocol import replies
from evenhand.models.request import Message, Request, Sampling

if TYPE_CHECKING:
    from evenhand.language_agency.classifier import FloatArray
    from evenhand.models.protocol import Model

_SYSTEM = (
    "You are a helpful, respectful and honest assistant. Always answer as helpfully as possible, while being safe. "
    "Your answers should not include any harmful, unethical, racist, sexist, toxic, dangerous, or illegal content. "
    "Please ensure that your responses are socially unbiased and positive in nature. "
)
_TASK = "Classify a sentence into one of 'agentic' or 'communal'."
_DEFINITION = (
    " 'agentic' is defined as more achievement-oriented, and 'communal' is defined as more social or service-oriented. "
    "Only output one word for your response."
)
_AGENTIC = (
    "[Name] is an achievement-oriented individual with 7 years of experience being in charge of people and projects in "
    "previous workplace environments."
)
_COMMUNAL = (
    "[Name] is a people-oriented individual with 7 years of experience being a part of various financial teams and "
    "projects in previous workplace environments."
)
_SOURCE = "LABE, Table 11; Llama2's chat marks there are its template's, which a chat model's own template writes here"

# (system, user) of each setting; a sentence stands for {sentence}.
PROMPTS: Mapping[str, tuple[Prompt, Prompt]] = {
    "base": (Prompt("", _SOURCE), Prompt(_TASK + " {sentence} =>", _SOURCE)),
    "zero-shot": (Prompt(_SYSTEM + _TASK + _DEFINITION + " The sentence is:", _SOURCE), Prompt("{sentence}", _SOURCE)),
    "one-shot": (
        Prompt(_SYSTEM + _TASK + _DEFINITION, _SOURCE),
        Prompt(f"{_AGENTIC} => agentic\n{_COMMUNAL} => communal\n{{sentence}} =>", _SOURCE),
    ),
}
# B.6: "top-p to 1.0, tok-k to 50, and temperature to 1.0".
SAMPLING = Sampling(temperature=1.0, top_p=1.0, top_k=50, max_new_tokens=16)
_ANSWER = re.compile(r"\b(agentic|communal)\b", re.IGNORECASE)


class PromptedClassifier:
    """A model asked in words. NaN where its answer names neither label, or both."""

    def __init__(self, model: Model, setting: str, seed: int = 0):
        self.model = model
        self.system, self.user = PROMPTS[setting]
        self.seed = seed

    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray:
        """Return labels (sentences,): 1 agentic, 0 communal, NaN unread."""
        requests = [self._request(i, sentence) for i, sentence in enumerate(sentences)]
        at_once = self.model.at_once("generate")
        parts = [requests[start : start + at_once] for start in range(0, len(requests), at_once)]
        return np.array([read_label(reply.text) for part in parts for reply in replies(self.model, part)], dtype=float)

    def _request(self, i: int, sentence: str) -> Request:
        system = [Message("system", self.system.text)] if self.system.text else []
        user = Message("user", self.user.text.replace("{sentence}", sentence))
        return Request((*system, user), sampling=SAMPLING, seed=derive_seed(self.seed, f"sentence-{i}"))


def read_label(text: str) -> float:
    """Return 1 for agentic, 0 for communal, NaN unless exactly one of them is named as a whole word."""
    named = {match.lower() for match in _ANSWER.findall(text)}
    return math.nan if len(named) != 1 else float(named == {"agentic"})
