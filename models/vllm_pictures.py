"""Requests with pictures as vLLM takes them: tokens with one for each picture, and the pictures beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import PIL.Image
from transformers import ProcessorMixin

from evenhand.models.errors import Unanswerable, first_line
from evenhand.models.loading import Checkpoint
from evenhand.models.picture_layout import PictureLayout, PicturePrompt
from evenhand.models.picture_processor import load_processor
from evenhand.models.pictures import crops_to_the_middle, decoded, squared
from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.request import Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.vision_model import ACCEPTED, check_kind


@dataclass(frozen=True)
class PictureReader:
    """As a text model's reader; how many tokens a picture becomes vLLM knows, so that it refuses what is too long."""

    processor: ProcessorMixin
    settings: TemplateSettings = NO_SETTINGS

    @cached_property
    def layout(self) -> PictureLayout:
        return PictureLayout(self.processor, self.settings)

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> PictureReader:
        """Raises ModelError for what is no image-text-to-text model."""
        path, revision = checkpoint.source_of("processor_config.json")
        with replace(checkpoint, accepted=ACCEPTED).explained():
            check_kind(checkpoint.config)
            return cls(load_processor(path, revision, checkpoint.config), checkpoint.template)

    def prompts(self, requests: Sequence[Request]) -> list[Tokens | Unanswerable]:
        return [self._prompt(request) for request in requests]

    def continuations(self, requests: Sequence[Request]) -> list[list[Continuation] | Unanswerable]:
        """Prompt and choice, for every choice of each; or why it can't be answered."""
        return [self._choices(request) for request in requests]

    def opens_thought(self, request: Request) -> bool:
        """Whether the model writes on from inside a thought; of a request whose prompt was read."""
        return self.layout.lay_out(request.messages, answered=request.schema is not None).opened

    def pictures(self, request: Request) -> list[PIL.Image.Image]:
        """In order; oblong ones padded where the processor would keep their middle alone. They can be decoded: what
        can't was refused with its prompt."""
        crops = crops_to_the_middle(self.processor.image_processor)
        pictures = [decoded(image) for message in request.messages for image in message.images]
        return [squared(each, self.processor.image_processor) if crops else each for each in pictures]

    def _prompt(self, request: Request) -> Tokens | Unanswerable:
        try:
            return self._tokens(self._laid_out(request))
        except ValueError as error:
            return Unanswerable("not_understood", first_line(error))

    def _choices(self, request: Request) -> list[Continuation] | Unanswerable:
        try:
            prompt = self._laid_out(request)
            tokens = self._tokens(prompt)
            answers = [prompt.answer(self.processor.tokenizer, choice) for choice in request.choices]
        except ValueError as error:
            return Unanswerable("not_understood", first_line(error))
        return [Continuation(tokens, answer) for answer in answers]

    def _laid_out(self, request: Request) -> PicturePrompt:
        if not request.template:
            raise ValueError("image-text-to-text models are asked by their template here")
        self.pictures(request)
        return self.layout.lay_out(request.messages, answered=bool(request.choices) or request.schema is not None)

    def _tokens(self, prompt: PicturePrompt) -> Tokens:
        written = prompt.text + prompt.ending
        return tuple(self.processor.tokenizer(written, add_special_tokens=prompt.special_tokens)["input_ids"])
