"""From the tokens that a model has written to a reply, and how a checkpoint samples by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transformers import GenerationConfig, PreTrainedTokenizerBase

from evenhand.models.request import Reply, Sampling
from evenhand.models.thoughts import is_mark, make_reply

DEFAULT_TOP_K = 50  # of transformers' generation, where a checkpoint that samples names none


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
