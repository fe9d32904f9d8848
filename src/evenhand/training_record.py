"""training.json, which a trainer leaves beside the weights: what it says of how they came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORD = "training.json"
PUBLIC_ID_OF_EMBEDDED = "HuggingFaceTB/SmolLM2-135M-Instruct"


def training_record(model: str) -> dict[str, Any]:
    """Of a model that is a local folder; empty where there is none, or none that can be read."""
    try:
        record = json.loads((Path(model) / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def base_of(record: dict[str, Any]) -> str | None:
    """What was tuned, as --model named it."""
    base = record.get("base")
    model = base.get("model") if isinstance(base, dict) else None
    return model if isinstance(model, str) else None
