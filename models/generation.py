"""Writing token by token: which of a checkpoint's own settings are used, what is done at each token, and the reply."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    PreTrainedTokenizerBase,
    RepetitionPenaltyLogitsProcessor,
    StoppingCriteria,
)

from evenhand.models.prefix_tree import LogProbs, Tokens
from evenhand.models.protocol import OnTokens
from evenhand.models.request import Reply, Request, Sampling
from evenhand.models.thoughts import is_mark, make_reply

DEFAULT_TOP_K = 50  # of transformers' generation, where a checkpoint that samples names none

_TOKENS = ("eos_token_id", "bos_token_id", "pad_token_id", "decoder_start_token_id")
_SAMPLING: dict[str, Callable[[float], bool]] = {
    "temperature": lambda value: value >= 0,
    "top_p": lambda value: 0 < value <= 1,
    "top_k": lambda value: value >= 0 and value == int(value),
    "repetition_penalty": lambda value: value > 0,
}
_DECIDED_HERE = {"max_length", "max_new_tokens", "do_sample", "use_cache", "transformers_version"}
"""A benchmark sets the length, evenhand the rest: naming them would say nothing."""
_ONE_HAS_EFFECT = {"prompt_lookup_num_tokens", "assistant_early_exit", "forced_bos_token_id", "forced_eos_token_id"}


@dataclass(frozen=True)
class OwnSettings:
    """A checkpoint's generation settings.

    used: end tokens and other special tokens, and, for benchmarks that ask for the model's own sampling, temperature,
    top-p, top-k and repetition penalty. left_out: names of those that would change what it writes, or how it is
    computed, and of values out of range.
    """

    used: GenerationConfig
    left_out: tuple[str, ...] = ()

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> OwnSettings:
        """settings: of generation_config.json; names that transformers doesn't know have no effect there either."""
        known = {name for name in vars(GenerationConfig()) if not name.startswith(("_", "output_", "return_"))}
        used = {name: settings[name] for name in _TOKENS if _are_tokens(settings.get(name))}
        used |= {
            name: settings[name] for name, accepts in _SAMPLING.items() if _is_in_range(settings.get(name), accepts)
        }
        left_out = sorted(
            name for name in known & settings.keys() - used.keys() - _DECIDED_HERE if _has_effect(name, settings[name])
        )
        draws = settings.get("do_sample") is True and used.get("temperature", 1.0) > 0
        greedy = {} if draws else dict.fromkeys(("temperature", "top_p", "top_k"))
        return cls(GenerationConfig(**used | greedy, do_sample=draws), tuple(left_out))


def _are_tokens(value: object) -> bool:
    tokens = value if isinstance(value, list) else [value]
    return bool(tokens) and all(type(token) is int and token >= 0 for token in tokens)


def _is_in_range(value: object, accepts: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and accepts(value)  # type: ignore[arg-type]


def _has_effect(name: str, value: object) -> bool:
    """Most settings are off at 0 or 1: beams, penalties, lengths."""
    if value is None or value is False or value in ([], {}, ""):
        return False
    return value is True or name in _ONE_HAS_EFFECT or name in _SAMPLING or value not in (0, 1)


def end_tokens(
    own: GenerationConfig | None, tokenizer: PreTrainedTokenizerBase, end_of_turn: int | None = None
) -> list[int]:
    """Tokens that end a text: the checkpoint's, else its tokenizer's, and what its chat template ends a turn with.

    None where nothing names any.
    """
    ends = own.eos_token_id if own is not None and own.eos_token_id is not None else tokenizer.eos_token_id
    named = [] if ends is None else ends if isinstance(ends, list) else [ends]
    return named if end_of_turn is None or end_of_turn in named else [*named, end_of_turn]


def own_sampling(own: GenerationConfig | None, asked: Sampling, stop: str = "") -> Sampling:
    """As the checkpoint's generation settings say, where `asked` leaves it to them; greedy where they don't say to.

    stop: the text by which the chat template ends a turn.
    """
    if stop:
        asked = replace(asked, stop=(*asked.stop, stop))
    if asked.temperature is not None:
        return asked
    if own is None or not own.do_sample:
        return replace(asked, temperature=0.0)
    top_k = DEFAULT_TOP_K if own.top_k is None else own.top_k
    return replace(asked, temperature=own.temperature or 1.0, top_p=own.top_p or 1.0, top_k=top_k)


def choose_penalty(own: GenerationConfig | None, asked: Sampling) -> float:
    """The checkpoint's repetition penalty, where `asked` leaves sampling to the checkpoint; 1.0 is none."""
    if asked.temperature is not None or own is None:
        return 1.0
    return own.repetition_penalty or 1.0


def make_processors(
    own: GenerationConfig | None, sampling: Sampling, requests: Sequence[Request], mask: torch.Tensor
) -> list[LogitsProcessor]:
    """What draws texts of requests with the same sampling; nothing where they are written greedily.

    sampling: theirs, filled in. mask: (requests, tokens of the prompts), 0 where a prompt is padded.
    """
    penalty = choose_penalty(own, requests[0].sampling)
    penalties = [RepetitionPenalty(penalty, mask)] if penalty != 1.0 else []
    return penalties + ([SeededSampling(sampling, [each.seed for each in requests])] if sampling.temperature else [])


class RepetitionPenalty(LogitsProcessor):  # type: ignore[misc]
    """As transformers', but padding is no part of a prompt: a reply doesn't depend on its neighbors."""

    def __init__(self, penalty: float, mask: torch.Tensor):
        self._penalize = RepetitionPenaltyLogitsProcessor(penalty)
        self._padding = mask == 0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        n = self._padding.shape[1]
        prompts = input_ids[:, :n].where(~self._padding.to(input_ids.device), input_ids[:, n - 1 : n])
        return self._penalize(torch.cat([prompts, input_ids[:, n:]], dim=1), scores)  # type: ignore[no-any-return]


class SeededSampling(LogitsProcessor):  # type: ignore[misc]
    """Draws each row's next token with that row's own generator, by inverse distribution over the sorted tokens.

    Temperature first, then top-k, then top-p, as in transformers. One uniform number a token, fixed by the request's
    seed: what a request says depends neither on its place in the batch nor on its neighbors. All other tokens are
    ruled out, so that greedy decoding then takes the token drawn.
    """

    def __init__(self, sampling: Sampling, seeds: Sequence[int]):
        self.sampling = sampling
        draws = [np.random.Generator(np.random.PCG64(seed)).random(sampling.max_new_tokens) for seed in seeds]
        self.uniforms = torch.from_numpy(np.stack(draws, axis=1))  # (max_new_tokens, rows)
        self.step = 0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        uniform = self.uniforms[self.step].to(scores.device)
        self.step += 1
        probabilities = torch.softmax(scores.double() / self.sampling.temperature, dim=-1)
        probabilities, tokens = probabilities.sort(dim=-1, descending=True, stable=True)
        if self.sampling.top_k:
            probabilities[:, self.sampling.top_k :] = 0
        cumulative = probabilities.cumsum(dim=-1)
        kept = cumulative - probabilities < self.sampling.top_p * cumulative[:, -1:]  # the first always is
        cumulative = torch.where(kept, probabilities, 0).cumsum(dim=-1)
        drawn = torch.searchsorted(cumulative, uniform[:, None] * cumulative[:, -1:], right=True)
        drawn = drawn.clamp(max=kept.sum(dim=-1, keepdim=True) - 1)
        token = tokens.gather(-1, drawn)
        return torch.full_like(scores, -torch.inf).scatter(-1, token, 0.0)


class ForcedAnswers(LogitsProcessor):  # type: ignore[misc]
    """Rules out all tokens but the next one of each row's answer, so that the model says how likely it finds it.

    After an answer's end `filling` is written.
    """

    def __init__(self, answers: Sequence[Tokens], filling: int):
        self.steps = max(map(len, answers))
        filled = [[*answer, *[filling] * (self.steps - len(answer))] for answer in answers]
        self.tokens = torch.tensor(filled).T  # (steps, rows)
        self.step = 0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        token = self.tokens[self.step].to(scores.device)
        self.step += 1
        return torch.full_like(scores, -torch.inf).scatter(-1, token[:, None], 0.0)


class CountsWritten(StoppingCriteria):  # type: ignore[misc]
    """Stops nothing. After each step it reports how many rows still wrote.

    A row ends at an end token; one that ended at a stop string shows it by the padding that follows.
    """

    def __init__(self, on_tokens: OnTokens, ends: Sequence[int], padding: int):
        self.on_tokens = on_tokens
        self._last = torch.tensor([*ends, padding])
        self._writing: torch.Tensor | None = None  # (rows,)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **kwargs: object) -> torch.BoolTensor:
        stopped = torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
        writing = ~stopped if self._writing is None else self._writing
        self.on_tokens(int(writing.sum()))
        self._writing = writing & ~torch.isin(input_ids[:, -1], self._last.to(input_ids.device))
        return stopped  # type: ignore[return-value]


def choice_reply(log_probs: Mapping[int, LogProbs]) -> Reply:
    """The reply of log-probabilities by the number of their choice."""
    return Reply(finish_reason="choice", choice_log_probs=tuple(log_probs[choice] for choice in sorted(log_probs)))


def reply_of(
    tokenizer: PreTrainedTokenizerBase,
    tokens: Sequence[int],
    ends: Sequence[int],
    sampling: Sampling,
    opened: bool = False,
) -> Reply:
    """The text up to the first end token or stop string, without its thought.

    opened: whether the prompt ends inside a thought.
    """
    length = next((i for i, token in enumerate(tokens) if token in ends), len(tokens))
    text = _decode(tokenizer, tokens[:length])
    cut = min((found for stop in sampling.stop if (found := text.find(stop)) >= 0), default=len(text))
    stopped = length < len(tokens) or cut < len(text)
    return make_reply(text[:cut], "stop" if stopped else "length", opened)


def _decode(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[int]) -> str:
    """Without special tokens, but for those that mark a thought."""
    special = {token for token, added in tokenizer.added_tokens_decoder.items() if added.special}
    marks = {token for token in special if is_mark(tokenizer.added_tokens_decoder[token].content)}
    if marks.isdisjoint(tokens):
        return str(tokenizer.decode(tokens, skip_special_tokens=True))
    special.update(tokenizer.all_special_ids)
    return str(tokenizer.decode([token for token in tokens if token in marks or token not in special]))
