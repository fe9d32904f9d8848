"""Any image-text-to-text model that transformers loads: pictures and text in, text out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import PIL.Image
import torch
from transformers import (
    AutoModelForImageTextToText,
    BatchFeature,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedModel,
    ProcessorMixin,
    StoppingCriteria,
    StoppingCriteriaList,
)

from evenhand.models.box_scales import BOX_SCALES, BoxScale
from evenhand.models.errors import Unanswerable, first_line, too_long
from evenhand.models.generation import (
    CountsWritten,
    ForcedAnswers,
    choice_reply,
    end_tokens,
    make_processors,
    own_sampling,
    reply_of,
)
from evenhand.models.loading import Checkpoint
from evenhand.models.local_model import LocalModel
from evenhand.models.picture_reader import ACCEPTED, PictureLayout, PicturePrompt, decode_picture, load_processor
from evenhand.models.pictures import squared
from evenhand.models.prefix_tree import LogProbs, Tokens
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Image, Reply, Request, Sampling
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings

logger = logging.getLogger(__name__)

# What processors, and models given what processors made, raise for requests that they can't take.
_REFUSALS = (ValueError, TypeError, LookupError, StopIteration)

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One row of a batch. answer: what is to be written, of the choice of that number; none: what the model writes."""

    place: int
    request: Request
    prompt: PicturePrompt
    answer: Tokens = ()
    choice: int = 0

    @property
    def new_tokens(self) -> int:
        return len(self.answer) or self.request.sampling.max_new_tokens


class VisionModel(LocalModel):
    """A checkpoint with its processor.

    box_scale: on which scale it writes bounding boxes, None where it answers in words or nothing is documented.
    settings: of its chat template, which are part of the identity where the template uses them.
    """

    can: frozenset[Ability] = frozenset({"generate", "choose", "see"})
    batches: Mapping[Kind, int] = MappingProxyType({"choose": 2, "generate": 2})

    def __init__(
        self,
        load: Callable[[], PreTrainedModel],
        processor: ProcessorMixin,
        identity: str,
        context: int | None,
        batch_size: int = 16,
        box_scale: BoxScale | None = None,
        name: str | None = None,
        settings: TemplateSettings = NO_SETTINGS,
    ):
        self.layout = PictureLayout(processor, settings)
        super().__init__(load, identity, name, context, batch_size, self.layout.chat)
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.box_scale = box_scale
        self._warned = False
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token or self.tokenizer.convert_ids_to_tokens(0)

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, batch_size: int = 16) -> VisionModel:
        """Raises ModelError saying what could not be loaded, or that it is no image-text-to-text model; of the weights,
        when the first question comes."""
        checkpoint = replace(checkpoint, accepted=ACCEPTED)
        processor = load_processor(checkpoint)
        model = cls(
            lambda: checkpoint.weights(AutoModelForImageTextToText),
            processor,
            checkpoint.identity,
            checkpoint.context,
            batch_size,
            BOX_SCALES.get(checkpoint.config.model_type),
            name=checkpoint.name or checkpoint.path,
            settings=checkpoint.template,
        )
        model.notes = checkpoint.notes
        return model

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """Choices first, then texts; a batch's replies when it is computed."""
        chosen: list[Row] = []
        written: list[Row] = []
        for place, request in enumerate(requests):
            try:
                (chosen if request.choices else written).extend(self.rows(request, place))
            except Unanswerable as error:
                yield place, self._failures.reply(request, error)
        yield from self._choices(chosen)
        for row, text in self._each(written, partial(self._generated, on_tokens=on_tokens)):
            yield row.place, self._failures.reply(row.request, text) if isinstance(text, Unanswerable) else text

    def rows(self, request: Request, place: int = 0) -> list[Row]:
        """One a choice, or one for a text. Raises Unanswerable."""
        if request.schema is not None:
            raise Unanswerable("not_understood", "image-text-to-text models keep to no schema here")
        prompt = self.layout.lay_out(request, answered=bool(request.choices))
        if not request.choices:
            return [Row(place, request, prompt)]
        answers = [prompt.answer(self.tokenizer, choice) for choice in request.choices]
        return [Row(place, request, prompt, answer, i) for i, answer in enumerate(answers)]

    def _choices(self, rows: Sequence[Row]) -> Answers:
        """The model writes each choice after the prompt, as it would write its own text."""
        scored: dict[int, dict[int, LogProbs]] = {}
        refused: dict[int, Unanswerable] = {}
        for row, found in self._each(rows, self._log_probs):
            if isinstance(found, Unanswerable):
                refused[row.place], found = found, ()
            scored.setdefault(row.place, {})[row.choice] = found
            if len(scored[row.place]) < len(row.request.choices):
                continue
            if row.place in refused:
                yield row.place, self._failures.reply(row.request, refused[row.place])
            else:
                yield row.place, choice_reply(scored[row.place])

    def _each(
        self, rows: Sequence[Row], compute: Callable[[Sequence[Row], BatchFeature], list[T]]
    ) -> Iterator[tuple[Row, T | Unanswerable]]:
        """What is computed of each row, or why it can't be: in batches of like sampling, neighbors in length, and of as
        many pictures each.

        Processors differ most in how they tell whose a picture is, where the rows of a batch have unlike numbers.
        """
        groups: dict[tuple[Sampling, int], list[Row]] = {}
        for row in sorted(rows, key=lambda row: len(row.prompt.text)):
            groups.setdefault((row.request.sampling, len(row.request.images)), []).append(row)
        for neighbors in groups.values():
            for start in range(0, len(neighbors), self.batch_size):
                yield from self._computed(neighbors[start : start + self.batch_size], compute)

    def _computed(
        self, batch: list[Row], compute: Callable[[Sequence[Row], BatchFeature], list[T]]
    ) -> Iterator[tuple[Row, T | Unanswerable]]:
        """Where a batch is refused, its rows are asked one by one."""
        try:
            computed = compute(batch, self._fitting(batch))
        except Unanswerable as error:
            if len(batch) == 1:
                yield batch[0], error
                return
            for row in batch:
                yield from self._computed([row], compute)
        else:
            yield from zip(batch, computed)

    def _fitting(self, rows: Sequence[Row]) -> BatchFeature:
        """What the model takes. Raises Unanswerable for a row that is too long for it."""
        pictures = [[self.picture(image) for image in row.request.images] for row in rows]
        inputs = self.inputs([row.prompt for row in rows], pictures)
        needed = max(n + row.new_tokens for n, row in zip(inputs["attention_mask"].sum(dim=-1).tolist(), rows))
        if self.context is not None and needed > self.context:
            raise too_long(needed, self.context)
        return inputs

    def inputs(self, prompts: Sequence[PicturePrompt], pictures: Sequence[list[PIL.Image.Image]]) -> BatchFeature:
        """Token ids, masks and pixel values, padded on the left. Raises Unanswerable where the processor refuses."""
        texts = [prompt.text for prompt in prompts]
        settings = {"padding": True, "return_tensors": "pt", "add_special_tokens": prompts[0].special_tokens}
        try:
            if any(pictures):
                inputs = self.processor(text=texts, images=list(pictures), **settings)
            else:
                typed = "token_type_ids" in self.processor.model_input_names
                inputs = BatchFeature(dict(self.tokenizer(texts, return_token_type_ids=typed, **settings)))
        except _REFUSALS as error:
            raise Unanswerable("not_understood", first_line(error)) from error
        inputs.pop("labels", None)  # PaliGemma's processor makes some even where nothing is trained
        return inputs.to(self.model.get_input_embeddings().weight.device, dtype=self.model.dtype)

    def picture(self, image: Image) -> PIL.Image.Image:
        """As the processor is given it. Raises Unanswerable for what can't be decoded."""
        picture = decode_picture(image)
        whole = squared(picture, self.processor.image_processor)
        if whole is not picture and not self._warned:
            logger.warning(
                "%s: its image processor keeps the middle of oblong pictures alone; they are padded to squares first, "
                "in its mean colour",
                self.identity,
            )
            self._warned = True
        return whole

    def _generated(self, rows: Sequence[Row], inputs: BatchFeature, on_tokens: OnTokens) -> list[Reply]:
        """Each samples from its own seed."""
        sampling = own_sampling(self.model.generation_config, rows[0].request.sampling, self.chat.stop)
        ends = end_tokens(self.model.generation_config, self.tokenizer, self.chat.end_of_turn)
        written = self.write(
            inputs,
            make_processors(
                self.model.generation_config, sampling, [row.request for row in rows], inputs["attention_mask"]
            ),
            [CountsWritten(on_tokens, ends, self.tokenizer.pad_token_id)],
            max_new_tokens=sampling.max_new_tokens,
            stop_strings=list(sampling.stop) or None,
            eos_token_id=ends or None,
        ).sequences[:, inputs["input_ids"].shape[1] :]
        return [
            reply_of(self.tokenizer, tokens, ends, sampling, row.prompt.opened)
            for row, tokens in zip(rows, written.tolist())
        ]

    def _log_probs(self, rows: Sequence[Row], inputs: BatchFeature) -> list[LogProbs]:
        """Of each token of each row's answer, in nats."""
        forced = ForcedAnswers([row.answer for row in rows], self.tokenizer.pad_token_id)
        output = self.write(inputs, [forced], max_new_tokens=forced.steps, output_logits=True)
        steps = [torch.log_softmax(logits.float(), dim=-1).cpu() for logits in output.logits]  # before any processor
        return [
            tuple(float(steps[step][i, token]) for step, token in enumerate(row.answer)) for i, row in enumerate(rows)
        ]

    def write(
        self,
        inputs: BatchFeature,
        processors: list[LogitsProcessor],
        criteria: Sequence[StoppingCriteria] = (),
        **settings: Any,
    ) -> Any:
        """What transformers generates from `inputs`. Raises Unanswerable where the model refuses them."""
        config = GenerationConfig(
            **settings,
            do_sample=False,
            repetition_penalty=1.0,
            pad_token_id=self.tokenizer.pad_token_id,
            return_dict_in_generate=True,
        )
        model = self.model
        try:
            with torch.inference_mode():
                return model.generate(
                    **inputs,
                    logits_processor=LogitsProcessorList(processors),
                    stopping_criteria=StoppingCriteriaList(criteria),
                    tokenizer=self.tokenizer,
                    generation_config=config,
                )
        except _REFUSALS as error:
            raise Unanswerable("not_understood", first_line(error)) from error
