"""A request's prompt and choices as tokens of a served model: by the server itself, or by its tokenizer here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

from evenhand.models.endings import ANSWER, QUESTION, Ending, find_ending, name_closing, name_switch
from evenhand.models.errors import Unanswerable
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import Withheld
from evenhand.models.prefix_tree import Continuation, Tokens, shared_length
from evenhand.models.request import Message, Request
from evenhand.models.template_settings import NO_SETTINGS, THINKING_SWITCHES, TemplateSettings
from evenhand.models.thoughts import closing

if TYPE_CHECKING:
    from evenhand.models.text_reader import TextReader

T = TypeVar("T")
_MERGED = 3  # tokens at a prompt's end that a choice's beginning may change


class Ask(Protocol):
    """Asks a server patiently, and reads what its answer holds."""

    def __call__(self, path: str, body: Mapping[str, object], read: Callable[[object], T]) -> T: ...


class Reader(Protocol):
    """name: for reports. notes: what a report says of how options are scored after its prompts."""

    @property
    def name(self) -> str: ...

    @property
    def notes(self) -> Collection[str]: ...

    def continuations(self, request: Request, ask: Ask) -> list[Continuation]:
        """Prompt and choice, for every choice. Raises Unanswerable where there are none."""
        ...


class ServerReader:
    """By the server's own chat template and tokenizer: /tokenize and /detokenize, as vLLM has them beside /v1."""

    name = "the server's /tokenize"

    def __init__(self, model: str, given: Collection[str] = ()):
        """given: variables of the server's chat template that every request sets."""
        self._model, self._given = model, given
        self._before: dict[str, tuple[str, Mapping[str, object]]] = {}
        self.notes: dict[str, None] = {}

    def continuations(self, request: Request, ask: Ask) -> list[Continuation]:
        between, variables = self._before_answer(request.messages, ask)
        prompt = self.prompt(request.messages, ask, variables=variables)
        text = self._text(prompt, ask)
        if written := between.rstrip(" "):
            text += written
            prompt = self.tokens(text, ask)
        gap = between[len(written) :]
        whole = [self.tokens(text + gap + choice, ask) for choice in request.choices]
        shared = min(shared_length(prompt, tokens) for tokens in whole)  # all options begin at one place
        for choice, tokens in zip(request.choices, whole):
            if not max(0, len(prompt) - _MERGED) < shared < len(tokens):
                raise Unanswerable(
                    "not_understood", f"the tokens of choice {choice!r} can't be separated from its prompt's"
                )
        return [Continuation(tokens[:shared], tokens[shared:]) for tokens in whole]

    def gives_back(self, request: Request, ask: Ask) -> bool:
        """Whether the text of its prompt's tokens has these very tokens, as it must where choices follow it."""
        prompt = self.prompt(request.messages, ask)
        return self.tokens(self._text(prompt, ask), ask) == prompt

    def prompt(
        self,
        messages: Sequence[Message],
        ask: Ask,
        generate: bool = True,
        variables: Mapping[str, object] = MappingProxyType({}),
    ) -> Tokens:
        """generate: with the beginning of an answer. variables: of the chat template."""
        if any(message.images for message in messages):
            raise Unanswerable("not_understood", "options are scored after text only, and the request carries an image")
        laid_out = {"messages": chat_messages(messages), "add_generation_prompt": generate, "add_special_tokens": False}
        given = {"chat_template_kwargs": dict(variables)} if variables else {}
        return ask("/tokenize", {"model": self._model, **laid_out, **given}, _tokens)

    def _before_answer(self, messages: Sequence[Message], ask: Ask) -> tuple[str, Mapping[str, object]]:
        """What stands between a prompt and its answer, and variables of the template that turn thoughts off."""
        asked = [each if each.role == "system" else Message(each.role, QUESTION) for each in messages]
        key = repr(asked)
        if key not in self._before:
            self._before[key] = self._find_before_answer(asked, ask)
        return self._before[key]

    def _find_before_answer(self, asked: Sequence[Message], ask: Ask) -> tuple[str, Mapping[str, object]]:
        """By the rules of `ChatTemplate`, as far as prompts show them: the template itself is not seen."""
        prompt, ending = self._ending(asked, ask)
        if not ending.closes_thought:
            for name in THINKING_SWITCHES:
                if name not in self._given:
                    other, without = self._ending(asked, ask, {name: False})
                    if other != prompt and not without.opened:
                        self.notes[name_switch(ending, name)] = None
                        return without.text or "", {name: False}
        between = closing(prompt) if ending.text is None else ending.text
        if between is None:
            raise Unanswerable("not_understood", "its prompt ends inside a thought, which can't be closed here")
        if note := ending.note or (name_closing(between) if ending.opened else ""):
            self.notes[note] = None
        return between, {}

    def _ending(
        self, asked: Sequence[Message], ask: Ask, variables: Mapping[str, object] = MappingProxyType({})
    ) -> tuple[str, Ending]:
        """A prompt, and how it goes on to an answer."""
        prompt = self._text(self.prompt(asked, ask, variables=variables), ask)
        try:
            answer = Message("assistant", ANSWER)
            answered = self._text(self.prompt([*asked, answer], ask, generate=False, variables=variables), ask)
        except Unanswerable:  # the template takes no answer at the end
            answered = ""
        return prompt, find_ending(prompt, answered.rpartition(ANSWER)[0])

    def _text(self, tokens: Tokens, ask: Ask) -> str:
        return ask("/detokenize", {"model": self._model, "tokens": tokens}, _text)

    def tokens(self, text: str, ask: Ask) -> Tokens:
        """Of a text that holds the special tokens that it needs."""
        return ask("/tokenize", {"model": self._model, "prompt": text, "add_special_tokens": False}, _tokens)


class LocalReader:
    """By a tokenizer that is loaded here, as local models read; texts as long as the server bears."""

    def __init__(self, tokenizer: str, settings: TemplateSettings = NO_SETTINGS):
        from evenhand.models.loading import Checkpoint
        from evenhand.models.text_reader import TextReader

        checkpoint = Checkpoint(tokenizer, what="tokenizer", accepted="a Hub id, or a local folder with a tokenizer")
        self.name = f"tokenizer {tokenizer}"
        self._reader: TextReader = TextReader(checkpoint.tokenizer, context=None, settings=settings)
        self.notes = self._reader.layout.chat.notes
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
