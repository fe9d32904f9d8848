"""What a model writes, forced to JSON by a schema: of benchmarks that offer it as --constrain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.models.protocol import Model

UNLIKE_THE_PAPER = "the answers' format forced by a schema"


def schema_of(fields: Mapping[str, Sequence[str]]) -> str:
    """Of an object with these fields, each of which is one of some texts."""
    whole = {
        "type": "object",
        "properties": {name: {"type": "string", "enum": list(dict.fromkeys(one))} for name, one in fields.items()},
        "required": list(fields),
        "additionalProperties": False,  # OpenAI's strict schemas want it, and all that is required named
    }
    return json.dumps(whole, ensure_ascii=False)


def check_constraining(models: Mapping[str, Model], otherwise: str) -> None:
    """Raises UsageError where a model can't keep to a schema. otherwise: what to do then."""
    for model in models.values():
        if "constrain" not in model.can:
            raise UsageError(
                f"--constrain needs a model that keeps to a JSON schema, and {model.name} can't: accepted are a "
                "server that takes response_format json_schema (vLLM, llama.cpp, OpenAI), and a text model's "
                "checkpoint with tokenizer.json where llguidance is installed (pip install 'evenhand[constrain]'); "
                + otherwise
            )
