"""A chat as OpenAI-style servers take it."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from evenhand.models.errors import Unanswerable
from evenhand.models.request import Image, Message

_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}


def chat_messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """{"role", "content"} of each message: one string where it is text alone, else text and image_url parts in order.

    Pictures are data URLs of the very bytes. Raises Unanswerable for one that is no PNG, JPEG, GIF or WebP.
    """
    return [{"role": message.role, "content": _content(message)} for message in messages]


def media_type(image: Image) -> str:
    """As the picture's first bytes say ("image/png"). Raises Unanswerable for other formats."""
    data = image.data
    for signature, name in _SIGNATURES.items():
        if data.startswith(signature):
            return f"image/{name}"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    came = f"one of {len(data):,} bytes that begins {data[:12]!r}" if data else "an empty one"
    raise Unanswerable(
        "not_understood", f"servers take pictures in PNG, JPEG, GIF or WebP; {came} came: convert it to PNG"
    )


def _content(message: Message) -> str | list[dict[str, object]]:
    if not message.images:
        return message.text
    return [_part(part) for part in message.content if part]


def _part(part: str | Image) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    encoded = base64.b64encode(part.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{media_type(part)};base64,{encoded}"}}
