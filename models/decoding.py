"""Writing token by token without copying what was kept.

transformers' own cache copies all keys and values at every token to append one, and its attention copies them once more
for each query head that shares them. With long prompts in large batches these copies take most of the time. Here keys
and values lie in a room with space ahead, and the query heads that share them stand in one query, one below the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "evenhand_decoding"
BASE = "sdpa"  # what every pass over more than one token goes through
SPACE_AHEAD = 256  # tokens


class RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """One layer's keys and values, (batch, heads, tokens, head size): views of a room that grows now and then."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self._length = 0
        self._rooms: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        length = self._length + key_states.shape[-2]
        if self._rooms is None or length > self._rooms[0].shape[-2]:
            kept = (self.keys, self.values)
            self._rooms = self._larger(kept[0], key_states, length), self._larger(kept[1], value_states, length)
        for room, new in zip(self._rooms, (key_states, value_states)):
            room[..., self._length : length, :] = new
        self._length = length
        self.keys, self.values = (room[..., :length, :] for room in self._rooms)
        return self.keys, self.values

    def _larger(self, kept: torch.Tensor, new: torch.Tensor, length: int) -> torch.Tensor:
        """Space for `length` tokens and more, those kept copied into it."""
        room = new.new_empty(*new.shape[:-2], length + max(SPACE_AHEAD, length // 4), new.shape[-1])
        if self._length:
            room[..., : self._length, :] = kept
        return room

    def get_seq_length(self, *args: object) -> int:
        return self._length


def attend_one_token(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of one new token a sequence to all before it; of more, as transformers does it.

    query (batch, heads, 1, head size); key and value (batch, their heads, tokens, head size); the mask is the same for
    all heads. Returns (batch, 1, heads, head size).
    """
    batch, heads, tokens, size = query.shape
    if tokens > 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)  # type: ignore[no-any-return]
    sharing = query.reshape(batch, key.shape[1], heads // key.shape[1], size)
    seen = torch.nn.functional.scaled_dot_product_attention(
        sharing, key, value, attn_mask=attention_mask, scale=scaling
    )
    return seen.reshape(batch, 1, heads, -1), None


AttentionInterface.register(NAME, attend_one_token)
AttentionMaskInterface.register(NAME, sdpa_mask)


def takes_roomy_layers(model: PreTrainedModel) -> bool:
    """Whether all layers are plain attention over everything before, computed by torch's own function.

    A model whose class is not made for other attention functions (Falcon's) would compute another one under this name.
    """
    config = model.config.get_text_config()
    types = set(getattr(config, "layer_types", None) or getattr(config, "attention_layers", None) or ())
    windowed = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True) and not types
    return (
        model.is_backend_compatible()
        and config._attn_implementation == BASE
        and types <= {"full_attention", "global"}
        and not windowed
        and not model.config.is_encoder_decoder
    )


@contextmanager
def decoding(model: PreTrainedModel, read: Cache | None = None) -> Iterator[dict[str, Cache]]:
    """Further arguments of model.generate, for as long as it writes; none where the model has other layers.

    read: a cache of RoomyLayers with what of the prompts was read before.
    """
    if not takes_roomy_layers(model):
        yield {}
        return
    config = model.config.get_text_config()
    config._attn_implementation = NAME
    try:
        yield {"past_key_values": read or Cache(layers=[RoomyLayer() for _ in range(config.num_hidden_layers)])}
    finally:
        config._attn_implementation = BASE
