"""Pictures as datasets keep them, as models take them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

from evenhand.errors import EvenhandError

_TAKEN_EVERYWHERE = (b"\x89PNG", b"\xff\xd8")  # the first bytes of PNG and JPEG


def encoded(image: Mapping[str, object]) -> bytes:
    """PNG or JPEG bytes of an undecoded `datasets.Image`: as they are, or of another format's first frame as PNG.

    Raises EvenhandError for a file that can't be read any more.
    """
    stored = image["bytes"]
    file = io.BytesIO()
    try:
        content = stored if isinstance(stored, bytes) else Path(str(image["path"])).read_bytes()
        if content.startswith(_TAKEN_EVERYWHERE):
            return content
        with Image.open(io.BytesIO(content)) as opened:
            opened.convert("RGB").save(file, "PNG")
    except OSError as error:
        raise EvenhandError(
            f"can't read the picture {image['path']}: {error.strerror or error}; put it back and run the same command "
            "again: all replies are kept"
        ) from error
    return file.getvalue()


def size(content: bytes) -> tuple[int, int]:
    """Width and height of an encoded picture, in pixels."""
    with Image.open(io.BytesIO(content)) as opened:
        return opened.size
