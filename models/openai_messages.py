"""A chat as OpenAI-style servers take it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from evenhand.models.errors import Unanswerable
from evenhand.models.request import Image, Message

_KINDS = re.compile(
    rb"(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<webp>RIFF.{4}WEBP)", re.DOTALL
)


def chat_messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """{"role", "content"} of each message: one string where it is text alone, else text and image_url parts in order.

    Pictures are data URLs of their bytes. Raises Unanswerable for one that is no PNG, JPEG, GIF or WebP.
    """
    return [
        {"role": each.role, "content": [_part(part) for part in each.content if part] if each.images else each.text}
        for each in messages
    ]


def _part(part: str | Image) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = _KINDS.match(part.data)
    if kind is None:
        found = f"one of {len(part.data):,} bytes that begins {part.data[:12]!r}" if part.data else "an empty one"
        raise Unanswerable("not_understood", f"servers take pictures in PNG, JPEG, GIF or WebP, got {found}")
    encoded = base64.b64encode(part.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/{kind.lastgroup};base64,{encoded}"}}
