"""A request's prompt and choices as tokens of a served model: by the server itself, or by its tokenizer here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from evenhand.models.endings import ANSWER, QUESTION, find_ending
from evenhand.models.errors import Unanswerable
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import Withheld
from evenhand.models.prefix_tree import Continuation, Tokens, shared_length
from evenhand.models.request import Message, Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.thoughts import closing

if TYPE_CHECKING:
    from evenhand.models.text_reader import TextReader

T = TypeVar("T")
_MERGED = 3  # tokens at a prompt's end that a choice's beginning may change


class Ask(Protocol):
    """Asks a server patiently, and reads what its answer holds."""

    def __call__(self, path: str, body: Mapping[str, object], read: Callable[[object], T]) -> T: ...


class Reader(Protocol):
    """name: for reports."""

    @property
    def name(self) -> str: ...

    def continuations(self, request: Request, ask: Ask) -> list[Continuation]:
        """Prompt and choice, for every choice. Raises Unanswerable where there are none."""
        ...


class ServerReader:
    """By the server's own chat template and tokenizer: /tokenize and /detokenize, as vLLM has them beside /v1."""

    name = "the server's /tokenize"

    def __init__(self, model: str, settings: TemplateSettings = NO_SETTINGS):
        """settings: of its chat template, whose date is the server's own."""
        self._model = model
        self._variables = {"chat_template_kwargs": settings.variables} if settings.options else {}
        self._between: dict[str, str] = {}

    def continuations(self, request: Request, ask: Ask) -> list[Continuation]:
        prompt = self.prompt(request.messages, ask)
        text, between = self._text(prompt, ask), self._before_answer(request.messages, ask)
        if written := between.rstrip(" "):
            text += written
            prompt = self.tokens(text, ask)
        gap = between[len(written) :]
        return [self._continuation(prompt, choice, self.tokens(text + gap + choice, ask)) for choice in request.choices]

    def gives_back(self, request: Request, ask: Ask) -> bool:
        """Whether the text of its prompt's tokens has these very tokens, as it must where choices follow it."""
        prompt = self.prompt(request.messages, ask)
        return self.tokens(self._text(prompt, ask), ask) == prompt

    def prompt(self, messages: Sequence[Message], ask: Ask, generate: bool = True) -> Tokens:
        """generate: with the beginning of an answer."""
        if any(message.images for message in messages):
            raise Unanswerable("not_understood", "options are scored after text only, and the request carries an image")
        laid_out = {"messages": chat_messages(messages), "add_generation_prompt": generate, "add_special_tokens": False}
        return ask("/tokenize", {"model": self._model, **laid_out, **self._variables}, _tokens)

    def _before_answer(self, messages: Sequence[Message], ask: Ask) -> str:
        """What the server's template writes between a prompt and its answer, found as `ChatTemplate` finds it."""
        asked = [each if each.role == "system" else Message(each.role, QUESTION) for each in messages]
        key = repr(asked)
        if key not in self._between:
            prompt = self._text(self.prompt(asked, ask), ask)
            try:
                answered = self._text(self.prompt([*asked, Message("assistant", ANSWER)], ask, generate=False), ask)
            except Unanswerable:  # the template takes no answer at the end
                answered = ""
            ending = find_ending(prompt, answered.rpartition(ANSWER)[0])
            between = closing(prompt) if ending.text is None else ending.text
            if between is None:
                raise Unanswerable("not_understood", "its prompt ends inside a thought, which can't be closed here")
            self._between[key] = between
        return self._between[key]

    def _text(self, tokens: Tokens, ask: Ask) -> str:
        return ask("/detokenize", {"model": self._model, "tokens": tokens}, _text)

    def tokens(self, text: str, ask: Ask) -> Tokens:
        """Of a text that holds the special tokens that it needs."""
        return ask("/tokenize", {"model": self._model, "prompt": text, "add_special_tokens": False}, _tokens)

    def _continuation(self, prompt: Tokens, choice: str, whole: Tokens) -> Continuation:
        shared = shared_length(prompt, whole)
        if not max(0, len(prompt) - _MERGED) < shared < len(whole):
            raise Unanswerable(
                "not_understood", f"the tokens of choice {choice!r} can't be separated from its prompt's"
            )
        return Continuation(whole[:shared], whole[shared:])


class LocalReader:
    """By a tokenizer that is loaded here, as local models read; texts as long as the server bears."""

    def __init__(self, tokenizer: str, settings: TemplateSettings = NO_SETTINGS):
        from evenhand.models.loading import Checkpoint
        from evenhand.models.text_reader import TextReader

        checkpoint = Checkpoint(tokenizer, what="tokenizer", accepted="a Hub id, or a local folder with a tokenizer")
        self.name = f"tokenizer {tokenizer}"
        self._reader: TextReader = TextReader(checkpoint.tokenizer, context=None, settings=settings)
        self._lock = threading.Lock()  # tokenizers are not made for threads

    def continuations(self, request: Request, ask: Ask) -> list[Continuation]:
        with self._lock:
            [read] = self._reader.continuations([request])
        if isinstance(read, Unanswerable):
            raise read
        return read


def _tokens(content: object) -> Tokens:
    found = content.get("tokens") if isinstance(content, dict) else None
    if not isinstance(found, list) or not found or not all(type(token) is int and token >= 0 for token in found):
        raise Withheld("no tokens in it")
    return tuple(found)


def _text(content: object) -> str:
    found = content.get("prompt") if isinstance(content, dict) else None
    if not isinstance(found, str):
        raise Withheld("no text in it")
    return found
