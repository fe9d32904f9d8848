"""What is to be learned, as the backend that scores and writes reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.errors import UsageError
from evenhand.models.errors import Unanswerable
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.registry import Loading, is_server
from evenhand.models.request import Request
from evenhand.models.template_settings import TemplateSettings
from evenhand.models.text_reader import TextReader
from evenhand.models.transformers_backend import TransformersOptions, checkpoint_of
from evenhand.paths import typed_path
from evenhand.trainers.fitting import check_fit
from evenhand.trainers.options import TuningOptions


def base_of(options: TuningOptions) -> Checkpoint:
    """The checkpoint that is tuned. Raises UsageError for an adapter, and where tokenizer or options don't fit it."""
    _refuse_what_has_no_weights_here(options.model)
    if options.revision and (options.model == "embedded" or typed_path(options.model).exists()):
        raise UsageError(f"--revision {options.revision}: of a model on the Hub; {options.model} is here, leave it out")
    loading = Loading(revision=options.revision, dtype=options.dtype, template=TemplateSettings.of(options))
    found = checkpoint_of(options.model, loading, TransformersOptions(quantization=options.quantization))
    if found.adapter is not None:
        raise UsageError(f"{options.model} is an adapter; tune its base, or merge it first (peft's merge_and_unload)")
    check_fit(found, options)
    return found


def _refuse_what_has_no_weights_here(model: str) -> None:
    """Raises UsageError for a server, a stand-in, and a file of a model; a Hub id has no colon."""
    path = typed_path(model)
    if path.is_file():
        raise UsageError(f"--model {model} is a file; its folder, {path.parent}, is accepted")
    kind = model.partition(":")[0]
    if ":" in model and not path.exists() and "/" not in kind:
        what = "a server" if is_server(model) else f"of the backend {kind}"
        raise UsageError(
            f"--model {model} is {what}, and what is tuned needs its weights here: embedded, a Hub id, or a local "
            "folder"
        )


def answered(requests: Sequence[Request], reader: TextReader, model: str, end: int | None) -> list[Continuation]:
    """The one choice of each request after its prompt, with the token that ends an answer.

    Raises UsageError, with the model as people call it, where one can't be read.
    """
    behind = () if end is None else (end,)

    def read() -> Iterator[Continuation]:
        for request, found in zip(requests, reader.continuations(requests)):
            if isinstance(found, Unanswerable):
                raise UsageError(f"{model} can't be tuned on {request.name}: {found}")
            [one] = found
            yield Continuation(one.prompt, one.answer + behind)

    return list(read())


def whole(example: Continuation) -> Continuation:
    """The same tokens, all of them to be learned but the first, which nothing is before."""
    tokens = example.prompt + example.answer
    return Continuation(tokens[:1], tokens[1:])


def one_after_another(examples: Sequence[Continuation], length: int) -> list[Continuation]:
    """Whole examples in a row, cut into pieces of so many tokens; the last may be shorter (TRL drops it).

    A piece begins and ends anywhere, and its tokens see the examples before theirs in it.
    """
    row: Tokens = tuple(token for each in examples for token in each.prompt + each.answer)
    pieces = [row[start : start + length] for start in range(0, len(row), length)]
    return [Continuation(piece[:1], piece[1:]) for piece in pieces if len(piece) > 1]
