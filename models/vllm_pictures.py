"""Requests with pictures as vLLM takes them: tokens with one for each picture, and the pictures beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import PIL.Image
from transformers import ProcessorMixin

from evenhand.models.errors import Unanswerable, first_line
from evenhand.models.loading import Checkpoint
from evenhand.models.picture_layout import PicturePrompt, lay_out_pictures
from evenhand.models.picture_processor import load_processor
from evenhand.models.pictures import crops_to_the_middle, decoded, squared
from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.request import Request
from evenhand.models.vision_model import ACCEPTED, check_kind


@dataclass(frozen=True)
class PictureReader:
    """As a text model's reader; how many tokens a picture becomes vLLM knows, so that it refuses what is too long."""

    processor: ProcessorMixin

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> PictureReader:
        """Raises ModelError for what is no image-text-to-text model."""
        path, revision = checkpoint.source_of("processor_config.json")
        with replace(checkpoint, accepted=ACCEPTED).explained():
            check_kind(checkpoint.config)
            return cls(load_processor(path, revision, checkpoint.config))

    def prompts(self, requests: Sequence[Request]) -> list[Tokens | Unanswerable]:
        return [self._prompt(request) for request in requests]

    def continuations(self, requests: Sequence[Request]) -> list[list[Continuation] | Unanswerable]:
        """Prompt and choice, for every choice of each; or why it can't be answered."""
        return [self._choices(request) for request in requests]

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
            prompt = self._laid_out(request).open_ended()
            tokens = self._tokens(prompt)
            answers = [prompt.answer(self.processor.tokenizer, choice) for choice in request.choices]
        except ValueError as error:
            return Unanswerable("not_understood", first_line(error))
        return [Continuation(tokens, answer) for answer in answers]

    def _laid_out(self, request: Request) -> PicturePrompt:
        if not request.template:
            raise ValueError("image-text-to-text models are asked by their template here")
        self.pictures(request)
        return lay_out_pictures(self.processor, request.messages)

    def _tokens(self, prompt: PicturePrompt) -> Tokens:
        written = prompt.text + prompt.ending
        return tuple(self.processor.tokenizer(written, add_special_tokens=prompt.special_tokens)["input_ids"])
