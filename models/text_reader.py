"""From requests to tokens, as a text model reads them: one function for scoring, writing, token counts and training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from transformers import PreTrainedTokenizerBase

from evenhand.models.chat_templates import ChatTemplate, TemplateRefused
from evenhand.models.errors import Unanswerable, too_long
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation, Tokens, distinct_tokens, shared_length
from evenhand.models.protocol import TokenCount
from evenhand.models.request import Image, Message, Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings

_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_SWITCH_WORDS = re.compile(r"/(?:no_?)?think\b")  # which some templates read and take out


@dataclass(frozen=True)
class Prompt:
    """Text before the answer.

    Attributes:
        special_tokens: whether the tokens that the tokenizer begins a text with come first (a chat template has them).
        gap: spaces between the text and an answer, which tokenizers join with the answer's first word.
        opened: whether the text ends inside a thought.
    """

    text: str
    special_tokens: bool
    gap: str = ""
    opened: bool = False

    def with_choice(self, choice: str) -> str:
        """The prompt continued by a choice."""
        return self.text + self.gap + choice


class Layout:
    """Lays out prompts by a tokenizer's chat template; base models, which have none, get plain paragraphs."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, settings: TemplateSettings = NO_SETTINGS):
        self.chat = ChatTemplate(tokenizer, settings)

    def lay_out(self, messages: Sequence[Message], template: bool = True, answered: bool = False) -> Prompt:
        """Lay out a prompt.

        Where a template refuses a system message or leaves it out, its text stands at the beginning of the first user
        message.

        Args:
            template: without it the one message is the prompt, to the letter, after the tokenizer's own special tokens.
            answered: whether an answer follows immediately: what the template writes before one is then part of the
                prompt, and no thought is left open.

        Raises:
            Unanswerable: for images, for messages that a template refuses or leaves out, and for a thought that can't
                be closed.
            ModelError: for a template that is broken.
        """
        if any(message.images for message in messages):
            raise Unanswerable(
                "not_understood",
                "this model answers text only, and the request carries an image; use a vision-language model",
            )
        if not template or self.chat.source is None:
            text = lay_out_plainly(messages) if template else messages[0].text
            return Prompt(text, special_tokens=True, gap="" if text[-1:].isspace() else " ")
        refusal = "it leaves out what they say"
        for turns in (messages, fold_system(messages)):
            conversation = [{"role": message.role, "content": message.text} for message in turns]
            try:
                text, gap, ending = self.chat.lay_out(conversation, answered)
            except TemplateRefused as error:
                refusal = str(error)
            else:
                if holds_messages(text, messages):
                    return Prompt(text, special_tokens=False, gap=gap, opened=ending.opened)
        raise Unanswerable("not_understood", f"the model's chat template refuses its messages: {refusal}")


def holds_messages(prompt: str, messages: Sequence[Message]) -> bool:
    """Whether a prompt has every line of every message; templates may trim, escape, shout, and take out /no_think."""
    letters = _letters(prompt)
    return all(_letters(line) in letters for message in messages for line in message.text.splitlines())


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", _SWITCH_WORDS.sub("", text)).casefold()


def fold_system(messages: Sequence[Message]) -> Sequence[Message]:
    """The system's text at the beginning of the first other message."""
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    others = [message for message in messages if message.role != "system"]
    if not system or not others:
        return messages
    first, *rest = others
    begin, parts = first.parts[0], first.parts[1:]
    if isinstance(begin, Image):
        begin, parts = "", first.parts
    folded = f"{system}\n\n{begin}"
    return [Message(first.role, (folded, *parts) if parts else folded), *rest]


def lay_out_plainly(messages: Sequence[Message]) -> str:
    """One question: its paragraphs. A longer conversation: each turn with its speaker."""
    if sum(message.role != "system" for message in messages) == 1:
        return "\n\n".join(message.text for message in messages)
    turns = [
        f"{_SPEAKERS[message.role]}: {message.text}" if message.role in _SPEAKERS else message.text
        for message in messages
    ]
    return "\n\n".join([*turns, "Assistant:"])


@dataclass(frozen=True)
class TextReader:
    """context: tokens of a prompt with its answer; None: any number. settings: of the chat template."""

    tokenizer: PreTrainedTokenizerBase
    context: int | None
    settings: TemplateSettings = NO_SETTINGS

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> TextReader:
        return cls(checkpoint.tokenizer, checkpoint.context, checkpoint.template)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.tokenizer, self.settings)

    def opens_thought(self, request: Request) -> bool:
        """Whether the model writes on from inside a thought; of a request whose prompt was read."""
        return not _is_answered(request) and self.layout.lay_out(request.messages, request.template).opened

    def end_of_answer(self, template: bool = True) -> int | None:
        """The token that ends an answer: what the chat template ends a turn with, else the tokenizer's end of text.

        template: whether the chat template lays the messages out. None where there is neither.
        """
        end = self.layout.chat.end_of_turn if template else None
        return self.tokenizer.eos_token_id if end is None else end

    def prompts(self, requests: Sequence[Request]) -> list[Tokens | Unanswerable]:
        """The prompt of each, which leaves room for the text that it asks for; or why it can't be answered."""
        outcomes: list[Tokens | Unanswerable] = []
        for request, (_, tokens) in zip(requests, self._laid_out(requests)):
            if isinstance(tokens, Unanswerable):
                outcomes.append(tokens)
            elif not tokens:
                outcomes.append(Unanswerable("not_understood", "there is nothing to go on from: its prompt is empty"))
            else:
                outcomes.append(self._exceeding(len(tokens) + request.sampling.max_new_tokens) or tokens)
        return outcomes

    def continuations(self, requests: Sequence[Request]) -> list[list[Continuation] | Unanswerable]:
        """Prompt and choice, for every choice of each; or why it can't be answered."""
        laid_out = self._laid_out(requests)
        asked = [
            (prompt, choice)
            for request, (prompt, _) in zip(requests, laid_out)
            if prompt is not None
            for choice in request.choices
        ]
        whole = iter(
            self._tokens([prompt for prompt, _ in asked], [prompt.with_choice(each) for prompt, each in asked])
        )
        outcomes: list[list[Continuation] | Unanswerable] = []
        for request, (_, tokens) in zip(requests, laid_out):
            if isinstance(tokens, Unanswerable):
                outcomes.append(tokens)
                continue
            try:
                outcomes.append(self._part(tokens, request.choices, [next(whole) for _ in request.choices]))
            except Unanswerable as error:
                outcomes.append(error)
        return outcomes

    def count(self, requests: Sequence[Request]) -> TokenCount:
        """Of a call with these requests; what is generated is not read, and generation shares no prefixes."""
        scored = [
            continuation
            for read in self.continuations([request for request in requests if request.choices])
            if not isinstance(read, Unanswerable)
            for continuation in read
        ]
        generated = self.prompts([request for request in requests if not request.choices])
        prompts = sum(len(tokens) for tokens in generated if not isinstance(tokens, Unanswerable))
        read = sum(len(continuation.read) for continuation in scored)
        return TokenCount(read=prompts + read, distinct=prompts + distinct_tokens(scored))

    def _part(self, prompt: Tokens, choices: Sequence[str], whole: Sequence[Tokens]) -> list[Continuation]:
        """Part prompt and choices at one place: where the prompt ends, or where a choice joins its last token."""
        if exceeding := self._exceeding(max(map(len, whole))):
            raise exceeding
        shared = min(shared_length(prompt, tokens) for tokens in whole)
        for choice, tokens in zip(choices, whole):
            if not 0 < shared < len(tokens):
                raise Unanswerable(
                    "not_understood", f"the tokens of choice {choice!r} can't be separated from its prompt's"
                )
        return [Continuation(tokens[:shared], tokens[shared:]) for tokens in whole]

    def _laid_out(self, requests: Sequence[Request]) -> list[tuple[Prompt, Tokens] | tuple[None, Unanswerable]]:
        """Each prompt and its tokens, or why there are none."""
        prompts: list[Prompt | Unanswerable] = []
        for request in requests:
            try:
                prompts.append(self.layout.lay_out(request.messages, request.template, _is_answered(request)))
            except Unanswerable as error:
                prompts.append(error)
        tokens = iter(self._tokens([prompt for prompt in prompts if isinstance(prompt, Prompt)]))
        return [(prompt, next(tokens)) if isinstance(prompt, Prompt) else (None, prompt) for prompt in prompts]

    def _tokens(self, prompts: Sequence[Prompt], texts: Sequence[str] | None = None) -> list[Tokens]:
        """Of each text (by default the prompt's), with the special tokens that its prompt begins with."""
        texts = [prompt.text for prompt in prompts] if texts is None else texts
        if not texts:
            return []
        encoded = self.tokenizer(list(texts), add_special_tokens=False, padding=False, truncation=False)["input_ids"]
        return [
            (*(self._first_tokens if prompt.special_tokens else ()), *tokens)
            for prompt, tokens in zip(prompts, encoded)
        ]

    @cached_property
    def _first_tokens(self) -> Tokens:
        """What the tokenizer begins a text with. What some end it with is left out: the text goes on."""
        bare, whole = (self.tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True))
        starts = range(len(whole) - len(bare) + 1)
        return tuple(whole[: next((i for i in starts if whole[i : i + len(bare)] == bare), 0)])

    def _exceeding(self, tokens: int) -> Unanswerable | None:
        return None if self.context is None or tokens <= self.context else too_long(tokens, self.context)


def _is_answered(request: Request) -> bool:
    """Whether its answer begins right after the prompt, without a thought."""
    return bool(request.choices) or request.schema is not None
