"""Write a checkpoint: an adapter or full weights, tokenizer, chat template, card, and training.json."""

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

from peft import PeftModel

from evenhand.flow.results import versions, without_nan
from evenhand.models.choice_scoring import AGREEMENT, disagreement
from evenhand.models.loading import Checkpoint
from evenhand.models.prefix_tree import Continuation
from evenhand.trainers.card import STEPS, card, public_name, steps_drawn
from evenhand.trainers.packing import PaddedBatching, answer_log_probs
from evenhand.trainers.run import Tuned
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED, RECORD, is_folder
from evenhand.whole_files import PREFIX, SUFFIX, write_whole

MERGED = "merged"
LIBRARIES = ("trl", "peft", "accelerate", "tokenizers", "safetensors")  # whose versions are recorded, too


@dataclass(frozen=True)
class Base:
    """The base of a training. model: as `from_anywhere` gives it. public_id: on the Hub, of a local folder."""

    model: str
    identity: str
    public_id: str | None = None

    @property
    def name(self) -> str:
        """By which an adapter names its base; a local folder has none."""
        if self.public_id is not None or self.model == "embedded":
            return self.public_id or PUBLIC_ID_OF_EMBEDDED
        return "" if is_folder(self.model) else self.model


def save(
    tuned: Tuned, checkpoint: Checkpoint, base: Base, record: Mapping[str, Any], output: Path, merge: bool
) -> dict[str, Any]:
    """Write a checkpoint; training.json comes last, so that a folder that has it is complete. Return its content."""
    model = tuned.model
    if isinstance(model, PeftModel):
        config = model.peft_config["default"]
        config.base_model_name_or_path, config.revision = base.name, checkpoint.revision
        config.target_modules = sorted(config.target_modules)  # peft's set has another order in each process
    written = {
        **record,
        "base": {name: value for name, value in asdict(base).items() if value is not None},
        "versions": versions() | {name: metadata.version(name) for name in LIBRARIES},
    }
    _write_model(model, checkpoint, output, tuned.state)
    if merge and isinstance(model, PeftModel):
        merged, fault = merge_adapter(model, tuned.sample)
        if fault:
            written["note"] = ". ".join(filter(None, (record["note"], fault)))
        else:
            _write_model(merged, checkpoint, output / MERGED)
            _write_record(written, output / MERGED)
    _write_record(written, output)
    return written


def merge_adapter(model: PeftModel, sample: Continuation | None) -> tuple[Any, str]:
    """Merge an adapter into its base; return full weights, and why they differ from the adapter, or ""."""
    batching, some = PaddedBatching(0), [] if sample is None else [sample]
    before = answer_log_probs(model, batching, some) if some else []
    merged = model.merge_and_unload()
    apart = disagreement(before, answer_log_probs(merged, batching, some)) if some else 0.0
    if apart <= AGREEMENT[merged.dtype]:
        return merged, ""
    return (
        merged,
        f"merged weights were left out: log-probabilities differ from the adapter's by {apart:.2g} nats",
    )


def _write_record(record: Mapping[str, Any], folder: Path) -> None:
    base = record["base"]
    named = base.get("public_id") or public_name(base["model"])
    write_whole(folder / STEPS, steps_drawn(record))
    write_whole(folder / "README.md", card(record, named, [each.name for each in folder.iterdir()]))
    write_whole(folder / RECORD, json.dumps(without_nan(record), indent=1, ensure_ascii=False) + "\n")


def _write_model(model: Any, checkpoint: Checkpoint, folder: Path, state: dict[str, Any] | None = None) -> None:
    """Write into a folder beside, then move file by file; without the card that peft writes."""
    model.config.use_cache = getattr(checkpoint.config, "use_cache", True)  # TRL switches it off to train
    base_config = checkpoint.config.get_text_config()
    for name in ("output_router_logits", "router_aux_loss_coef"):  # and changes these of a mixture of experts
        if hasattr(base_config, name):
            setattr(model.config.get_text_config(), name, getattr(base_config, name))
    folder.mkdir(parents=True, exist_ok=True)
    os.umask(mask := os.umask(0))
    with tempfile.TemporaryDirectory(dir=folder, prefix=PREFIX, suffix=SUFFIX) as scratch:
        adapter = {"save_embedding_layers": False} if isinstance(model, PeftModel) else {}  # none is ever added to
        model.save_pretrained(scratch, safe_serialization=True, state_dict=state, **adapter)
        checkpoint.tokenizer.save_pretrained(scratch)
        (Path(scratch) / "README.md").unlink(missing_ok=True)
        for file in sorted(Path(scratch).iterdir()):
            file.chmod(0o666 & ~mask)  # safetensors makes files that only their owner can read
            shutil.move(file, folder / file.name)
