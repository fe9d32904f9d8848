"""Choice scoring that computes each distinct token prefix once.

The prompts of a call are sorted; what they all share is run once and its keys and values are kept. The rest is taken
in groups: each group's distinct prefixes are the nodes of a tree, in which a node sees the kept prefix, its ancestors
and itself (position ids are depths). Trees stand one after another in one sequence: small ones keep the masks small,
many of them the matrix products large. Everything computed is a pure function of the call's prompts, so that an
interrupted run repeats it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from evenhand.models.exact_logits import float32_logits
from evenhand.models.kept_prompts import BLOCK, KeptPrompts, Layers, whole_blocks
from evenhand.models.prefix_tree import (
    Continuation,
    Forks,
    LogProbs,
    PrefixTree,
    Tokens,
    common_prefix,
    grow,
    split_by_size,
)
from evenhand.models.tree_masks import BASE, TreeMasks, attending

NODES_A_TREE = 96  # attention and masks grow with its square
PATHS_A_TREE = 3  # but of long continuations a tree holds a few, lest most of its nodes repeat its neighbor's
NODES_A_BATCH = 2048
SHORTEST_KEPT = 8  # a shorter prefix of all costs less inside the trees than a pass of its own
ROWS_A_SUM = 32  # logits of so few nodes stay in the processor's cache while they are added up
TOKENS_WORTH_A_PASS = 64  # a pass over a few tokens takes about as long as these take in a large batch
LONG = 3 * BLOCK  # what a prompt shares with no other of its call is kept for later calls if it is as long as this


@dataclass(frozen=True)
class _Kept:
    """A prefix that has been run. layers: its keys and values."""

    tokens: Tokens = ()
    layers: Layers = ()


class _KeptLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer that puts the kept prefix before what is new, and remembers the new without growing."""

    def __init__(self, kept: tuple[torch.Tensor, torch.Tensor] | None):
        super().__init__()
        self.kept = kept
        self.new: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.new = (key_states, value_states)
        if self.kept is None:
            return key_states, value_states
        keys, values = self.kept
        return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)

    def get_seq_length(self, *args: object) -> int:
        return 0 if self.kept is None else self.kept[0].shape[-2]


class SharedPrefixScoring:
    """Raises Unsupported on construction where the model's layers are not full or sliding-window attention."""

    name = "shared prefixes"

    def __init__(
        self,
        model: PreTrainedModel,
        nodes_a_tree: int = NODES_A_TREE,
        paths_a_tree: int = PATHS_A_TREE,
        nodes_a_batch: int = NODES_A_BATCH,
        kept_prompts: KeptPrompts | None = None,
    ):
        """kept_prompts: of earlier calls; with None each call reads all of its prompts."""
        self.model = model
        self.nodes_a_tree = nodes_a_tree
        self.paths_a_tree = paths_a_tree
        self._config = config = model.config.get_text_config()
        self._masks = TreeMasks(model)
        # Attention of another kind is given one tree at a time.
        self.nodes_a_batch = nodes_a_batch if config._attn_implementation == BASE else 0
        self._n_layers = config.num_hidden_layers
        self._kept_prompts = kept_prompts
        self._common = _Kept()  # of the call before: many calls share their beginning

    def scored(self, continuations: Sequence[Continuation]) -> Iterator[tuple[int, LogProbs]]:
        if not continuations:
            return
        order = sorted(range(len(continuations)), key=lambda i: continuations[i].read)
        ordered = [continuations[i] for i in order]
        prefix = common_prefix(ordered)
        if prefix != self._common.tokens:
            self._common = self._by_blocks(prefix, _Kept())
            if len(prefix) - len(self._common.tokens) >= SHORTEST_KEPT:
                self._common = self._run(prefix, self._common)
        places = iter(order)
        for some, kept in self._by_kept_prefix(Forks(ordered), self._common):
            for trees in self._batches(some, kept):
                for answer in self._score(trees, kept):
                    yield next(places), answer

    def _most_nodes(self, some: Sequence[Continuation], kept: _Kept) -> int:
        """Of one tree of these continuations."""
        path = int(median(len(continuation.read) for continuation in some)) - len(kept.tokens)
        return max(self.nodes_a_tree, min(self.paths_a_tree * path, NODES_A_BATCH))

    def _batches(self, some: Sequence[Continuation], kept: _Kept) -> Iterator[list[PrefixTree]]:
        """Trees of nodes_a_batch nodes or fewer in all; a single tree may have more."""
        batch: list[PrefixTree] = []
        for group in split_by_size(some, len(kept.tokens), self._most_nodes(some, kept)):
            tree = grow(group, len(kept.tokens))
            if batch and sum(map(len, batch)) + len(tree) > self.nodes_a_batch:
                yield batch
                batch = []
            batch.append(tree)
        yield batch

    def _by_kept_prefix(self, forks: Forks, kept: _Kept) -> Iterator[tuple[list[Continuation], _Kept]]:
        """Runs of neighbors, with a further prefix of theirs kept where that saves more than a pass of its own costs.

        Without it, every tree would compute anew what its neighbors in other trees share with it. Long prompts stand
        apart: a conversation's next prompt begins like its last.
        """
        run: list[Continuation] = []
        kept_for_run = kept
        ahead = [(forks, kept)]
        while ahead:
            forks, kept = ahead.pop()
            kept = self._by_blocks(forks.prefix, kept)
            most_nodes = self._most_nodes(forks.continuations, kept)
            trees = math.ceil(forks.nodes(len(kept.tokens)) / most_nodes)
            has_long_prompts = self._kept_prompts is not None and any(
                whole_blocks(length - 1) - max(len(kept.tokens), shared) >= LONG for shared, length in forks.alone
            )
            if len(forks) > 1 and (trees > 1 or has_long_prompts):
                if (len(forks.prefix) - len(kept.tokens)) * (trees - 1) >= TOKENS_WORTH_A_PASS:
                    kept = self._run(forks.prefix, kept)
                ahead += [(branch, kept) for branch in reversed(list(forks.branches()))]
                continue
            if kept is not kept_for_run and run:
                yield run, kept_for_run
                run = []
            kept_for_run = kept
            run += forks.continuations
        yield run, kept_for_run

    def _by_blocks(self, prefix: Tokens, kept: _Kept) -> _Kept:
        """The prefix's whole blocks, where they go on long from what is kept; else that."""
        whole = whole_blocks(len(prefix))
        if self._kept_prompts is None or whole - len(kept.tokens) < LONG:
            return kept
        return _Kept(prefix[:whole], self._kept_prompts.layers(prefix[:whole]))

    def _run(self, prefix: Tokens, kept: _Kept) -> _Kept:
        """The prefix's keys and values, from those of a shorter one."""
        chain = grow([Continuation(prefix, (0,))], len(kept.tokens))
        layers = self._forward([chain], kept, np.array([len(chain) - 1]))[1]
        if kept.layers:
            layers = tuple(
                (torch.cat([keys, more_keys], dim=-2), torch.cat([values, more_values], dim=-2))
                for (keys, values), (more_keys, more_values) in zip(kept.layers, layers)
            )
        return _Kept(prefix, layers)

    def _score(self, trees: Sequence[PrefixTree], kept: _Kept) -> Iterator[LogProbs]:
        nodes: list[int] = []
        tokens: list[int] = []
        for start, tree in zip(accumulate(map(len, trees), initial=0), trees):
            for continuation, read_after in zip(tree.continuations, tree.answers):
                nodes += [start + node for node in read_after]
                tokens += continuation.answer
        needed, rows = np.unique(nodes, return_inverse=True)
        logits, _ = self._forward(trees, kept, needed)
        totals = torch.cat([part.float().logsumexp(dim=-1) for part in logits.split(ROWS_A_SUM)])
        picked = iter((logits[rows, tokens].float() - totals[rows]).tolist())
        for tree in trees:
            for continuation in tree.continuations:
                yield tuple(next(picked) for _ in continuation.answer)

    def _forward(
        self, trees: Sequence[PrefixTree], kept: _Kept, needed: npt.NDArray[np.int64]
    ) -> tuple[torch.Tensor, Layers]:
        """Logits (nodes needed, vocabulary), and the keys and values of all nodes."""
        device = self.model.get_input_embeddings().weight.device
        depths = np.concatenate([tree.depths for tree in trees])
        layers = [_KeptLayer(kept.layers[i] if kept.layers else None) for i in range(self._n_layers)]
        lengths = [len(tree) for tree in trees]
        where = torch.from_numpy(needed).to(device)
        within_trees = attending(self._config, lengths) if len(trees) > 1 else nullcontext()
        with torch.inference_mode(), within_trees, float32_logits(self.model):
            logits = self.model(
                input_ids=torch.from_numpy(np.concatenate([tree.tokens for tree in trees])[None]).to(device),
                position_ids=torch.from_numpy(depths[None]).to(device),
                attention_mask=self._masks.additive(trees, len(kept.tokens), device),
                past_key_values=Cache(layers=layers),
                use_cache=True,
                logits_to_keep=where,
            ).logits
        return logits[0], tuple(layer.new for layer in layers if layer.new is not None)
