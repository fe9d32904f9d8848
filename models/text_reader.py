"""From requests to tokens, as a text model reads them; scoring and training read the very same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from transformers import PreTrainedTokenizerBase

from evenhand.models.errors import Unanswerable, too_long
from evenhand.models.layout import Layout, Prompt
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation, Tokens, distinct_tokens, shared_length
from evenhand.models.protocol import TokenCount
from evenhand.models.request import Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings


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
            answers = [(choice, next(whole)) for choice in request.choices]
            try:
                outcomes.append([self._continuation(tokens, choice, each) for choice, each in answers])
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

    def _continuation(self, prompt: Tokens, choice: str, whole: Tokens) -> Continuation:
        if exceeding := self._exceeding(len(whole)):
            raise exceeding
        shared = shared_length(prompt, whole)  # the answer begins after the prompt's tokens, or where they part
        if not 0 < shared < len(whole):
            raise Unanswerable("not_understood", f"the tokens of choice {choice!r} can't be told from its prompt's")
        return Continuation(whole[:shared], whole[shared:])

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
        """Of each text (by default the prompt's), with the special tokens that its prompt calls for."""
        texts = [prompt.text for prompt in prompts] if texts is None else texts
        tokens: dict[int, Tokens] = {}
        for special in (True, False):
            places = [place for place, prompt in enumerate(prompts) if prompt.special_tokens == special]
            if places:
                some = [texts[place] for place in places]
                encoded = self.tokenizer(some, add_special_tokens=special, padding=False, truncation=False)["input_ids"]
                tokens.update(zip(places, map(tuple, encoded)))
        return [tokens[place] for place in range(len(texts))]

    def _exceeding(self, tokens: int) -> Unanswerable | None:
        return None if self.context is None or tokens <= self.context else too_long(tokens, self.context)


def _is_answered(request: Request) -> bool:
    """Whether its answer begins at once, and no thought comes before it."""
    return bool(request.choices) or request.schema is not None
