"""Pictures as datasets keep them, as models take them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from PIL import Image

_TAKEN_EVERYWHERE = (b"\x89PNG", b"\xff\xd8")  # the first bytes of PNG and JPEG


def encoded(image: Mapping[str, object]) -> bytes:
    """PNG or JPEG bytes of an undecoded `datasets.Image`: as they are, or of another format's first frame as PNG."""
    stored = image["bytes"]
    content = stored if isinstance(stored, bytes) else Path(str(image["path"])).read_bytes()
    if content.startswith(_TAKEN_EVERYWHERE):
        return content
    file = io.BytesIO()
    with Image.open(io.BytesIO(content)) as opened:
        opened.convert("RGB").save(file, "PNG")
    return file.getvalue()
