"""How messages with pictures become the text that a processor takes: by its chat template, or plain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformers import PaliGemmaProcessor, PreTrainedTokenizerBase, ProcessorMixin

from evenhand.models.chat_templates import TemplateRefused
from evenhand.models.layout import lay_out, templated
from evenhand.models.prefix_tree import Tokens, shared_length
from evenhand.models.request import Image, Message

Part = dict[str, str]
Conversation = list[dict[str, Any]]  # a turn: role, and content as parts or as text

_TOKENS_OF_PICTURES = ("image_token", "boi_token", "video_token", "fake_image_token")


@dataclass(frozen=True)
class PicturePrompt:
    """Text before the answer, with one token for each picture; the processor makes more of it.

    special_tokens: whether the tokenizer should add its own. ending: what the processor writes behind the text.
    spaces: taken from the text's end, because tokenizers join them with the word that follows.
    """

    text: str
    special_tokens: bool = True
    ending: str = ""
    spaces: str = ""

    def open_ended(self) -> PicturePrompt:
        """Ready for a choice to follow."""
        if self.ending:
            return self
        text = self.text.rstrip(" ")
        return replace(self, text=text, spaces=self.text[len(text) :])

    def answer(self, tokenizer: PreTrainedTokenizerBase, choice: str) -> Tokens:
        """The tokens of a choice behind this text, in the spelling that it has there.

        After a space, unless the text ends in white space or in a token of its own (the header of a turn).
        Raises ValueError where they can't be told from the text's.
        """
        written = self.text + self.ending
        whole_word = written[-1:].isspace() or written.endswith(tuple(tokenizer.get_added_vocab()))
        gap = self.spaces or ("" if whole_word else " ")
        tokens = tokenizer([written, written + gap + choice], add_special_tokens=False)["input_ids"]
        before, whole = (tuple(ids) for ids in tokens)
        shared = shared_length(before, whole)
        if not shared == len(before) < len(whole):
            raise ValueError(f"the tokens of choice {choice!r} can't be told from its prompt's")
        return whole[shared:]


def lay_out_pictures(processor: ProcessorMixin, messages: Sequence[Message]) -> PicturePrompt:
    """By the processor's chat template, else its tokenizer's; base models, which have none, get plain paragraphs.

    Where a template refuses a system message or leaves it out, its text stands at the beginning of the first user
    message. Raises ValueError where a template takes no such messages, and for text that holds a picture's token;
    ModelError for a template that is broken or gets out of hand.
    """
    texts = [part for message in messages for part in _parts(message) if isinstance(part, str)]
    for token in _tokens_of_pictures(processor):
        if any(token in text for text in texts):
            raise ValueError(f"its text holds {token}, which stands for a picture in this model; take it out")
    template = _template(processor)
    if template is None:
        return _plain(processor, messages)
    for conversation in _ways(messages):
        try:
            text = templated(processor.tokenizer, template, conversation)
        except TemplateRefused:
            continue
        if all(part.strip() in text for part in texts) and "{'type': " not in text:  # nothing left out, no code shown
            start = processor.tokenizer.bos_token
            return PicturePrompt(text, special_tokens=not (start and text.startswith(start)))
    raise ValueError(f"the model's chat template takes no turns of {', '.join(message.role for message in messages)}")


def _template(processor: ProcessorMixin) -> object:
    return processor.chat_template or processor.tokenizer.chat_template


def _tokens_of_pictures(processor: ProcessorMixin) -> list[str]:
    tokens = (getattr(processor, name, None) for name in _TOKENS_OF_PICTURES)
    return [str(token) for token in tokens if token]


def _parts(message: Message) -> tuple[str | Image, ...]:
    return (message.content,) if isinstance(message.content, str) else message.content


def _ways(messages: Sequence[Message]) -> Iterator[Conversation]:
    """All that templates may want, the usual first: texts as parts or as such, the system's message folded in."""
    turns: Conversation = [
        {"role": message.role, "content": [_typed(part) for part in _parts(message)]} for message in messages
    ]
    for conversation in (turns, _system_folded_in(turns)):
        yield conversation
        yield [turn | {"content": _as_text(turn["content"])} for turn in conversation]


def _typed(part: str | Image) -> Part:
    return {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}


def _as_text(parts: list[Part]) -> str | list[Part]:
    return parts if any(part["type"] == "image" for part in parts) else "".join(part["text"] for part in parts)


def _system_folded_in(turns: Conversation) -> Conversation:
    system = "\n\n".join(part["text"] for turn in turns if turn["role"] == "system" for part in turn["content"])
    others = [turn for turn in turns if turn["role"] != "system"]
    if not system or not others:
        return turns
    first, *rest = others[0]["content"]
    if first["type"] == "text":
        content = [_typed(f"{system}\n\n{first['text']}"), *rest]
    else:
        content = [_typed(f"{system}\n\n"), first, *rest]
    return [others[0] | {"content": content}, *others[1:]]


def _plain(processor: ProcessorMixin, messages: Sequence[Message]) -> PicturePrompt:
    """PaliGemma's processor wants all pictures first, and ends the text itself, unless there is no picture."""
    token = str(getattr(processor, "image_token", ""))
    pictures = sum(len(message.images) for message in messages)
    pali_gemma = isinstance(processor, PaliGemmaProcessor)
    shown = "" if pali_gemma else token
    marked = [
        Message(message.role, "".join(part if isinstance(part, str) else shown for part in _parts(message)))
        for message in messages
    ]
    text = lay_out(processor.tokenizer, marked).text
    if not pali_gemma:
        return PicturePrompt(text)
    if pictures:
        return PicturePrompt(token * pictures + text, ending="\n")
    return PicturePrompt(f"{processor.tokenizer.bos_token}{text}\n", special_tokens=False)
