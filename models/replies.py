"""From the tokens that a model has written to a reply, and how a checkpoint samples by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from evenhand.models.request import Reply, Sampling

DEFAULT_TOP_K = 50  # of transformers' generation, where a checkpoint that samples names none


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Tokens that end a text: the checkpoint's, else its tokenizer's; none where neither names any."""
    own = model.generation_config
    ends = own.eos_token_id if own is not None and own.eos_token_id is not None else tokenizer.eos_token_id
    return [] if ends is None else ends if isinstance(ends, list) else [ends]


def own_sampling(own: GenerationConfig | None, asked: Sampling) -> Sampling:
    """As the checkpoint's generation settings say, where `asked` leaves it to them; greedy where they don't say to."""
    if asked.temperature is not None:
        return asked
    if own is None or not own.do_sample:
        return replace(asked, temperature=0.0)
    top_k = DEFAULT_TOP_K if own.top_k is None else own.top_k
    return replace(asked, temperature=own.temperature or 1.0, top_p=own.top_p or 1.0, top_k=top_k)


def reply_of(
    tokenizer: PreTrainedTokenizerBase, tokens: Sequence[int], ends: Sequence[int], sampling: Sampling
) -> Reply:
    """The text up to the first end token or stop string."""
    length = next((i for i, token in enumerate(tokens) if token in ends), len(tokens))
    text = tokenizer.decode(tokens[:length], skip_special_tokens=True)
    cut = min((found for stop in sampling.stop if (found := text.find(stop)) >= 0), default=len(text))
    stopped = length < len(tokens) or cut < len(text)
    return Reply(text=text[:cut], finish_reason="stop" if stopped else "length")
