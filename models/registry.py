"""From a model's name to the model, loaded by the backend that the name picks."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit

from evenhand.errors import UsageError, unknown_name
from evenhand.models.name_hints import suggest_name
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.options import fields_of, from_texts
from evenhand.plugins import Registry

if TYPE_CHECKING:
    from evenhand.models.protocol import Model

LoadModel = Callable[..., "Model"]
"""What loads models: `load_model`, or a function that takes the same and loads them elsewhere."""

DType = Literal["auto", "float32", "bfloat16", "float16"]
Bits = Literal["4bit", "8bit"]  # of quantized weights

BACKENDS = Registry(
    "model backend",
    "evenhand.models",
    {
        "stub": "evenhand.models.stub:StubBackend",
        "http": "evenhand.models.openai_server:ServerBackend",
        "https": "evenhand.models.openai_server:ServerBackend",
        "vllm": "evenhand.models.vllm_backend:VllmBackend",
        "transformers": "evenhand.models.transformers_backend:TransformersBackend",
    },
)
EMBEDDED = "embedded"
DEFAULT = "transformers"  # for names that pick no backend
_URLS = ("http", "https")  # whose backends take whole names
_HUB_PAGES = ("https://huggingface.co/", "https://hf.co/", "http://huggingface.co/", "http://hf.co/")

ACCEPTED = (
    "embedded, a Hub id or a local folder (of a model, or of an adapter as peft saves it), a GGUF file, a server "
    "(http://HOST:PORT/v1#NAME), vllm:NAME for vLLM's engine here, or "
    "stub:first|last|random|silent|say:TEXT|random:TEXT|TEXT|…"
)
"""evenhand's own names, to be shown without importing a backend."""


@dataclass(frozen=True)
class Loading:
    """How a model of any backend is loaded.

    Attributes:
        batch_size: prompts in a forward pass, or concurrent requests to a server.
        revision: branch, tag or commit of a Hub model.
        pictures: whether requests carry some.
        alone: whether options are meant for this model and no other.
        template: variables and date of its chat template; a server is sent the variables (`chat_template_kwargs`).
    """

    dtype: DType = "auto"
    batch_size: int = 16
    revision: str | None = None
    pictures: bool = False
    alone: bool = True
    template: TemplateSettings = NO_SETTINGS


class Backend(Protocol):
    """Makes models of names.

    Options: a frozen dataclass of what it takes by --model-option. ACCEPTED: its names, for errors. It may have a
    method `without_effect`, like the function of this name: settings that do nothing are then refused.
    """

    Options: type
    ACCEPTED: str

    def load(self, name: str, loading: Loading, options: Any) -> Model:
        """name: without the backend's own, but whole where it is a URL. options: an instance of Options.

        Raises ModelError for names that stand for nothing, and for models that can't be loaded.
        """
        ...


def load_model(
    name: str,
    *,
    dtype: DType = "auto",
    batch_size: int = 16,
    revision: str | None = None,
    pictures: bool = False,
    options: Mapping[str, str] = MappingProxyType({}),
    alone: bool = True,
    template: TemplateSettings = NO_SETTINGS,
) -> Model:
    """Load the model of that name: "embedded", a Hub id, a folder, a URL, or "BACKEND:NAME" as "stub:first".

    options: KEY=VALUE pairs for the backend. alone: whether they are meant for this model and no other. template:
    variables and date of its chat template.
    Raises ModelError for names that stand for nothing and models that can't be loaded, UsageError for a blank name and
    for options that the backend doesn't take.
    """
    backend, kind, rest = _pick_backend(name)
    chosen: object = from_texts(backend.Options, options, of=kind)
    return backend.load(rest, Loading(dtype, batch_size, revision, pictures, alone, template), chosen)


def options_by_model(names: Iterable[str], options: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """{name: those KEY=VALUE pairs, of all that a run was given, that this model's backend has}.

    Raises UsageError for a pair that none has, values out of range, and one host's key where several are asked.
    """
    backends = {name: _pick_backend(name) for name in names}
    taken: dict[str, dict[str, str]] = {}
    for name, (backend, kind, _) in backends.items():
        has = {each.flag for each in fields_of(backend.Options)}
        taken[name] = {key: text for key, text in options.items() if key.replace("_", "-") in has}
        from_texts(backend.Options, taken[name], of=kind)
    left = {key: text for key, text in options.items() if not any(key in some for some in taken.values())}
    if backends and left:
        backend, kind, _ = next(iter(backends.values()))
        from_texts(backend.Options, left, of=kind)
    hosts = {urlsplit(name).netloc.lower() for name, (_, kind, _) in backends.items() if kind in _URLS}
    if len(hosts) > 1 and any(key.replace("_", "-") == "api-key-env" for key in options):
        raise UsageError(
            f"--api-key-env holds the key of one server, and {len(hosts)} are asked; EVENHAND_API_KEYS names a file of "
            "lines HOST[:PORT] KEY"
        )
    return taken


def backend_of(name: str) -> Backend:
    """Which backend loads a model of that name. Raises UsageError for a blank name."""
    return _pick_backend(name)[0]


def without_effect(name: str) -> Mapping[str, str]:
    """Which settings of loading (revision, dtype, batch_size) do nothing for a model of that name, and why."""
    backend, kind, rest = _pick_backend(name)
    if kind in _URLS:
        return dict.fromkeys(("revision", "dtype"), "a server has loaded its model")
    find = getattr(backend, "without_effect", None)
    return find(rest) if find else {}


def is_server(name: str) -> bool:
    """Whether the model of that name is computed elsewhere, and asked over a network."""
    return name.partition(":")[0].lower() in _URLS


def _pick_backend(name: str) -> tuple[Backend, str, str]:
    """The backend, its name, and what of the name is left for it.

    Raises UsageError for a blank name, an unknown backend, a page of the Hub, and what looks like a misspelt name: the
    Hub would be asked for it for long.
    """
    if not name.strip():
        others = [f"{each}:…" for each in BACKENDS.names if each not in BACKENDS.own]
        raise UsageError(f"a model's name is blank; accepted: {', '.join([ACCEPTED, *others])}")
    kind, colon, rest = name.partition(":")
    kind = kind.lower() if kind.lower() in _URLS else kind
    is_known = bool(colon) and kind in BACKENDS
    if not os.path.exists(name):
        meant = suggest_name(name)
        if meant and (name.startswith(_HUB_PAGES) or (colon and not is_known)):
            raise UsageError(f"{name!r} is no model's name; did you mean --model {meant}?")
        if colon and not is_known and "/" not in kind:  # no Hub id has a colon
            raise unknown_name("model backend", kind, BACKENDS.names)
        if name in BACKENDS:
            raise UsageError(f"{name!r} is a kind of model and needs what follows its colon; accepted: {ACCEPTED}")
        if name != EMBEDDED and difflib.get_close_matches(name.lower(), [EMBEDDED], cutoff=0.8):
            raise unknown_name("model", name, [EMBEDDED], f"a folder of that name is ./{name}, and isn't there")
    if not is_known:
        kind, rest = DEFAULT, name
    backend: Any = BACKENDS.make(kind)
    return backend, kind, name if kind in _URLS else rest
