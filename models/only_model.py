"""The model of a server that serves one."""

from __future__ import annotations

from evenhand.models.errors import ModelError
from evenhand.models.metered_server import must_be_good
from evenhand.models.openai_http import JsonServer

_MOST_NAMED = 20  # models of a server


def only_model(server: JsonServer) -> str:
    """As the server lists it. Raises ModelError where it lists another number, or a name that can't be kept."""
    url = server.url
    about = "the list of models"
    answer = server.patiently(lambda: server.ask("/models", about=about))
    must_be_good(server, answer, about)
    data = answer.content.get("data") if isinstance(answer.content, dict) else None
    if not isinstance(data, list):
        raise ModelError(f"{url}/models lists no models in OpenAI's form; name one: {url}#NAME")
    ids = [each.get("id") for each in data if isinstance(each, dict)]
    names = sorted({name for name in ids if isinstance(name, str) and name})
    if len(names) != 1:
        some = ", ".join(map(server.cleaned, names[:_MOST_NAMED])) or "none"
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        raise ModelError(f"{url} serves {len(names):,} models, not one ({some}{more}); name one: {url}#NAME")
    if not names[0].isprintable() or server.key.stands_in(names[0]):
        raise ModelError(f"{url} lists a model whose name can't be kept; name one: {url}#NAME")
    return names[0]
