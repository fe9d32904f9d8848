"""Pictures for annotators: one page, which needs no other file, in the order of a sheet's rows."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Pictures</title>
<style>
body { font-family: sans-serif; }
figure { display: inline-block; margin: 0.8em; }
img { display: block; min-width: 224px; image-rendering: auto; }
</style>
"""


def picture_page(pictures: Iterable[tuple[str, bytes]]) -> str:
    """HTML of (entry, PNG), numbered as the rows are."""
    figures = (
        f'<figure><img alt="" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        f"<figcaption>{number}. {escape(entry)}</figcaption></figure>\n"
        for number, (entry, png) in enumerate(pictures, 1)
    )
    return _HEAD + "".join(figures) + "</html>\n"
