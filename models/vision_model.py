"""Any image-text-to-text model that transformers loads: pictures and text in, text out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import PIL.Image
import torch
from transformers import (
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    AutoConfig,
    AutoModelForImageTextToText,
    BatchFeature,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PreTrainedConfig,
    PreTrainedModel,
    ProcessorMixin,
)

from evenhand.models.box_scales import BOX_SCALES, BoxScale
from evenhand.models.errors import ModelError, PromptTooLong
from evenhand.models.forced_answers import ForcedAnswers
from evenhand.models.loading import explained, identity
from evenhand.models.picture_layout import PicturePrompt, lay_out_pictures
from evenhand.models.picture_processor import load_processor
from evenhand.models.pictures import crops_to_the_middle, decoded, squared
from evenhand.models.prefix_tree import Tokens
from evenhand.models.replies import end_tokens, own_sampling, reply_of
from evenhand.models.request import Image, Reply, Request, Sampling
from evenhand.models.seeded_sampling import SeededSampling
from evenhand.models.transformers_model import DType, fastest_dtype

logger = logging.getLogger(__name__)

ACCEPTED = (
    "a Hub id or a local folder of an image-text-to-text model, with config.json, safetensors weights, a tokenizer and "
    "an image processor"
)
_BATCHES = 2  # a call: pictures take long, and an interrupted call is lost


class VisionModel:
    """A checkpoint with its processor; the weights are loaded when the first question comes.

    identity: what stands for it in stores and reports. box_scale: on which scale it writes bounding boxes, None where
    it answers in words or nothing is documented.
    """

    def __init__(
        self,
        load: Callable[[], PreTrainedModel],
        processor: ProcessorMixin,
        identity: str,
        context: int | None,
        batch_size: int = 16,
        box_scale: BoxScale | None = None,
    ):
        if batch_size < 1:
            raise ModelError(f"batch size {batch_size} came; 1 or more is accepted")
        self._load = load
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.identity = identity
        self.context = context
        self.batch_size = batch_size
        self.box_scale = box_scale
        self.requests_at_once = self.texts_at_once = batch_size * _BATCHES
        self._crops = crops_to_the_middle(processor.image_processor)
        self._warned = False
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token or self.tokenizer.convert_ids_to_tokens(0)

    @classmethod
    def from_pretrained(
        cls,
        path: str,
        *,
        name: str | None = None,
        revision: str | None = None,
        dtype: DType = "auto",
        batch_size: int = 16,
        device_map: str | None = None,
    ) -> VisionModel:
        """Load a Hub id or local folder; safetensors only, and no code from the checkpoint is run.

        Raises ModelError saying what could not be loaded, or that it is no image-text-to-text model.
        """
        dtype = fastest_dtype() if dtype == "auto" else dtype
        if device_map is None and torch.cuda.is_available():
            device_map = "auto"
        with explained(f"load model {path!r}", f"Accepted: {ACCEPTED}"):
            config = AutoConfig.from_pretrained(path, revision=revision, trust_remote_code=False)
            _check_kind(config)
            processor = load_processor(path, revision, config)

        def load() -> PreTrainedModel:
            with explained(f"load model {path!r}", f"Accepted: {ACCEPTED}"):
                model, report = AutoModelForImageTextToText.from_pretrained(
                    path,
                    revision=revision,
                    dtype=getattr(torch, dtype),
                    device_map=device_map,
                    use_safetensors=True,
                    trust_remote_code=False,
                    output_loading_info=True,
                )
                if report["missing_keys"]:  # transformers makes them up, with no more than a warning
                    raise ValueError(f"it has no weights for {', '.join(sorted(report['missing_keys'])[:3])}")
                return model

        return cls(
            load,
            processor,
            identity=identity(path, name, revision, config, dtype),
            context=getattr(config.get_text_config(), "max_position_embeddings", None),
            batch_size=batch_size,
            box_scale=BOX_SCALES.get(config.model_type),
        )

    @cached_property
    def model(self) -> PreTrainedModel:
        return self._load().eval()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Padded batches of like sampling, and of as many pictures a request; each samples from its own seed."""
        replies: dict[int, Reply] = {}
        for batch in self._batches([(request, self._prompt(request)) for request in requests]):
            asked, prompts = zip(*batch.values())
            for i, reply in zip(batch, self._generated(asked, prompts)):
                replies[i] = reply
        return [replies[i] for i in range(len(requests))]

    def choose(self, requests: Sequence[Request]) -> list[Reply]:
        """One row a request and choice: the model writes the choice after the prompt, as it would write its own text.

        Returns, per request, the log-probability of each token of each choice, in nats.
        """
        rows, answers = [], []
        for request in requests:
            prompt = self._prompt(request).open_ended()
            with _answering(request):
                answers += [prompt.answer(self.tokenizer, choice) for choice in request.choices]
            rows += [(request, prompt)] * len(request.choices)
        scored: dict[int, tuple[float, ...]] = {}
        for batch in self._batches(rows):
            asked, prompts = zip(*batch.values())
            log_probs = self._log_probs(asked, prompts, [answers[i] for i in batch])
            scored.update(zip(batch, log_probs))
        in_order = (scored[i] for i in range(len(rows)))
        return [
            Reply(finish_reason="choice", choice_log_probs=tuple(next(in_order) for _ in request.choices))
            for request in requests
        ]

    def _prompt(self, request: Request) -> PicturePrompt:
        with _answering(request):
            return lay_out_pictures(self.processor, request.messages)

    def _batches(
        self, rows: Sequence[tuple[Request, PicturePrompt]]
    ) -> Iterator[dict[int, tuple[Request, PicturePrompt]]]:
        """Rows by index: of like sampling, neighbors in length, and of as many pictures each.

        Processors differ most in how they tell whose a picture is, where the rows of a batch have unlike numbers.
        """
        alike: dict[tuple[Sampling, int], list[int]] = {}
        for i in sorted(range(len(rows)), key=lambda i: len(rows[i][1].text)):
            request = rows[i][0]
            alike.setdefault((request.sampling, len(_pictures(request))), []).append(i)
        for indices in alike.values():
            for start in range(0, len(indices), self.batch_size):
                yield {i: rows[i] for i in indices[start : start + self.batch_size]}

    def _generated(self, requests: Sequence[Request], prompts: Sequence[PicturePrompt]) -> list[Reply]:
        sampling = own_sampling(self.model, requests[0].sampling)
        ends = end_tokens(self.model, self.tokenizer)
        inputs = self._inputs(requests, prompts, [sampling.max_new_tokens] * len(requests))
        drawing = [SeededSampling(sampling, [request.seed for request in requests])] if sampling.temperature else []
        written = self._write(
            requests,
            inputs,
            drawing,
            max_new_tokens=sampling.max_new_tokens,
            stop_strings=list(sampling.stop) or None,
            eos_token_id=ends or None,
        ).sequences[:, inputs["input_ids"].shape[1] :]
        return [reply_of(self.tokenizer, row, ends, sampling) for row in written.tolist()]

    def _log_probs(
        self, requests: Sequence[Request], prompts: Sequence[PicturePrompt], answers: Sequence[Tokens]
    ) -> list[tuple[float, ...]]:
        forced = ForcedAnswers(answers, self.tokenizer.pad_token_id)
        inputs = self._inputs(requests, prompts, [len(answer) for answer in answers])
        output = self._write(requests, inputs, [forced], max_new_tokens=forced.steps, output_logits=True)
        steps = [torch.log_softmax(logits.float(), dim=-1).cpu() for logits in output.logits]  # before any processor
        return [
            tuple(float(steps[step][row, token]) for step, token in enumerate(answer))
            for row, answer in enumerate(answers)
        ]

    def _write(
        self, requests: Sequence[Request], inputs: BatchFeature, processors: list[LogitsProcessor], **settings: Any
    ) -> Any:
        config = GenerationConfig(
            **settings, do_sample=False, pad_token_id=self.tokenizer.pad_token_id, return_dict_in_generate=True
        )
        with torch.inference_mode(), _answering(*requests):
            return self.model.generate(
                **inputs,
                logits_processor=LogitsProcessorList(processors),
                tokenizer=self.tokenizer,
                generation_config=config,
            )

    def _inputs(
        self, requests: Sequence[Request], prompts: Sequence[PicturePrompt], new_tokens: Sequence[int]
    ) -> BatchFeature:
        """What the model takes: token ids, masks and pixel values, padded on the left. Raises PromptTooLong."""
        pictures = [[self._picture(request, image) for image in _pictures(request)] for request in requests]
        texts = [prompt.text for prompt in prompts]
        settings = {"padding": True, "return_tensors": "pt", "add_special_tokens": prompts[0].special_tokens}
        with _answering(*requests):
            if any(pictures):
                inputs = self.processor(text=texts, images=pictures, **settings)
            else:
                typed = "token_type_ids" in self.processor.model_input_names
                inputs = BatchFeature(dict(self.tokenizer(texts, return_token_type_ids=typed, **settings)))
        inputs.pop("labels", None)  # PaliGemma's processor makes some even where nothing is trained
        for request, tokens, more in zip(requests, inputs["attention_mask"].sum(dim=-1).tolist(), new_tokens):
            if self.context is not None and tokens + more > self.context:
                raise PromptTooLong(request.name, tokens + more, self.context)
        return inputs.to(self.model.get_input_embeddings().weight.device, dtype=self.model.dtype)

    def _picture(self, request: Request, image: Image) -> PIL.Image.Image:
        with _answering(request):
            picture = decoded(image)
        if not self._crops or picture.width == picture.height:
            return picture
        if not self._warned:
            logger.warning(
                "%s: its image processor keeps the middle of oblong pictures alone; they are padded to squares first, "
                "in its mean colour",
                self.identity,
            )
            self._warned = True
        return squared(picture, self.processor.image_processor)


def _pictures(request: Request) -> tuple[Image, ...]:
    return tuple(image for message in request.messages for image in message.images)


def _check_kind(config: PreTrainedConfig) -> None:
    """Raises ValueError for a model that takes no pictures, or doesn't write on from its prompt."""
    if type(config) not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        raise ValueError(f"a {config.model_type} model is no image-text-to-text model")
    if config.is_encoder_decoder or config.get_text_config().is_encoder_decoder:
        raise ValueError(f"a {config.model_type} model with an encoder for its text is not supported")


@contextmanager
def _answering(*requests: Request) -> Iterator[None]:
    """What processors and models raise for requests that they can't take, said with the names of those."""
    try:
        yield
    except (ValueError, TypeError, LookupError, StopIteration) as error:
        others = f" (or one of {len(requests) - 1} with it)" if len(requests) > 1 else ""
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise ModelError(f"request {requests[0].name!r}{others}: {reason}") from error
