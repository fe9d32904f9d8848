"""A mitigation that is an instruction in front of what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from evenhand.benchmark import Row
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Episode, Prediction, Prompt
from evenhand.mitigation import Mitigation, go_on
from evenhand.models.request import Message, Request
from evenhand.options import NoOptions


class PromptPrefix(Mitigation[NoOptions]):
    """Its instruction, a space, and the prompt; a role ("Act as …") stays next to the prompt."""

    prompt: ClassVar[Prompt]

    def wrap(self, episode: Episode, row: Row, how: Asking[Any], options: NoOptions) -> Episode:
        """Seeds stay as they are, so that answers with and without the instruction are pairs."""
        predictions = yield from go_on(episode, change=self._instructed)
        return [_told(each, self.prompt.text) for each in predictions]

    def _instructed(self, request: Request) -> Request:
        *before, prompt = request.messages
        parts = (prompt.content,) if isinstance(prompt.content, str) else prompt.content
        first = next(i for i, part in enumerate(parts) if isinstance(part, str))
        content = tuple(f"{self.prompt.text} {part}" if i == first else part for i, part in enumerate(parts))
        return replace(request, messages=(*before, Message(prompt.role, content)))


def _told(prediction: Prediction, instruction: str) -> Prediction:
    """Add the instruction to a prediction's verbatim prompt, if it has one."""
    return prediction | {"prompt": f"{instruction} {prediction['prompt']}"} if "prompt" in prediction else prediction
