"""From the name that a person gives to a model that answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.models.errors import ModelError
from evenhand.models.stub import POLICIES, StubModel

if TYPE_CHECKING:
    from evenhand.models.protocol import Model
    from evenhand.models.transformers_model import DType

ACCEPTED = f"embedded, a Hub id, a local folder, or stub:{'|'.join(POLICIES)}"


def load_model(
    name: str,
    *,
    dtype: DType = "auto",
    batch_size: int = 16,
    revision: str | None = None,
    device_map: str | None = None,
) -> Model:
    """The model of that name: "embedded", a Hub id, a local folder, or "stub:POLICY".

    Raises ModelError for names that stand for nothing and models that can't be loaded.
    """
    if name.startswith("stub:"):
        return StubModel(name.removeprefix("stub:"))
    if name.startswith(("http://", "https://")):
        raise ModelError(f"model {name!r}: servers are not supported yet; accepted: {ACCEPTED}")
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        raise ModelError(f"model folder {name!r} does not exist; accepted: {ACCEPTED}")

    from evenhand.models.embedded import NAME, embedded_checkpoint
    from evenhand.models.transformers_model import TransformersModel

    path, shown = (str(embedded_checkpoint()), NAME) if name == "embedded" else (str(Path(name).expanduser()), name)
    return TransformersModel.from_pretrained(
        path, name=shown, revision=revision, dtype=dtype, batch_size=batch_size, device_map=device_map
    )
