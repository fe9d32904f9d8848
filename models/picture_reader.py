"""From requests with pictures to what a processor takes: texts with one token for each picture, and the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import PIL.Image
from transformers import (
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    AutoImageProcessor,
    AutoProcessor,
    AutoTokenizer,
    PaliGemmaProcessor,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    ProcessorMixin,
)
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING, processor_class_from_name
from transformers.utils import is_torchvision_available

from evenhand.models.chat_templates import ChatTemplate, TemplateRefused
from evenhand.models.errors import Unanswerable, first_line
from evenhand.models.loading import Checkpoint, loaded
from evenhand.models.pictures import decoded, squared
from evenhand.models.prefix_tree import Continuation, Tokens, shared_length
from evenhand.models.request import Image, Message, Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.text_reader import fold_system, lay_out_plainly

ACCEPTED = (
    "a Hub id or a local folder of an image-text-to-text model (as LLaVA-1.5, Qwen2-VL, SmolVLM, Idefics2, PaliGemma), "
    "with config.json, safetensors weights, a tokenizer and an image processor"
)
_PICTURE_TOKENS = ("image_token", "boi_token", "video_token", "fake_image_token")

T = TypeVar("T")
Turns = list[dict[str, Any]]  # a turn: role, and content as parts or as text


@dataclass(frozen=True)
class PicturePrompt:
    """Text before the answer, with one token for each picture; the processor makes more of it.

    special_tokens: whether the tokenizer should add its own. ending: what the processor writes behind the text.
    gap: what a choice follows after; None: a space, unless the text ends in white space or in a token of its own (the
    header of a turn). opened: whether the text ends inside a thought.
    """

    text: str
    special_tokens: bool = True
    ending: str = ""
    gap: str | None = None
    opened: bool = False

    def open_ended(self) -> PicturePrompt:
        """Ready for a choice to follow: spaces at the end go to the gap, for tokenizers join them with a word."""
        if self.ending:
            return self
        text = self.text.rstrip(" ")
        spaces = self.text[len(text) :]
        return replace(self, text=text, gap=spaces + (self.gap or "") if spaces or self.gap is not None else None)

    def answer(self, tokenizer: PreTrainedTokenizerBase, choice: str) -> Tokens:
        """The tokens of a choice behind this text, in the spelling that it has there.

        Raises Unanswerable where they can't be separated from the text's.
        """
        written = self.text + self.ending
        gap = self.gap
        if gap is None:
            whole_word = written[-1:].isspace() or written.endswith(tuple(tokenizer.get_added_vocab()))
            gap = "" if whole_word else " "
        tokens = tokenizer([written, written + gap + choice], add_special_tokens=False)["input_ids"]
        before, whole = (tuple(ids) for ids in tokens)
        shared = shared_length(before, whole)
        if not shared == len(before) < len(whole):
            raise _misunderstood(f"the tokens of choice {choice!r} can't be separated from its prompt's")
        return whole[shared:]


class PictureLayout:
    """Lays out prompts by the processor's chat template, else its tokenizer's; base models, which have none, get plain
    paragraphs."""

    def __init__(self, processor: ProcessorMixin, settings: TemplateSettings = NO_SETTINGS):
        self.processor = processor
        self.chat = ChatTemplate(processor.tokenizer, settings, processor.chat_template)

    def lay_out(self, request: Request, answered: bool = False) -> PicturePrompt:
        """Lay out a request's prompt.

        Where a template refuses a system message or leaves it out, its text stands at the beginning of the first user
        message.

        Args:
            answered: whether an answer follows immediately, as `Layout` has it.

        Raises:
            Unanswerable: where a template takes no such messages, for text that holds a picture's token, and for a
                thought that can't be closed.
            ModelError: for a template that is broken.
        """
        if not request.template:
            raise _misunderstood("image-text-to-text models are asked by their template here")
        messages = request.messages
        texts = [part for message in messages for part in message.parts if isinstance(part, str)]
        for token in filter(None, (getattr(self.processor, name, None) for name in _PICTURE_TOKENS)):
            if any(str(token) in text for text in texts):
                raise _misunderstood(f"its text holds {token}, which stands for a picture in this model; take it out")
        if self.chat.source is None:
            prompt = _plain(self.processor, messages)
            return prompt.open_ended() if answered else prompt
        for conversation in _ways(messages):
            try:
                text, gap, ending = self.chat.lay_out(conversation, answered)
            except TemplateRefused:
                continue
            if all(part.strip() in text for part in texts) and "{'type': " not in text:  # nothing left out, no code
                start = self.processor.tokenizer.bos_token
                special_tokens = not (start and text.startswith(start))
                if not answered:
                    return PicturePrompt(text, special_tokens, opened=ending.opened)
                return PicturePrompt(text, special_tokens, gap=gap if ending.found else None).open_ended()
        roles = ", ".join(each.role for each in messages)
        raise _misunderstood(f"the model's chat template takes no turns of {roles}")


def _ways(messages: Sequence[Message]) -> Iterator[Turns]:
    """All that templates may want, the usual first: texts as parts or as such, the system's message folded in."""
    for turns in (messages, fold_system(messages)):
        yield [{"role": each.role, "content": [_typed(part) for part in each.parts]} for each in turns]
        yield [
            {"role": each.role, "content": [_typed(part) for part in each.parts] if each.images else each.text}
            for each in turns
        ]


def _typed(part: str | Image) -> dict[str, str]:
    return {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}


def _plain(processor: ProcessorMixin, messages: Sequence[Message]) -> PicturePrompt:
    """PaliGemma's processor wants all pictures first, and ends the text itself, unless there is no picture."""
    token = str(getattr(processor, "image_token", ""))
    pictures = sum(len(message.images) for message in messages)
    pali_gemma = isinstance(processor, PaliGemmaProcessor)
    shown = "" if pali_gemma else token
    marked = [
        Message(message.role, "".join(part if isinstance(part, str) else shown for part in message.parts))
        for message in messages
    ]
    text = lay_out_plainly(marked)
    if not pali_gemma:
        return PicturePrompt(text)
    if pictures:
        return PicturePrompt(token * pictures + text, ending="\n")
    return PicturePrompt(f"{processor.tokenizer.bos_token}{text}\n", special_tokens=False)


@dataclass(frozen=True)
class PictureReader:
    """As a text model's reader, for vLLM: it knows how many tokens a picture becomes, and refuses what is too long."""

    processor: ProcessorMixin
    settings: TemplateSettings = NO_SETTINGS

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> PictureReader:
        return cls(load_processor(replace(checkpoint, accepted=ACCEPTED)), checkpoint.template)

    @cached_property
    def layout(self) -> PictureLayout:
        return PictureLayout(self.processor, self.settings)

    def prompts(self, requests: Sequence[Request]) -> list[Tokens | Unanswerable]:
        return [_attempt(self._prompt_tokens, request) for request in requests]

    def continuations(self, requests: Sequence[Request]) -> list[list[Continuation] | Unanswerable]:
        """Prompt and choice, for every choice of each; or why it can't be answered."""
        return [_attempt(self._choices, request) for request in requests]

    def opens_thought(self, request: Request) -> bool:
        """Whether the model writes on from inside a thought; of a request whose prompt was read."""
        return self.layout.lay_out(request, answered=request.schema is not None).opened

    def pictures(self, request: Request) -> list[PIL.Image.Image]:
        """In order. Raises Unanswerable for what can't be decoded."""
        return [squared(decode_picture(image), self.processor.image_processor) for image in request.images]

    def _prompt_tokens(self, request: Request) -> Tokens:
        return self._read(request)[1]

    def _choices(self, request: Request) -> list[Continuation]:
        prompt, tokens = self._read(request)
        return [Continuation(tokens, prompt.answer(self.processor.tokenizer, each)) for each in request.choices]

    def _read(self, request: Request) -> tuple[PicturePrompt, Tokens]:
        self.pictures(request)
        prompt = self.layout.lay_out(request, answered=bool(request.choices) or request.schema is not None)
        written = prompt.text + prompt.ending
        tokens = self.processor.tokenizer(written, add_special_tokens=prompt.special_tokens)["input_ids"]
        return prompt, tuple(tokens)


def _attempt(read: Callable[[Request], T], request: Request) -> T | Unanswerable:
    try:
        return read(request)
    except Unanswerable as error:
        return error


def _misunderstood(why: str) -> Unanswerable:
    return Unanswerable("not_understood", why)


def decode_picture(image: Image) -> PIL.Image.Image:
    """Decode a picture. Raises Unanswerable for what can't be decoded."""
    try:
        return decoded(image)
    except ValueError as error:
        raise _misunderstood(first_line(error)) from error


def load_processor(checkpoint: Checkpoint) -> ProcessorMixin:
    """Load the processor; its pictures are resized by torchvision where that is installed, else by Pillow.

    Raises ModelError saying what could not be loaded, or that it is no image-text-to-text model.
    """
    path, revision = checkpoint.source_of("processor_config.json")
    with checkpoint.explained():
        config = checkpoint.config
        if type(config) not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
            raise ValueError(f"a {config.model_type} model is no image-text-to-text model")
        if config.is_encoder_decoder or config.get_text_config().is_encoder_decoder:
            raise ValueError(f"a {config.model_type} model with an encoder for its text is not supported")
        try:
            processor = loaded(AutoProcessor, path, revision=revision)
        except (ImportError, ValueError) as error:  # which of them depends on how the checkpoint names that part
            if is_torchvision_available() or "torchvision" not in str(error).lower():
                raise
            processor = _without_videos(path, revision, config)
        if not (hasattr(processor, "image_processor") and hasattr(processor, "tokenizer")):
            raise ValueError(
                "it has no processor for pictures and text (preprocessor_config.json, processor_config.json)"
            )
        return processor


def _without_videos(path: str, revision: str | None, config: PreTrainedConfig) -> ProcessorMixin:
    """The same processor but for the part that reads videos, which needs torchvision as no other part does."""
    settings, _ = ProcessorMixin.get_processor_dict(path, revision=revision)
    name = settings.get("processor_class")
    kind = processor_class_from_name(name) if name else PROCESSOR_MAPPING[type(config)]
    parts = {
        "image_processor": loaded(AutoImageProcessor, path, revision=revision),
        "tokenizer": loaded(AutoTokenizer, path, revision=revision),
        "video_processor": None,
    }
    without_videos: Any = type(kind.__name__, (_NoVideos, kind), {})
    return without_videos.from_args_and_dict([parts[part] for part in kind.get_attributes()], settings)


class _NoVideos:
    """Mixed into a processor's class, which refuses None in place of a part otherwise."""

    def check_argument_for_proper_class(self, argument_name: str, argument: object) -> Any:
        if argument_name == "video_processor":
            return None
        return super().check_argument_for_proper_class(argument_name, argument)  # type: ignore[misc]
