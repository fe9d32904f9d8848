"""Keys and values of prompts that were read, kept for prompts that begin alike: a tree of blocks of tokens.

An agent's prompt is its former one and what was said since, and prompts of a benchmark begin alike; what they share is
read once. A block is read by itself, after the blocks before it: its keys and values are a pure function of the tokens
up to its end, whatever else was asked and whatever was dropped, so that a call that is repeated writes the same bytes.
Reading so fills a processor as large batches do, without their padding; it would not fill a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicCache

from evenhand.models.decoding import RoomyLayer
from evenhand.models.prefix_tree import Tokens

BLOCK = 64  # tokens

Layers = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""Of each layer keys and values, (1, heads, tokens, head size)."""


@dataclass(eq=False)
class _Node:
    """A block that was read. used: when; of a branch, no sooner than its leaves."""

    before: _Node | None
    tokens: Tokens
    layers: Layers
    used: int = 0
    after: dict[Tokens, _Node] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        return sum(each.nbytes for pair in self.layers for each in pair)


class KeptPrompts:
    """most_bytes: of keys and values that stay; the leaves not used for longest are dropped first."""

    def __init__(self, model: PreTrainedModel, most_bytes: int):
        self.model = model
        self.most_bytes = most_bytes
        self.n_read = 0
        """Tokens of blocks that were read, for whoever wants to know what was shared."""
        self._now = 0
        self.forget()

    def forget(self) -> None:
        """All that was kept: the next prompts are read whole."""
        self.n_bytes = 0
        self._root = _Node(None, (), ())
        self._nodes: set[_Node] = set()

    def cache(self, prompts: Sequence[Tokens]) -> Cache:
        """What a batch of prompts, padded on the left, has read of its whole blocks; room for more ahead.

        It ends at `shared_end` of each prompt's tokens, and begins with padding where a prompt has fewer blocks.
        """
        read = [self._read(prompt[: shared_end(prompt)]) for prompt in prompts]
        most = max(map(len, read))
        layers = []
        for place in range(self.model.config.get_text_config().num_hidden_layers):
            layer = RoomyLayer()
            if most:
                layer.update(*(_stacked([[node.layers[place][which] for node in each] for each in read], most)
                               for which in (0, 1)))  # fmt: skip
            layers.append(layer)
        self._drop()
        return Cache(layers=layers)

    def layers(self, tokens: Tokens) -> Layers:
        """What has been read of one or more whole blocks."""
        layers = _joined(self._read(tokens))
        self._drop()
        return layers

    def _read(self, tokens: Tokens) -> list[_Node]:
        """The blocks that they are."""
        self._now += 1
        node = self._root
        path: list[_Node] = []
        for start in range(0, len(tokens), BLOCK):
            block = tokens[start : start + BLOCK]
            if block not in node.after:
                self._add(node, block, path)
            node = node.after[block]
            path.append(node)
        for node in path:
            node.used = self._now
        return path

    def _add(self, before: _Node, block: Tokens, path: Sequence[_Node]) -> None:
        node = _Node(before, block, self._forward(block, path))
        before.after[block] = node
        self._nodes.add(node)
        self.n_bytes += node.n_bytes
        self.n_read += len(block)

    def _forward(self, block: Tokens, path: Sequence[_Node]) -> Layers:
        cache = DynamicCache(_joined(path) or None)
        start = BLOCK * len(path)
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
        """Leaves until the rest is small enough; a branch may then be a leaf itself."""
        if self.n_bytes <= self.most_bytes:
            return
        for node in sorted(self._nodes, key=lambda each: (each.used, -_depth(each))):
            if self.n_bytes <= self.most_bytes:
                return
            assert node.before is not None
            del node.before.after[node.tokens]
            self._nodes.discard(node)
            self.n_bytes -= node.n_bytes


def shared_end(prompt: Tokens) -> int:
    """How many of its tokens are in whole blocks; the last one never is, for what follows it is to be written."""
    return whole_blocks(len(prompt) - 1)


def whole_blocks(n: int) -> int:
    """How many of n tokens are in whole blocks."""
    return n // BLOCK * BLOCK


def _joined(path: Sequence[_Node]) -> Layers:
    return tuple(
        (torch.cat([keys for keys, _ in layer], dim=-2), torch.cat([values for _, values in layer], dim=-2))
        for layer in zip(*(node.layers for node in path))
    )


def _depth(node: _Node) -> int:
    depth = 0
    while node.before is not None:
        node, depth = node.before, depth + 1
    return depth


def _stacked(rows: Sequence[Sequence[torch.Tensor]], most: int) -> torch.Tensor:
    """(rows, heads, most blocks' tokens, head size), of blocks; shorter rows begin with nothing."""
    one = next(each for row in rows for each in row)
    stacked = one.new_zeros(len(rows), one.shape[1], most * BLOCK, one.shape[3])
    for row, blocks in zip(stacked, rows):
        for place, block in enumerate(blocks, most - len(blocks)):
            row[:, place * BLOCK : (place + 1) * BLOCK] = block[0]
    return stacked
