"""Weights as safetensors writes them, of any bytes."""

import json
from collections.abc import Mapping


def weights(content: bytes = b"", name: str = "weight", told: Mapping[str, str] | None = None) -> bytes:
    """One tensor of that name whose numbers are the content. told: what stands in the header's metadata."""
    tensor = {"dtype": "U8", "shape": [len(content)], "data_offsets": [0, len(content)]}
    header = json.dumps({"__metadata__": dict(told or {}), name: tensor}).encode()
    return len(header).to_bytes(8, "little") + header + content
