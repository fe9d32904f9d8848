"""Pictures of strangers, opened with care: a few plain formats, limits on size, upright and in colour."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from evenhand.errors import UsageError
from evenhand.models.pictures import in_colour

SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp")
# Decoders whose sides are known before anything large is allocated (WebP's is not one); the first frame is taken.
FORMATS = ("JPEG", "PNG", "GIF", "BMP")
MAX_BYTES = 64_000_000
MAX_PIXELS = 25_000_000  # 75 MB decoded; far beyond UTKFace and FairFace, below most decompression bombs
MAX_RATIO = 4  # of the longer side to the shorter: scaled to a height, a thread of pixels would become a wall

_ORIENTATION = 0x0112  # the EXIF tag
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class PictureError(UsageError):
    """A picture that can't be used. reason: missing, size or broken."""

    def __init__(self, path: Path, reason: str, what: str) -> None:
        super().__init__(f"{path} {what}; replace the file, or take it away")
        self.reason = reason


def decode(path: Path) -> Image.Image:
    """The picture as people see it, in RGB: upright by its EXIF orientation, transparent parts on white.

    Raises PictureError for a file that is not there, is no JPEG, PNG, GIF or BMP, is cut off or damaged, or exceeds
    MAX_BYTES, MAX_PIXELS or MAX_RATIO.
    """
    content = _content(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata, of which a large folder has thousands
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:
                _check_size(path, image.size)
                image.verify()
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:  # verify() leaves nothing to decode
                image.load()
                return _upright(in_colour(image), _orientation(image))
    except PictureError:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise PictureError(path, "size", f"is too large: {error}") from error
    except Exception as error:  # what a decoder raises on damaged bytes may be nearly anything
        detail = "" if isinstance(error, UnidentifiedImageError) else f" ({error})"  # that one names a BytesIO
        what = f"can't be decoded{detail}: a whole {', '.join(FORMATS[:-1])} or {FORMATS[-1]} picture is accepted"
        raise PictureError(path, "broken", what) from error


def unusable(path: Path) -> str | None:
    """The reason why a picture can't be decoded; None for one that was, once, to be sure."""
    try:
        decode(path)
    except PictureError as error:
        return error.reason
    return None


def is_picture(name: str) -> bool:
    """By the ending of its name."""
    return os.path.splitext(name)[1].casefold() in SUFFIXES


def _content(path: Path) -> bytes:
    if not os.path.isfile(path):  # a pipe would be waited for; Path.is_file raises for some paths that can't be one
        raise PictureError(path, "missing", "is not there, or no ordinary file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PictureError(path, "broken", f"can't be read ({error.strerror or error})") from error
    if len(content) > MAX_BYTES:
        raise PictureError(path, "size", f"has more than {MAX_BYTES:,} bytes, the most that are accepted")
    return content


def _check_size(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if width * height > MAX_PIXELS:
        what = f"has {width:,} × {height:,} pixels; up to {MAX_PIXELS:,} in all are accepted"
        raise PictureError(path, "size", what)
    if max(size) > MAX_RATIO * min(size):
        what = f"has {width:,} × {height:,} pixels; sides up to {MAX_RATIO} to 1 are accepted"
        raise PictureError(path, "size", what)


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # damaged metadata, as above: the picture is taken as it lies
        return 1


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    return image.transpose(_UPRIGHT[orientation]) if orientation in _UPRIGHT else image
