"""Draw all pictures into ../sources/. In the dataset's folder: python -m drawing

A file whose pixels are right already is left as it is, since the same pixels may be packed differently by another zlib.
"""

from pathlib import Path

from PIL import Image

from . import pictures

SOURCES = Path(__file__).parents[1] / "sources"


def main():
    for name, image in pictures.drawn():
        path = SOURCES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            with Image.open(path) as before:
                if before.mode == image.mode and before.size == image.size and before.tobytes() == image.tobytes():
                    continue
        image.save(path, format="PNG", optimize=False, compress_level=9)
        print(path)


if __name__ == "__main__":
    main()
