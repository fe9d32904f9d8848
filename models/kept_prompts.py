"""Keys and values of prompts that were read, kept in blocks of tokens for prompts with a common beginning.

An agent's prompt is its former one and what was said since, and prompts of a benchmark have common beginnings; what
they share is read once. A block is read separately, after the blocks before it: its keys and values are a pure function
of the tokens up to its end, whatever else was asked and whatever was dropped, so that a call that is repeated writes
the same bytes. Reading so fills a processor as large batches do, without their padding; it would not fill a GPU.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import torch
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicCache

from evenhand.models.decoding import RoomyLayer
from evenhand.models.prefix_tree import Tokens

BLOCK = 64  # tokens

Layers = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""Of each layer keys and values, (1, heads, tokens, head size)."""


class KeptPrompts:
    """most_bytes: of keys and values that stay; those not used for longest are dropped first."""

    def __init__(self, model: PreTrainedModel, most_bytes: int):
        self.model = model
        self.most_bytes = most_bytes
        self.n_read = 0
        """Tokens of blocks that were read, which tells what was shared."""
        self.forget()

    def forget(self) -> None:
        """Drop everything: the next prompts are read whole."""
        self.n_bytes = 0
        self._blocks: OrderedDict[Tokens, Layers] = OrderedDict()  # by all tokens up to a block's end, oldest use first

    def cache(self, prompts: Sequence[Tokens]) -> Cache:
        """Return the cache of a batch of prompts, padded on the left, after their whole blocks, with room for more.

        It ends at `shared_end` of each prompt's tokens, and begins with padding where a prompt has fewer blocks.
        """
        read = [self._read(prompt[: shared_end(prompt)]) for prompt in prompts]
        most = max(map(len, read))
        layers = []
        for place in range(self.model.config.get_text_config().num_hidden_layers):
            layer = RoomyLayer()
            if most:
                layer.update(*(_stacked([[block[place][which] for block in each] for each in read], most)
                               for which in (0, 1)))  # fmt: skip
            layers.append(layer)
        self._drop()
        return Cache(layers=layers)

    def layers(self, tokens: Tokens) -> Layers:
        """Return keys and values of one or more whole blocks."""
        layers = _joined(self._read(tokens))
        self._drop()
        return layers

    def _read(self, tokens: Tokens) -> list[Layers]:
        """Return keys and values of each block."""
        begun = [tokens[: start + BLOCK] for start in range(0, len(tokens), BLOCK)]
        read: list[Layers] = []
        for each in begun:
            if each not in self._blocks:
                self._blocks[each] = self._forward(each[-BLOCK:], read)
                self.n_bytes += _count_bytes(self._blocks[each])
                self.n_read += BLOCK
            read.append(self._blocks[each])
        for each in reversed(begun):  # a block is dropped before those that it follows
            self._blocks.move_to_end(each)
        return read

    def _forward(self, block: Tokens, before: Sequence[Layers]) -> Layers:
        cache = DynamicCache(_joined(before) or None)
        start = BLOCK * len(before)
        with torch.inference_mode():
            self.model(
                input_ids=torch.tensor([block]),
                position_ids=torch.arange(start, start + len(block))[None],
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        return tuple(
            (layer.keys[..., start:, :].clone(), layer.values[..., start:, :].clone()) for layer in cache.layers
        )

    def _drop(self) -> None:
        while self.n_bytes > self.most_bytes:
            self.n_bytes -= _count_bytes(self._blocks.popitem(last=False)[1])


def _count_bytes(layers: Layers) -> int:
    return sum(each.nbytes for pair in layers for each in pair)


def shared_end(prompt: Tokens) -> int:
    """How many of its tokens are in whole blocks; the last one never is, for what follows it is to be written."""
    return whole_blocks(len(prompt) - 1)


def whole_blocks(n: int) -> int:
    """How many of n tokens are in whole blocks."""
    return n // BLOCK * BLOCK


def _joined(blocks: Sequence[Layers]) -> Layers:
    return tuple(
        (torch.cat([keys for keys, _ in layer], dim=-2), torch.cat([values for _, values in layer], dim=-2))
        for layer in zip(*blocks)
    )


def _stacked(rows: Sequence[Sequence[torch.Tensor]], most: int) -> torch.Tensor:
    """(rows, heads, most blocks' tokens, head size), of blocks; shorter rows begin with nothing."""
    one = next(each for row in rows for each in row)
    stacked = one.new_zeros(len(rows), one.shape[1], most * BLOCK, one.shape[3])
    for row, blocks in zip(stacked, rows):
        for place, block in enumerate(blocks, most - len(blocks)):
            row[:, place * BLOCK : (place + 1) * BLOCK] = block[0]
    return stacked
