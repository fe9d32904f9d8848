"""Whether what ran is the model that results are submitted to."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.flow.configuration import EMBEDDED
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun

FLAG = "--under-another-name"
_ENGINE = "vllm:"  # before a model's name: what computes its answers
# Of a model of the Hub, or an adapter, behind whose commit its base's stands; a folder has a shorter fingerprint there.
_COMMIT = re.compile(r"@([0-9a-f]{40})(\+\w+)?( [^@]*)?$")


def checked_model_id(text: str) -> str:
    """ "ORG/NAME". Raises UsageError for what is no id of a model of somebody's."""
    from evenhand.hub.contents import repository_id

    organization, slash, name = text.partition("/")
    if not slash or not organization or not name or "/" in name:
        raise UsageError(f"--model-id {text[:100]!r} came; ORG/NAME is accepted, the model's id on the Hub")
    return repository_id(organization, name)


def check_model(run: FinishedRun, model_id: str, under_another_name: bool) -> None:
    """Raises UsageError where no model ran, or several, or a stub, or one of another name, unless that was said."""
    names = set(run.benchmark.measured(run.config).values())
    if not run.results.model or not names:
        raise UsageError(f"{run.name} scores what exists, and asked no model; there is nothing to say of {model_id}")
    if len(names) > 1:
        raise UsageError(
            f"{run.name} measures several models together ({', '.join(sorted(map(shown, names)))}); a run of one model "
            "is accepted"
        )
    identities = (run.results.model_identity, *run.results.agents.values())
    if any(each.lower().startswith("stub:") for each in (run.results.model, *identities)):
        raise UsageError(
            f"{run.name} is a run of a stub ({shown(run.results.model)}), whose answers are made up; run the model"
        )
    if is_that_model(run, model_id):
        return
    if commit_of(run) is not None:
        raise UsageError(
            f"{run.name} asked {told(run)} of the Hub, and --model-id is {model_id!r}: name the model that ran"
            + (f"; {FLAG} is for a folder or a server of {model_id}" if under_another_name else "")
        )
    if run.results.model == EMBEDDED and model_id != PUBLIC_ID_OF_EMBEDDED:
        raise UsageError(
            f"{run.name} asked the embedded model, which is {PUBLIC_ID_OF_EMBEDDED}, and --model-id is {model_id!r}; "
            "name the run of that model"
        )
    if not under_another_name:
        raise UsageError(
            f"{run.name} asked {told(run)}, and --model-id is {model_id!r}. Name the model that ran; or, if what ran "
            f"is that model (its folder, a server of it), say so with {FLAG}"
        )


def is_that_model(run: FinishedRun, model_id: str) -> bool:
    """By its name, and because it came from the Hub: a local folder may have the name of any model."""
    return run.results.model.removeprefix(_ENGINE) == model_id and commit_of(run) is not None


def commit_of(run: FinishedRun) -> str | None:
    """Of a model of the Hub, the commit that ran."""
    found = _COMMIT.search(run.results.model_identity)
    return found[1] if found else None


def told(run: FinishedRun) -> str:
    """What ran: "ORG/NAME", "ORG/NAME (not from the Hub)", "the server's NAME"."""
    name = shown(run.results.model)
    return name if commit_of(run) else f"{name} (not from the Hub)"


def shown(model: str) -> str:
    """A model's name without the machine's folders, a server's address or what may stand in it."""
    if re.match(r"https?://", model, re.IGNORECASE):
        name = model.partition("#")[2]
        return f"a server's {name}" if name else "a server"
    backend, colon, rest = model.partition(":")
    path = PurePath(rest if colon else model)
    is_path = path.is_absolute() or model.startswith((".", "~")) or len(path.parts) > 2 or "\\" in model
    if not is_path:
        return model
    return f"{backend}:{path.name}" if colon else f"the folder {path.name!r}"
