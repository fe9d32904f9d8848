"""The processor of an image-text-to-text checkpoint: what makes tokens and pixel values of texts and pictures."""

from __future__ import annotations

from typing import Any

from transformers import AutoImageProcessor, AutoProcessor, AutoTokenizer, PreTrainedConfig, ProcessorMixin
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING, processor_class_from_name
from transformers.utils import is_torchvision_available

from evenhand.models.loading import loaded


def load_processor(path: str, revision: str | None, config: PreTrainedConfig) -> ProcessorMixin:
    """Of a Hub id or local folder; its pictures are resized by torchvision where that is installed, else by Pillow.

    Raises ValueError where the checkpoint has a tokenizer alone, and whatever transformers raises.
    """
    try:
        processor = loaded(AutoProcessor, path, revision=revision)
    except (ImportError, ValueError) as error:  # which of them depends on how the checkpoint names that part
        if is_torchvision_available() or "torchvision" not in str(error).lower():
            raise
        processor = _without_videos(path, revision, config)
    if not (hasattr(processor, "image_processor") and hasattr(processor, "tokenizer")):
        raise ValueError("it has no processor for pictures and text (preprocessor_config.json, processor_config.json)")
    return processor


def _without_videos(path: str, revision: str | None, config: PreTrainedConfig) -> ProcessorMixin:
    """The same processor but for the part that reads videos, which needs torchvision as no other part does."""
    settings, _ = ProcessorMixin.get_processor_dict(path, revision=revision)
    name = settings.get("processor_class")
    kind = processor_class_from_name(name) if name else PROCESSOR_MAPPING[type(config)]
    parts = {
        "image_processor": loaded(AutoImageProcessor, path, revision=revision),
        "tokenizer": loaded(AutoTokenizer, path, revision=revision),
        "video_processor": None,
    }
    without_videos: Any = type(kind.__name__, (_NoVideos, kind), {})
    return without_videos.from_args_and_dict([parts[part] for part in kind.get_attributes()], settings)


class _NoVideos:
    """Mixed into a processor's class, which refuses None in place of a part otherwise."""

    def check_argument_for_proper_class(self, argument_name: str, argument: object) -> Any:
        if argument_name == "video_processor":
            return None
        return super().check_argument_for_proper_class(argument_name, argument)  # type: ignore[misc]
