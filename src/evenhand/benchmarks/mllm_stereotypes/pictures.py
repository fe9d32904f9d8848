"""Picture files: decode them safely, list folders of them, and put two side by side."""

from __future__ import annotations

import io
import os
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont

from evenhand.errors import EvenhandError, UsageError
from evenhand.models.pictures import decoded
from evenhand.models.request import Image

SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp")
# Pillow's decoders that check the sides before they allocate memory (WebP's doesn't); the first frame is used.
FORMATS = ("JPEG", "PNG", "GIF", "BMP")
MAX_BYTES = 64_000_000
MAX_PIXELS = 25_000_000  # 75 MB decoded; far more than UTKFace and FairFace have
MAX_RATIO = 4  # of the longer side to the shorter
SMALLEST, LARGEST, LINE, MARGIN = 8, 40, 1.2, 5  # pixels of letters, height of a line in letters, pixels around
BAR = 10  # pixels between two faces, as published
HEIGHT = 200  # pixels: UTKFace's cropped faces are 200 × 200, and so are spliced as they are

BROKEN = "a picture that can't be decoded"
TOO_LARGE = "a picture too large, or too narrow"
NO_PICTURE = "no picture, by the ending of its name"

_AS_STORED = (b"\x89PNG", b"\xff\xd8")  # the first bytes of PNG and JPEG, which all models take
_NAMED, _LONGEST = 3, 80  # examples in a message, and characters of each


class PictureError(UsageError):
    """A picture that can't be used. reason: why, in words, for a count of such pictures."""

    def __init__(self, path: Path, reason: str, what: str) -> None:
        super().__init__(f"{path} {what}; replace the file, or take it away")
        self.reason = reason


def decode(path: Path) -> PIL.Image.Image:
    """Decode a picture to RGB: upright by its EXIF orientation, transparent parts on white.

    Raises PictureError for a file that is missing, not JPEG, PNG, GIF or BMP, damaged, or larger than the limits above.
    """
    if not os.path.isfile(path):  # not a pipe, which would block
        raise PictureError(path, "not there", "is not there, or no ordinary file")
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise PictureError(path, TOO_LARGE, f"has more than {MAX_BYTES:,} bytes")
        with warnings.catch_warnings(action="ignore"), PIL.Image.open(path, formats=FORMATS) as image:
            width, height = image.size
            if width * height > MAX_PIXELS or max(width, height) > MAX_RATIO * min(width, height):
                limits = f"expected up to {MAX_PIXELS:,} in all, with sides up to {MAX_RATIO} to 1"
                raise PictureError(path, TOO_LARGE, f"has {width:,} × {height:,} pixels; {limits}")
            image.verify()
        return decoded(Image(path.read_bytes()))
    except PictureError:
        raise
    except PIL.Image.DecompressionBombError as error:
        raise PictureError(path, TOO_LARGE, f"is too large: {error}") from error
    except Exception as error:  # decoders raise nearly anything on damaged bytes
        formats = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise PictureError(
            path, "a picture that can't be decoded", f"can't be decoded: expected a whole {formats} picture"
        ) from error


def find_fault(path: Path) -> str | None:
    """Return the reason why a picture can't be decoded, or None."""
    try:
        decode(path)
    except PictureError as error:
        return error.reason
    return None


def is_picture(name: str) -> bool:
    """Whether a file name ends like a picture's, and is a text: rows can't store other bytes."""
    return name.isprintable() and os.path.splitext(name)[1].casefold() in SUFFIXES


def encode(image: Mapping[str, object]) -> bytes:
    """Return the PNG or JPEG bytes of an undecoded `datasets.Image`; other formats are converted to PNG.

    Raises EvenhandError for a file that can't be read any more.
    """
    stored = image["bytes"]
    try:
        content = stored if isinstance(stored, bytes) else Path(str(image["path"])).read_bytes()
        if content.startswith(_AS_STORED):
            return content
        with PIL.Image.open(io.BytesIO(content)) as opened:
            return _encoded(opened.convert("RGB"))
    except OSError as error:
        what = f"can't read the picture {image['path']}: {error.strerror or error}"
        raise EvenhandError(f"{what}; put it back and run the same command again: all replies are kept") from error


@lru_cache(maxsize=2)
def splice(left: Path, right: Path, height: int = HEIGHT) -> bytes:
    """Put two pictures side by side, in a PNG without metadata; widths keep each picture's shape.

    The last two pictures stay in memory, for they are shown in both orders and with several prompts.
    Raises PictureError for a picture that can't be used.
    """
    one, other = (_decode_scaled(path, height) for path in (left, right))
    both = PIL.Image.new("RGB", (one.width + other.width, height))
    both.paste(one, (0, 0))
    both.paste(other, (one.width, 0))
    return _encoded(both, compress_level=1)  # twice as fast as the default, an eighth larger


@lru_cache(maxsize=2)
def splice_as_published(left: Path, right: Path) -> bytes:
    """Put two pictures side by side in a JPEG, unscaled on white, with a black bar between, as the paper's authors do.

    Raises PictureError for a picture that can't be used.
    """
    one, other = decode(left), decode(right)
    both = PIL.Image.new("RGB", (one.width + BAR + other.width, max(one.height, other.height)), "white")
    both.paste("black", (one.width, 0, one.width + BAR, both.height))
    both.paste(one, (0, 0))
    both.paste(other, (one.width + BAR, 0))
    return _encoded(both, "JPEG")


@lru_cache(maxsize=2)
def write_below(content: bytes, text: str, share: float) -> bytes:
    """Write a text in black on white below a picture, in a PNG.

    The room for the text is `share` of the picture's height, more where even the smallest letters need it; letters are
    as large as it allows.
    """
    picture = decoded(Image(content))
    size, lines = _fit_text(text, picture.width, round(share * picture.height))
    font = PIL.ImageFont.load_default(size)
    room = max(round(share * picture.height), round(LINE * size * (lines.count("\n") + 1)) + 2 * MARGIN)
    both = PIL.Image.new("RGB", (picture.width, picture.height + room), "white")
    both.paste(picture, (0, 0))
    drawn = PIL.ImageDraw.Draw(both)
    for number, line in enumerate(lines.split("\n")):
        drawn.text((MARGIN, picture.height + MARGIN + LINE * size * number), line, "black", font)
    return _encoded(both)


@lru_cache(maxsize=64)
def _fit_text(text: str, width: int, height: int) -> tuple[int, str]:
    """Return the largest size of letters with which a text fits, and its lines; else the smallest."""
    for size in range(LARGEST, SMALLEST - 1, -1):
        font = PIL.ImageFont.load_default(size)
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and font.getlength(longer) > width - 2 * MARGIN:
                lines.append(word)
            else:
                lines[-1] = longer
        widest = max(map(font.getlength, lines))
        if widest <= width - 2 * MARGIN and LINE * size * len(lines) <= height - 2 * MARGIN:
            break
    return size, "\n".join(lines)


@lru_cache(maxsize=2)
def _decode_scaled(path: Path, height: int) -> PIL.Image.Image:
    image = decode(path)
    size = (max(1, round(image.width * height / image.height)), height)
    return image if image.size == size else image.resize(size, PIL.Image.Resampling.LANCZOS)


def _encoded(image: PIL.Image.Image, kind: str = "PNG", **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


# Folders of pictures


def list_folder(folder: Path, accepted: str) -> list[str]:
    """Return the names in a folder, unsorted. accepted: for errors, what the folder should hold.

    Raises UsageError for a path without a folder, EvenhandError for one that can't be read.
    """
    try:
        return os.listdir(folder)
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        kind = UsageError if isinstance(error, (FileNotFoundError, NotADirectoryError)) else EvenhandError
        raise kind(f"can't list {folder}: {getattr(error, 'strerror', None) or error}; {accepted}") from error


def describe_left_out(reasons: Iterable[str]) -> str:
    """Return "a picture that can't be decoded: 3; not there: 1", from the reason for each file."""
    return "; ".join(f"{reason}: {n:,}" for reason, n in sorted(Counter(reasons).items()))


def list_some(names: Collection[str]) -> str:
    """Return the first names, shortened and printable."""
    shown = [printable(name) for name in sorted(names)[:_NAMED]]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in shown) + more


def printable(name: str) -> str:
    """Return a file name that can be shown: names that aren't text are escaped."""
    return name if name.strip() and name.isprintable() else ascii(name)
