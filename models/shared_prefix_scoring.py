"""Choice scoring that computes each distinct token prefix once.

The prompts of a call are sorted; what they all share is run once and its keys and values are kept. The rest is taken
in groups: each group's distinct prefixes are the nodes of a tree, packed into one sequence in which a node sees the
kept prefix, its ancestors and itself (position ids are depths). Small trees in a batch keep the masks small and the
matrix products large. Everything computed is a pure function of the call's prompts, so that an interrupted run repeats
it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from evenhand.models.prefix_tree import Continuation, Forks, PrefixTree, Tokens, common_prefix, grow, split_by_size

NODES_A_TREE = 256  # masks grow with its square
NODES_A_BATCH = 2048
SHORTEST_KEPT = 8  # a shorter prefix of all costs less inside the trees than a pass of its own
TOKENS_WORTH_A_PASS = 64  # a pass over a few tokens takes about as long as these take in a large batch

KeysAndValues = tuple[tuple[torch.Tensor, torch.Tensor], ...]  # of each layer, (1, heads, tokens, head size)


class Unsupported(Exception):
    """The model takes no 4D mask, or has layers that are no plain attention."""


@dataclass(frozen=True)
class _Kept:
    """A prefix that has been run. layers: its keys and values."""

    tokens: Tokens = ()
    layers: KeysAndValues = ()


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
        keys, values = (each.expand(key_states.shape[0], -1, -1, -1) for each in self.kept)
        return torch.cat([keys, key_states], dim=-2), torch.cat([values, value_states], dim=-2)

    def get_seq_length(self, *args: object) -> int:
        return 0 if self.kept is None else self.kept[0].shape[-2]


class SharedPrefixScoring:
    """Raises Unsupported on construction where the model's layers are not full or sliding-window attention."""

    name = "shared prefixes"

    def __init__(self, model: PreTrainedModel):
        self.model = model
        config = model.config.get_text_config()
        layer_types = set(getattr(config, "layer_types", None) or getattr(config, "attention_layers", None) or ())
        if not layer_types <= {"full_attention", "sliding_attention"} or model.config.is_encoder_decoder:
            raise Unsupported(f"layers of type {', '.join(sorted(layer_types)) or 'encoder-decoder'}")
        accepts = inspect.signature(model.forward).parameters
        missing = {"attention_mask", "position_ids", "past_key_values", "logits_to_keep"} - set(accepts)
        if missing:
            raise Unsupported(f"its forward pass takes no {', '.join(sorted(missing))}")
        self._n_layers = config.num_hidden_layers
        self._mask_by_layer_type = "sliding_attention" in layer_types
        windowed = self._mask_by_layer_type or not layer_types  # without types, the window is every layer's
        windowed = windowed and getattr(config, "use_sliding_window", True)
        self._window: int | None = getattr(config, "sliding_window", None) if windowed else None
        self._common = _Kept()  # of the call before: many calls begin alike

    def log_probs(self, continuations: Sequence[Continuation]) -> list[tuple[float, ...]]:
        """Log-probability of each token of each answer, in nats."""
        if not continuations:
            return []
        order = sorted(range(len(continuations)), key=lambda i: continuations[i].read)
        ordered = [continuations[i] for i in order]
        prefix = common_prefix(ordered)
        if prefix != self._common.tokens:
            self._common = self._run(prefix, _Kept()) if len(prefix) >= SHORTEST_KEPT else _Kept()
        scored: list[tuple[float, ...]] = []
        for some, kept in self._by_kept_prefix(Forks(ordered), self._common):
            for groups in self._batches(some, len(kept.tokens)):
                scored += self._score(groups, kept)
        return [answer for _, answer in sorted(zip(order, scored))]

    def _batches(self, some: Sequence[Continuation], kept: int) -> Iterator[list[Sequence[Continuation]]]:
        """Groups whose trees, padded to the longest, have NODES_A_BATCH nodes or fewer; a single tree may have more."""
        batch: list[Sequence[Continuation]] = []
        longest = 0
        for group in split_by_size(some, kept, NODES_A_TREE):
            size = Forks(group).nodes(kept)
            longest = max(longest, size)
            if batch and (len(batch) + 1) * longest > NODES_A_BATCH:
                yield batch
                batch, longest = [], size
            batch.append(group)
        yield batch

    def _by_kept_prefix(self, forks: Forks, kept: _Kept) -> Iterator[tuple[list[Continuation], _Kept]]:
        """Runs of neighbors, with a further prefix of theirs kept where that saves more than a pass of its own costs.

        Without it, every tree would compute anew what its neighbors in other trees share with it.
        """
        run: list[Continuation] = []
        kept_for_run = kept
        ahead = [(forks, kept)]
        while ahead:
            forks, kept = ahead.pop()
            trees = math.ceil(forks.nodes(len(kept.tokens)) / NODES_A_TREE)
            if trees > 1 and len(forks) > 1:
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

    def _run(self, prefix: Tokens, kept: _Kept) -> _Kept:
        """The prefix's keys and values, from those of a shorter one."""
        chain = grow([Continuation(prefix, (0,))], len(kept.tokens))
        layers = self._forward([chain], kept)[1]
        if kept.layers:
            layers = tuple(
                (torch.cat([keys, more_keys], dim=-2), torch.cat([values, more_values], dim=-2))
                for (keys, values), (more_keys, more_values) in zip(kept.layers, layers)
            )
        return _Kept(prefix, layers)

    def _score(self, groups: Sequence[Sequence[Continuation]], kept: _Kept) -> Iterator[tuple[float, ...]]:
        trees = [grow(group, len(kept.tokens)) for group in groups]
        logits, _ = self._forward(trees, kept)
        rows: list[int] = []
        columns: list[int] = []
        tokens: list[int] = []
        for row, (tree, group) in enumerate(zip(trees, groups)):
            for nodes, continuation in zip(tree.answers, group):
                rows += [row] * len(nodes)
                columns += [logits.shape[1] - len(tree) + node for node in nodes]
                tokens += continuation.answer
        wanted = logits[rows, columns].float()
        picked = iter((wanted[range(len(tokens)), tokens] - wanted.logsumexp(dim=-1)).tolist())
        for group in groups:
            for continuation in group:
                yield tuple(next(picked) for _ in continuation.answer)

    def _forward(self, trees: Sequence[PrefixTree], kept: _Kept) -> tuple[torch.Tensor, KeysAndValues]:
        """Logits (trees, longest tail, vocabulary) of the last nodes, and the keys and values of all nodes.

        Trees are padded on the left; padding sees itself alone and is seen by nobody.
        """
        length, before = max(len(tree) for tree in trees), len(kept.tokens)
        input_ids = np.zeros((len(trees), length), dtype=np.int64)
        position_ids = np.zeros((len(trees), length), dtype=np.int64)
        sees = np.zeros((len(trees), length, before + length), dtype=bool)
        sees[:, range(length), range(before, before + length)] = True
        for row, tree in enumerate(trees):
            start = length - len(tree)
            input_ids[row, start:] = tree.tokens
            position_ids[row, start:] = tree.depths
            sees[row, start:, :before] = True
            sees[row, start:, before + start :] = tree.sees
        layers = [_KeptLayer(kept.layers[i] if kept.layers else None) for i in range(self._n_layers)]
        device = self.model.get_input_embeddings().weight.device
        with torch.inference_mode():
            logits = self.model(
                input_ids=torch.from_numpy(input_ids).to(device),
                position_ids=torch.from_numpy(position_ids).to(device),
                attention_mask=self._mask(sees, position_ids, before, device),
                past_key_values=Cache(layers=layers),
                use_cache=True,
                logits_to_keep=max(tree.tail for tree in trees),
            ).logits
        return logits, tuple(layer.new for layer in layers if layer.new is not None)

    def _mask(
        self, sees: np.ndarray, positions: np.ndarray, before: int, device: torch.device
    ) -> torch.Tensor | dict[str, torch.Tensor]:
        """Additive masks (trees, 1, nodes, kept and nodes); a sliding window counts depths, not places."""

        def additive(allowed: np.ndarray) -> torch.Tensor:
            hidden = torch.from_numpy(~allowed)[:, None].to(device)
            dtype = self.model.dtype
            return torch.zeros(hidden.shape, dtype=dtype, device=device).masked_fill_(hidden, torch.finfo(dtype).min)

        if self._window is None:
            return additive(sees)
        kept = np.broadcast_to(np.arange(before), (len(positions), before))
        distance = positions[:, :, None] - np.concatenate([kept, positions], axis=1)[:, None, :]
        within = additive(sees & (distance < self._window))
        return {"full_attention": additive(sees), "sliding_attention": within} if self._mask_by_layer_type else within
