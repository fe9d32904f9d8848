"""On which scale an architecture writes bounding boxes: documented ones only, none is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

BoxScale = float | Literal["pixels"]
"""The coordinate of a picture's right and lower edge, or that coordinates are pixels of the picture as given."""

BOX_SCALES: Mapping[str, BoxScale] = MappingProxyType(
    {
        # "bounding box coordinates are normalized within [0, 1000)" (Qwen2-VL, arXiv 2409.12191, section 2.2.1).
        "qwen2_vl": 1000,
        # "relative coordinates ranging from 0 to 1000", where Qwen2.5-VL has "absolute coordinates" (Qwen3-VL's
        # cookbook 2d_grounding.ipynb). Those are of the picture as the model sees it: with sides rounded to multiples
        # of 28, 400 x 200 becomes 392 x 196, which moves an edge by 2 %. Very large or small pictures change more.
        "qwen2_5_vl": "pixels",
        "qwen3_vl": 1000,
        "qwen3_vl_moe": 1000,
        # "we normalize each coordinate box to the range [0, 1000]" (InternVL's documentation, Chat Data Format).
        "internvl": 1000,
    }
)
"""By the configuration's model_type. Those that aren't here answer in words, or nothing is documented. PaliGemma is
left out: it writes places in tokens of its own, <loc0000> to <loc1023>, top before left."""
