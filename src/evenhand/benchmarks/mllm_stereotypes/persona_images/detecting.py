"""Detectors: how many persons are in a picture. The paper's is YOLOv8x; ours are any that transformers loads."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch
from PIL import Image
from transformers import AutoImageProcessor, AutoModelForObjectDetection, BaseImageProcessor, PreTrainedModel

from evenhand.benchmarks.mllm_stereotypes.persona_images.loading import device, local_or_hub
from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint
from evenhand.models.loading import commit_of, explained, loaded, loaded_weights

# A deviation: YOLOv8x is under the AGPL. RT-DETR (Apache-2.0) is as good on COCO, by its authors: AP 54.3 and 53.9.
DETECTOR = "PekingU/rtdetr_r101vd"
THRESHOLD = 0.25  # the paper names none; this is what YOLOv8 takes by default
PERSON = "person"  # the label, in COCO and Objects365

_ACCEPTED = (
    f"Accepted: a Hub id or a local folder of an object detector that transformers loads and that knows {PERSON!r}, "
    f"with safetensors weights ({DETECTOR}, for instance)"
)


class Detector(Protocol):
    """identity: everything that decides its counts, its threshold too."""

    identity: str

    def persons(self, image: Image.Image) -> int:
        """How many are found in a picture in RGB."""


class TransformersDetector:
    """A DETR or one of its kin (RT-DETR, YOLOS, …), in float32. Counts boxes labelled person of score ≥ threshold."""

    def __init__(
        self, model: PreTrainedModel, processor: BaseImageProcessor, identity: str, threshold: float = THRESHOLD
    ):
        _check_threshold(threshold)
        self.model = model.eval()
        self.processor = processor
        self.threshold = threshold
        self.identity = f"{identity}, {PERSON} ≥ {threshold:g}"
        names = {int(number): str(name) for number, name in model.config.id2label.items()}
        self._person = [number for number, name in names.items() if name.strip().casefold() == PERSON]
        if not self._person:
            some = ", ".join(list(names.values())[:5])
            raise ModelError(f"detector {identity} has no label {PERSON!r} ({some}, …). {_ACCEPTED}")

    @classmethod
    def from_pretrained(
        cls, name: str = DETECTOR, *, revision: str | None = None, threshold: float = THRESHOLD
    ) -> TransformersDetector:
        """Load a Hub id or local folder; safetensors only, and no code from the checkpoint is run.

        Raises ModelError saying what could not be loaded, UsageError for a threshold that is no probability.
        """
        _check_threshold(threshold)  # before anything is downloaded
        path = local_or_hub(name, "detector")
        with explained(f"load detector {name!r}", _ACCEPTED):
            revision = commit_of(path, revision) or revision
            processor = loaded(AutoImageProcessor, path, revision=revision)
            model = loaded_weights(AutoModelForObjectDetection, path, revision=revision, dtype=torch.float32)
            model = model.to(device())
        commit = fingerprint(Path(path)) if Path(path).is_dir() else revision
        return cls(model, processor, f"{name}@{commit or 'unknown'} float32", threshold)

    def persons(self, image: Image.Image) -> int:
        """Raises ModelError where the model fails, and for scores that are no numbers."""
        with explained(f"look for persons by {self.identity}", "Choose another --detector"), torch.inference_mode():
            output = self.model(**self.processor(images=image, return_tensors="pt").to(self.model.device))
            [found] = self.processor.post_process_object_detection(output, threshold=0.0)
        if not output.logits.isfinite().all():
            raise ModelError(f"{self.identity} gives scores that are no numbers; choose another --detector")
        is_person = torch.isin(found["labels"].cpu(), torch.tensor(self._person))
        return int((is_person & (found["scores"].cpu() >= self.threshold)).sum())


def _check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise UsageError(f"a threshold of {threshold} came; above 0, up to 1 is accepted: scores are probabilities")
