"""What a training leaves: an adapter or full weights, tokenizer, template; training.json says how they came."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel

from evenhand.flow.results import versions, without_nan
from evenhand.models.choice_scoring import AGREEMENT, disagreement
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation
from evenhand.trainers.card import STEPS, card, public_name, steps_drawn
from evenhand.trainers.fine_tuning import Tuned
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED, RECORD, is_folder
from evenhand.whole_files import PREFIX, SUFFIX, write_whole

MERGED = "merged"
LEARNING = ("trl", "peft", "accelerate", "tokenizers", "safetensors")  # what training rests on beside evenhand's own


@dataclass(frozen=True)
class Base:
    """What was tuned. model: as `from_anywhere` gives it. public_id: of a local folder, where it has one on the Hub."""

    model: str
    identity: str
    public_id: str | None = None

    @property
    def name(self) -> str:
        """By which an adapter names it: nobody else has a local folder, and its path is nobody's business."""
        if self.public_id is not None or self.model == "embedded":
            return self.public_id or PUBLIC_ID_OF_EMBEDDED
        return "" if is_folder(self.model) else self.model


def save(
    tuned: Tuned, checkpoint: Checkpoint, base: Base, record: Mapping[str, Any], output: Path, merge: bool
) -> dict[str, Any]:
    """training.json comes last: a folder that has it is whole. merge: full weights, too.

    Returns what training.json says: the record, and what saving adds to it.
    """
    model = tuned.model
    if isinstance(model, PeftModel):
        model.peft_config["default"].base_model_name_or_path = base.name
        model.peft_config["default"].revision = checkpoint.revision
    written = {
        **record,
        "base": {name: value for name, value in asdict(base).items() if value is not None},
        "versions": _versions(),
    }
    _place(model, checkpoint, output, tuned.state)
    if merge and isinstance(model, PeftModel):
        merged, why = _merged(model, None if tuned.state else tuned.some)
        if why:
            written["note"] = ". ".join(filter(None, (record["note"], why)))
        else:
            _place(merged, checkpoint, output / MERGED)
            _tell(written, output / MERGED)
    _tell(written, output)
    return written


def _merged(model: PeftModel, some: Continuation | None) -> tuple[Any, str]:
    """Full weights, and why they can't stand for the adapter; no full stop, nothing where they can.

    some: read by both; None where this process has no whole model.
    """
    before = [] if some is None else _log_probs(model, some)
    merged = model.merge_and_unload()
    apart = 0.0 if some is None else disagreement([before], [_log_probs(merged, some)])
    if apart <= AGREEMENT[merged.dtype]:
        return merged, ""
    return merged, (
        f"merged weights were left out: they answer otherwise than the adapter (log-probabilities differ by "
        f"{apart:.2g} nats)"
    )


def _log_probs(model: Any, some: Continuation) -> list[float]:
    """Of each token of a prompt and its answer but the first, in nats."""
    read = torch.tensor([some.read], device=next(model.parameters()).device)
    model.eval()
    with torch.no_grad():
        of_tokens = model(input_ids=read, use_cache=False).logits[0, :-1].float().log_softmax(dim=-1)
    found: list[float] = of_tokens.gather(1, read[0, 1:, None])[:, 0].tolist()
    return found


def _versions() -> dict[str, str]:
    return versions() | {name: metadata.version(name) for name in LEARNING}


def _tell(record: Mapping[str, Any], folder: Path) -> None:
    """The card, a drawing of the steps, and the record."""
    base = record["base"]
    named = base.get("public_id") or public_name(base["model"])
    write_whole(folder / STEPS, steps_drawn(record))
    write_whole(folder / "README.md", card(record, named, [each.name for each in folder.iterdir()]))
    write_whole(folder / RECORD, json.dumps(without_nan(record), indent=1, ensure_ascii=False) + "\n")


def _place(model: Any, checkpoint: Checkpoint, folder: Path, state: dict[str, Any] | None = None) -> None:
    """Written beside its place first, then moved there, file by file; without the card that peft makes up."""
    model.config.use_cache = getattr(checkpoint.config, "use_cache", True)  # TRL switches it off to train
    for name in ("output_router_logits", "router_aux_loss_coef"):  # and these of a mixture of experts
        if hasattr(of_base := checkpoint.config.get_text_config(), name):
            setattr(model.config.get_text_config(), name, getattr(of_base, name))
    folder.mkdir(parents=True, exist_ok=True)
    os.umask(mask := os.umask(0))
    readable = 0o666 & ~mask
    with tempfile.TemporaryDirectory(dir=folder, prefix=PREFIX, suffix=SUFFIX) as scratch:
        of_adapter = {"save_embedding_layers": False} if isinstance(model, PeftModel) else {}  # none is ever added to
        model.save_pretrained(scratch, safe_serialization=True, state_dict=state, **of_adapter)
        checkpoint.tokenizer.save_pretrained(scratch)
        (Path(scratch) / "README.md").unlink(missing_ok=True)
        for file in sorted(Path(scratch).iterdir()):
            file.chmod(readable)  # safetensors makes files that nobody else can read
            shutil.move(file, folder / file.name)
