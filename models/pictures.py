"""Pictures as image processors take them: decoded, and kept whole where a processor would crop them."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

import PIL.Image
import PIL.ImageOps

from evenhand.models.request import Image

if TYPE_CHECKING:
    from transformers import BaseImageProcessor

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


def decoded(image: Image) -> PIL.Image.Image:
    """In RGB, upright, transparent parts on white; of moving pictures the first one.

    Raises ValueError for bytes that are no whole picture of FORMATS, and for pictures so large that Pillow warns.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(io.BytesIO(image.data), formats=FORMATS) as opened:
                opened.load()
                return in_colour(PIL.ImageOps.exif_transpose(opened))
    except Exception as error:  # what a decoder raises on damaged bytes may be nearly anything
        detail = "" if isinstance(error, PIL.UnidentifiedImageError) else f" ({error})"  # that one names a BytesIO
        raise ValueError(
            f"an image of {len(image.data):,} bytes can't be decoded{detail}; expected a whole picture in one of "
            f"{', '.join(FORMATS)}"
        ) from error


def in_colour(picture: PIL.Image.Image) -> PIL.Image.Image:
    """In RGB: 16 bits of grey scaled, transparent parts on white."""
    if picture.mode.startswith("I"):  # 16 bits of grey, which convert() would clip to white
        picture = picture.point(lambda value: value * (1 / 257)).convert("L")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        picture = PIL.Image.alpha_composite(PIL.Image.new("RGBA", picture.size, "white"), picture)
    return picture.convert("RGB")


def crops_to_the_middle(processor: BaseImageProcessor) -> bool:
    """Whether only the middle of an oblong picture would be left: as LLaVA-1.5's does, resized by its shorter side.

    Not LLaVA-NeXT's kind, which crops nothing but tiles that it has cut to size before.
    """
    return bool(getattr(processor, "do_center_crop", False)) and not hasattr(processor, "image_grid_pinpoints")


def squared(picture: PIL.Image.Image, processor: BaseImageProcessor) -> PIL.Image.Image:
    """Padded to a square in the processor's mean colour, where the processor would crop the picture to its middle.

    So LLaVA-1.5 was trained (expand2square in its repository).
    """
    side = max(picture.size)
    if picture.size == (side, side) or not crops_to_the_middle(processor):
        return picture
    means = processor.image_mean or (0.5, 0.5, 0.5)  # none where it doesn't normalise
    square = PIL.Image.new("RGB", (side, side), tuple(int(255 * mean) for mean in means))
    square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return square
