"""Two faces, side by side in one picture."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from evenhand.benchmarks.mllm_stereotypes.faces.pictures import decode
from evenhand.errors import UsageError

HEIGHT = 200  # in pixels: UTKFace's cropped faces are 200 × 200, and so lie side by side as they are
MAX_HEIGHT = 2048


class Splicer:
    """Splices two files, in either order, as long as they are asked for one after another: each is decoded once.

    Both are scaled to `height` in pixels, each as wide as its own shape makes it.
    """

    def __init__(self, height: int = HEIGHT):
        self._height = height
        self._files: dict[Path, Image.Image] = {}
        self._pngs: dict[tuple[Path, Path], bytes] = {}

    def png(self, left: Path, right: Path) -> bytes:
        """The same files give the same bytes (with one version of Pillow); nothing but pixels goes in, no metadata.

        Raises UsageError for a height beyond 1 to MAX_HEIGHT and for a picture that can't be used.
        """
        if self._files.keys() != {left, right}:
            self._files, self._pngs = {path: scaled(path, self._height) for path in (left, right)}, {}
        if (left, right) not in self._pngs:
            self._pngs[left, right] = side_by_side(self._files[left], self._files[right])
        return self._pngs[left, right]


def scaled(path: Path, height: int = HEIGHT) -> Image.Image:
    """A picture in RGB, of that height. Raises UsageError as `Splicer.png` does."""
    if not 1 <= height <= MAX_HEIGHT:
        raise UsageError(f"a height of {height} came; from 1 to {MAX_HEIGHT} pixels are accepted")
    image = decode(path)
    size = (max(1, round(image.width * height / image.height)), height)
    return image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)


def side_by_side(left: Image.Image, right: Image.Image) -> bytes:
    """A PNG of two pictures of one height."""
    both = Image.new("RGB", (left.width + right.width, left.height))
    both.paste(left, (0, 0))
    both.paste(right, (left.width, 0))
    file = io.BytesIO()
    both.save(file, "PNG", compress_level=1)  # twice as fast as the default, an eighth larger
    return file.getvalue()
