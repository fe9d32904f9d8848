"""How messages with pictures become the text that a processor takes, as `layout` does it for text alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformers import PaliGemmaProcessor, PreTrainedTokenizerBase, ProcessorMixin

from evenhand.models.chat_templates import ChatTemplate, Conversation, TemplateRefused
from evenhand.models.prefix_tree import Tokens, shared_length
from evenhand.models.request import Image, Message
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.text_reader import lay_out_plainly

Part = dict[str, str]
Turns = list[dict[str, Any]]  # a turn: role, and content as parts or as text

_TOKENS_OF_PICTURES = ("image_token", "boi_token", "video_token", "fake_image_token")


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

        Raises ValueError where they can't be told from the text's.
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
            raise ValueError(f"the tokens of choice {choice!r} can't be told from its prompt's")
        return whole[shared:]


class PictureLayout:
    """Lays out prompts by the processor's chat template, else its tokenizer's; base models, which have none, get plain
    paragraphs."""

    def __init__(self, processor: ProcessorMixin, settings: TemplateSettings = NO_SETTINGS):
        self.processor = processor
        self.chat = ChatTemplate(processor.tokenizer, settings, processor.chat_template)

    def lay_out(self, messages: Sequence[Message], answered: bool = False) -> PicturePrompt:
        """Lay out a prompt.

        Where a template refuses a system message or leaves it out, its text stands at the beginning of the first user
        message.

        Args:
            answered: whether an answer follows at once, as `Layout` has it.

        Raises:
            ValueError: where a template takes no such messages, for text that holds a picture's token, and for a
                thought that can't be closed.
            ModelError: for a template that is broken.
        """
        texts = [part for message in messages for part in _parts(message) if isinstance(part, str)]
        for token in _tokens_of_pictures(self.processor):
            if any(token in text for text in texts):
                raise ValueError(f"its text holds {token}, which stands for a picture in this model; take it out")
        if self.chat.source is None:
            prompt = _plain(self.processor, messages)
            return prompt.open_ended() if answered else prompt
        for conversation in _ways(messages):
            try:
                text = self.chat.render(conversation)
            except TemplateRefused:
                continue
            if all(part.strip() in text for part in texts) and "{'type': " not in text:  # nothing left out, no code
                return self._prompt(text, conversation, answered)
        raise ValueError(f"the model's chat template takes no turns of {', '.join(each.role for each in messages)}")

    def _prompt(self, text: str, conversation: Conversation, answered: bool) -> PicturePrompt:
        start = self.processor.tokenizer.bos_token
        ending = self.chat.ending(conversation, text)
        special_tokens = not (start and text.startswith(start))
        prompt = PicturePrompt(text + ending.header, special_tokens, opened=ending.opened)
        if not answered:
            return prompt
        if ending.text is None:
            raise ValueError("its prompt ends inside a thought, which can't be closed here; turn thinking off")
        if ending.variables:
            text = self.chat.render(conversation, variables=dict(ending.variables))
        between = ending.text.rstrip(" ")
        gap = ending.text[len(between) :] if ending.found else None
        return replace(prompt, text=text + between, gap=gap, opened=False).open_ended()


def _tokens_of_pictures(processor: ProcessorMixin) -> list[str]:
    tokens = (getattr(processor, name, None) for name in _TOKENS_OF_PICTURES)
    return [str(token) for token in tokens if token]


def _parts(message: Message) -> tuple[str | Image, ...]:
    return (message.content,) if isinstance(message.content, str) else message.content


def _ways(messages: Sequence[Message]) -> Iterator[Turns]:
    """All that templates may want, the usual first: texts as parts or as such, the system's message folded in."""
    turns: Turns = [
        {"role": message.role, "content": [_typed(part) for part in _parts(message)]} for message in messages
    ]
    for conversation in (turns, _system_folded_in(turns)):
        yield conversation
        yield [turn | {"content": _as_text(turn["content"])} for turn in conversation]


def _typed(part: str | Image) -> Part:
    return {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}


def _as_text(parts: list[Part]) -> str | list[Part]:
    return parts if any(part["type"] == "image" for part in parts) else "".join(part["text"] for part in parts)


def _system_folded_in(turns: Turns) -> Turns:
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
    text = lay_out_plainly(marked)
    if not pali_gemma:
        return PicturePrompt(text)
    if pictures:
        return PicturePrompt(token * pictures + text, ending="\n")
    return PicturePrompt(f"{processor.tokenizer.bos_token}{text}\n", special_tokens=False)
