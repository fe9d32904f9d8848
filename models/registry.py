"""From the name that a person gives to a model that answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.models.errors import ModelError
from evenhand.models.stub import POLICIES, StubModel

if TYPE_CHECKING:
    from evenhand.models.protocol import Model
    from evenhand.models.transformers_model import DType

ACCEPTED = f"embedded, a Hub id, a local folder, a server (http://HOST:PORT/v1#NAME), or stub:{'|'.join(POLICIES)}"
ACCEPTED_WITH_PICTURES = (
    "a Hub id or a local folder of an image-text-to-text model (as LLaVA-1.5, Qwen2-VL, SmolVLM, Idefics2, PaliGemma), "
    f"a server of one (http://HOST:PORT/v1#NAME), or stub:{'|'.join(POLICIES)}"
)


def load_model(
    name: str,
    *,
    dtype: DType = "auto",
    batch_size: int = 16,
    revision: str | None = None,
    device_map: str | None = None,
    pictures: bool = False,
) -> Model:
    """The model of that name: "embedded", a Hub id, a local folder, a server's URL (its only model) or "URL#NAME", or
    "stub:POLICY".

    pictures: whether requests carry images; a Hub id or folder is an image-text-to-text model then. Without pictures it
    may be one, too.
    Raises ModelError for names that stand for nothing, for models that can't be loaded, and for the embedded one where
    there are pictures.
    """
    if name.startswith("stub:"):
        return StubModel(name.removeprefix("stub:"))
    if name.startswith(("http://", "https://")):
        from evenhand.models.openai_server import OpenAIServer

        if revision is not None:
            raise ModelError(f"revision {revision!r} came for a server, which serves what it has loaded: leave it out")
        url, _, served = name.partition("#")
        return OpenAIServer(url, served or None, batch_size=batch_size)
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        raise ModelError(f"model folder {name!r} does not exist; accepted: {ACCEPTED}")

    if pictures or (name != "embedded" and _only_sees(str(Path(name).expanduser()), revision)):
        return _seeing(name, dtype, batch_size, revision, device_map)
    from evenhand.models.embedded import NAME, embedded_checkpoint
    from evenhand.models.transformers_model import TransformersModel

    path, shown = (str(embedded_checkpoint()), NAME) if name == "embedded" else (str(Path(name).expanduser()), name)
    return TransformersModel.from_pretrained(
        path, name=shown, revision=revision, dtype=dtype, batch_size=batch_size, device_map=device_map
    )


def _seeing(name: str, dtype: DType, batch_size: int, revision: str | None, device_map: str | None) -> Model:
    if name == "embedded":
        raise ModelError(f"the embedded model sees no pictures; accepted: {ACCEPTED_WITH_PICTURES}")
    from evenhand.models.vision_model import VisionModel

    path = str(Path(name).expanduser())
    return VisionModel.from_pretrained(
        path, name=name, revision=revision, dtype=dtype, batch_size=batch_size, device_map=device_map
    )


def _only_sees(path: str, revision: str | None) -> bool:
    """Whether it is an image-text-to-text model, and transformers has no text model for its kind."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, AutoConfig

    try:
        kind = type(AutoConfig.from_pretrained(path, revision=revision, trust_remote_code=False))
    except Exception:  # loading itself explains whatever this is
        return False
    return kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING and kind not in MODEL_FOR_CAUSAL_LM_MAPPING
