"""Pictures are decoded as people see them."""

import io

import numpy as np
import PIL.Image
import pytest

from evenhand.models.pictures import decoded
from evenhand.models.request import Image

RED, BLUE = (255, 0, 0), (0, 0, 255)


def image(picture, kind="PNG", **fields):
    file = io.BytesIO()
    picture.save(file, kind, **fields)
    return Image(file.getvalue())


def red_and_blue(width=20, height=10):
    """Red on the left, blue on the right."""
    picture = PIL.Image.new("RGB", (width, height), RED)
    picture.paste(BLUE, (width // 2, 0, width, height))
    return picture


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "GIF", "WEBP"])
def test_every_format_gives_the_same_picture(kind):
    picture = decoded(image(red_and_blue(), kind, quality=100))
    assert (picture.mode, picture.size) == ("RGB", (20, 10))
    np.testing.assert_allclose(np.asarray(picture)[5, [2, 17]], [RED, BLUE], atol=8)


def test_a_picture_lies_upright():
    """Orientation 6: the camera's top is the picture's right side, so left becomes above."""
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    picture = decoded(image(red_and_blue(), exif=exif))
    assert picture.size == (10, 20)
    assert (picture.getpixel((5, 2)), picture.getpixel((5, 17))) == (RED, BLUE)


def test_transparent_parts_are_white():
    clear = PIL.Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    clear.paste((0, 0, 255, 255), (0, 0, 2, 4))
    picture = decoded(image(clear))
    assert (picture.getpixel((0, 0)), picture.getpixel((3, 0))) == (BLUE, (255, 255, 255))


def test_grey_of_16_bits_keeps_its_shades():
    grey = PIL.Image.fromarray(np.array([[0, 32_896, 65_535]], dtype=np.uint16))
    assert np.asarray(decoded(image(grey)))[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", image(red_and_blue(200, 200)).data[:150], b"%PDF-1.4"])
def test_bytes_that_are_no_whole_picture_are_refused(data):
    with pytest.raises(ValueError, match=rf"an image of {len(data)} bytes can't be decoded.* PNG, JPEG"):
        decoded(Image(data))


def test_a_picture_of_too_many_pixels_is_refused(monkeypatch):
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 150)
    with pytest.raises(ValueError, match=r"can't be decoded \(Image size \(200 pixels\) exceeds limit"):
        decoded(image(red_and_blue()))
