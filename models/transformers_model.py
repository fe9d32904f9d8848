"""Any causal language model that transformers loads: on a CPU, a GPU, or spread over several by device_map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import torch
from psutil import virtual_memory
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteriaList,
)
from transformers.cache_utils import Cache

from evenhand.models.choice_scoring import ChoiceScoring, left_padded
from evenhand.models.constrained_writing import Grammars, SchemaProcessor, can_constrain
from evenhand.models.decoding import decoding, takes_roomy_layers
from evenhand.models.errors import Unanswerable
from evenhand.models.generation import CountsWritten, choice_reply, end_tokens, make_processors, own_sampling, reply_of
from evenhand.models.kept_prompts import KeptPrompts, shared_end
from evenhand.models.loading import Checkpoint
from evenhand.models.local_model import LocalModel
from evenhand.models.prefix_tree import LogProbs, Tokens
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, TokenCount, unheard
from evenhand.models.request import Reply, Request, Sampling
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.text_reader import TextReader

Asked = list[tuple[int, Request]]  # requests of one kind, each with its place in the call


class TransformersModel(LocalModel):
    """A checkpoint with its tokenizer. scoring: of choices; padded batches, or shared prefixes where these agree.

    It can "constrain" where llguidance is installed and knows its tokenizer.
    """

    can: frozenset[Ability] = frozenset({"generate", "choose", "count_tokens", "continue"})
    batches: Mapping[Kind, int] = MappingProxyType({"choose": 16, "generate": 2})

    def __init__(
        self,
        load: Callable[[], PreTrainedModel],
        tokenizer: PreTrainedTokenizerBase,
        identity: str,
        context: int | None,
        batch_size: int = 16,
        scoring: Literal["auto", "padded"] = "auto",
        name: str | None = None,
        prompt_memory: float | None = None,
        settings: TemplateSettings = NO_SETTINGS,
    ):
        """settings: of its chat template, which are part of the identity where the template uses them. prompt_memory:
        GB of keys and values of prompts that stay for others with the same beginning; None: a quarter of what is free,
        on a
        CPU."""
        self.reader = TextReader(tokenizer, context, settings)
        super().__init__(load, identity, name, context, batch_size, self.reader.layout.chat)
        self.tokenizer = tokenizer
        if can_constrain(tokenizer):
            self.can = TransformersModel.can | {"constrain"}
        self._way = scoring
        self._prompt_memory = prompt_memory
        self._padding: int = next(
            token for token in (tokenizer.pad_token_id, tokenizer.eos_token_id, 0) if token is not None
        )

    @classmethod
    def from_checkpoint(
        cls,
        checkpoint: Checkpoint,
        batch_size: int = 16,
        scoring: Literal["auto", "padded"] = "auto",
        prompt_memory: float | None = None,
    ) -> TransformersModel:
        """Raises ModelError saying what could not be loaded; of the weights, when the first question comes."""
        model = cls(
            lambda: checkpoint.weights(AutoModelForCausalLM),
            checkpoint.tokenizer,
            checkpoint.identity,
            checkpoint.context,
            batch_size,
            scoring,
            name=checkpoint.name or checkpoint.path,
            prompt_memory=prompt_memory,
            settings=checkpoint.template,
        )
        model.notes = checkpoint.notes
        return model

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """Choices first, then texts; a batch's replies when it is computed."""
        asked = list(enumerate(requests))
        yield from self._choices([(place, request) for place, request in asked if request.choices])
        yield from self._texts([(place, request) for place, request in asked if not request.choices], on_tokens)

    def close(self) -> None:
        super().close()
        for name in ("scoring", "kept_prompts"):
            self.__dict__.pop(name, None)

    def count_tokens(self, requests: Sequence[Request]) -> TokenCount:
        return self.reader.count(requests)

    @cached_property
    def scoring(self) -> ChoiceScoring:
        return ChoiceScoring(
            self.model,
            self.identity,
            len(self.tokenizer),
            self._padding,
            self.context,
            self.batch_size,
            self._way,
            self.kept_prompts,
        )

    @cached_property
    def kept_prompts(self) -> KeptPrompts | None:
        """None where prompts are read in padded batches: by layers of other kinds, and on a GPU, which these fill."""
        gigabytes = self._prompt_memory
        if self.model.device.type != "cpu" or not takes_roomy_layers(self.model):
            return None
        return KeptPrompts(self.model, virtual_memory().available // 4 if gigabytes is None else int(1e9 * gigabytes))

    @cached_property
    def grammars(self) -> Grammars:
        """Read once: it takes some of a second."""
        return Grammars(self.tokenizer, self._ends)

    @property
    def _ends(self) -> list[int]:
        """Of texts by a schema: where nothing names an end, what pads it ends it."""
        return self._named_ends or [self._padding]

    @property
    def _named_ends(self) -> list[int]:
        return end_tokens(self.model.generation_config, self.tokenizer, self.chat.end_of_turn)

    def _choices(self, asked: Asked) -> Answers:
        """Each distinct token prefix is computed once where the model allows it, else in padded batches."""
        continuations, owners = [], []  # of each: (place of its request, which of its choices)
        for (place, request), read in zip(asked, self.reader.continuations([request for _, request in asked])):
            if isinstance(read, Unanswerable):
                yield place, self._failures.reply(request, read)
            else:
                continuations += read
                owners += [(place, i) for i in range(len(read))]
        if not continuations:
            return
        n_choices = {place: len(request.choices) for place, request in asked}
        scored: dict[int, dict[int, LogProbs]] = {}
        for i, log_probs in self.scoring.suited_to(continuations).scored(continuations):
            place, choice = owners[i]
            scored.setdefault(place, {})[choice] = log_probs
            if len(scored[place]) == n_choices[place]:
                yield place, choice_reply(scored[place])

    def _texts(self, asked: Asked, on_tokens: OnTokens) -> Answers:
        """Padded batches of like sampling and length; each request samples from its own seed.

        Those by a schema stand apart: their texts may end where others' don't.
        """
        groups: dict[tuple[Sampling, bool, str], dict[Tokens, Asked]] = {}
        for (place, request), tokens in zip(asked, self.reader.prompts([request for _, request in asked])):
            try:
                if isinstance(tokens, Unanswerable):
                    raise tokens
                if request.schema is not None:
                    self.grammars.check(request.schema)
            except Unanswerable as error:
                yield place, self._failures.reply(request, error)
            else:
                like = request.sampling, request.schema is not None, self.chat.stop if request.template else ""
                groups.setdefault(like, {}).setdefault(tokens, []).append((place, request))
        for (chosen, _, stop), rows in groups.items():
            sampling = own_sampling(self.model.generation_config, chosen, stop)
            ordered = [(tokens, *each) for tokens in sorted(rows, key=len) for each in rows[tokens]]
            for start in range(0, len(ordered), self.batch_size):
                prompts, places, some = zip(*ordered[start : start + self.batch_size])
                yield from zip(places, self._generated(prompts, sampling, some, on_tokens))

    def _generated(
        self, prompts: Sequence[Tokens], sampling: Sampling, requests: Sequence[Request], on_tokens: OnTokens
    ) -> list[Reply]:
        device = self.model.get_input_embeddings().weight.device
        input_ids, attention_mask, read = self._read(prompts)
        ends = self._named_ends
        processors = LogitsProcessorList()
        schemas = [request.schema for request in requests if request.schema is not None]
        if schemas:
            ends = self._ends
            processors.append(SchemaProcessor(self.grammars, schemas))  # first: what is drawn rules out all else
        processors.extend(make_processors(self.model.generation_config, sampling, requests, attention_mask))
        with torch.inference_mode(), decoding(self.model, read) as kept:
            output = self.model.generate(
                **kept,
                input_ids=input_ids.to(device),
                attention_mask=attention_mask.to(device),
                logits_processor=processors,
                stopping_criteria=StoppingCriteriaList([CountsWritten(on_tokens, ends, self._padding)]),
                tokenizer=self.tokenizer,
                generation_config=GenerationConfig(
                    max_new_tokens=sampling.max_new_tokens,
                    do_sample=False,
                    repetition_penalty=1.0,  # `make_processors` has the checkpoint's own
                    stop_strings=list(sampling.stop) or None,
                    eos_token_id=ends or None,
                    pad_token_id=self._padding,
                ),
            )
        written = output[:, input_ids.shape[1] :].tolist()
        return [
            reply_of(self.tokenizer, row, ends, sampling, self.reader.opens_thought(request))
            for row, request in zip(written, requests)
        ]

    def _read(self, prompts: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor, Cache | None]:
        """Token ids and attention mask (prompts, longest), and what of them was read before, from the first on."""
        ends = [shared_end(prompt) for prompt in prompts]
        if not any(ends) or self.kept_prompts is None:
            return *left_padded(prompts, self._padding), None
        parts = [
            left_padded([prompt[:end] for prompt, end in zip(prompts, ends)], self._padding),
            left_padded([prompt[end:] for prompt, end in zip(prompts, ends)], self._padding),
        ]
        input_ids, attention_mask = (torch.cat(each, dim=-1) for each in zip(*parts))
        return input_ids, attention_mask, self.kept_prompts.cache(prompts)
