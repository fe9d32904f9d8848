"""Training a classifier of language agency: a sequence classifier on agentic and communal sentences."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    EvalPrediction,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from evenhand.flow.results import without_nan
from evenhand.language_agency.classifier import AgencyClassifier
from evenhand.language_agency.judging import agreement, judge, judge_undecided
from evenhand.language_agency.label_request import LABELS
from evenhand.language_agency.recipes import RECORD, Recipe
from evenhand.models.loading import explained, loaded, loaded_weights
from evenhand.trainers.progress import OnProgress, unheard
from evenhand.whole_files import PREFIX, SUFFIX, write_whole
from evenhand.whole_files import explained as explained_writing

logger = logging.getLogger(__name__)

VALIDATION = "validation"
BASES = "Accepted: embedded, a Hub id, or a local folder with config.json, safetensors weights and a tokenizer"
LONGEST = 256  # tokens of a sentence in training; LAC's longest have about 130


def train_agency(
    data: datasets.DatasetDict,
    recipe: Recipe,
    seeds: Sequence[int],
    output: Path,
    *,
    data_name: str,
    base_path: str,
    on_progress: OnProgress = unheard,
) -> dict[str, object]:
    """Train one classifier a seed, judge each on every split but train, and save them in output/seed-N.

    A folder appears when it is complete; seeds whose folders exist are not trained again.

    Args:
        data: splits of `text` and `label` (agentic 1), with `pair` where sentences belong together.
        base_path: the recipe's base on this machine.

    Returns:
        What output/agency.json then says: accuracy, F1s, calibration, abstention where neither label is right, and
        agreement between seeds.
    """

    def report(what: str) -> None:
        logger.info("%s", what)
        on_progress(what, 0, 0)

    output.mkdir(parents=True, exist_ok=True)
    judged_on = {split: rows for split, rows in data.items() if split != "train"}
    folders = [output / f"seed-{seed}" for seed in seeds]
    for k, (seed, folder) in enumerate(zip(seeds, folders), start=1):
        if folder.is_dir():
            continue
        name = f"seed {seed} ({k} of {len(seeds)})"
        report(f"{name}: {recipe.base} begins to learn from {len(data['train']):,} sentences")
        progress = _Progress(f"training {name}", on_progress, recipe.last_step)
        model, tokenizer = fine_tune(data["train"], data.get(VALIDATION), recipe, base_path, seed, progress)
        with explained_writing(folder), tempfile.TemporaryDirectory(prefix=PREFIX, suffix=SUFFIX, dir=output) as part:
            saved = Path(part) / folder.name
            model.save_pretrained(saved)
            tokenizer.save_pretrained(saved)
            classifier = AgencyClassifier.from_pretrained(str(saved))
            judged = {}
            for split, rows in judged_on.items():
                report(f"judging {name} on {split}: {len(rows):,} sentences")
                judged[split] = judge(classifier, rows)
            record = {
                "base": recipe.base,
                "data": data_name,
                "sentences": {split: len(rows) for split, rows in data.items()},
                "recipe": asdict(recipe),
                "seed": seed,
                "judged": judged,
                "undecided": judge_undecided(classifier),
                "versions": {package: metadata.version(package) for package in ("evenhand", "torch", "transformers")},
            }
            write_whole(saved / RECORD, _json(record))
            os.replace(saved, folder)
    classifiers = [AgencyClassifier.from_pretrained(str(folder)) for folder in folders] if len(folders) > 1 else []
    if classifiers:
        report("comparing the seeds' labels")
    summary: dict[str, object] = {
        "seeds": {folder.name: json.loads((folder / RECORD).read_text(encoding="utf-8")) for folder in folders},
        "agreement": {
            split: agreement([classifier.agentic_probabilities(rows["text"]) for classifier in classifiers])
            for split, rows in judged_on.items()
        },
    }
    write_whole(output / RECORD, _json(summary))
    return summary


def fine_tune(
    rows: datasets.Dataset,
    validation: datasets.Dataset | None,
    recipe: Recipe,
    base_path: str,
    seed: int,
    progress: TrainerCallback,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return the model after the last epoch or the recipe's last step, or after the epoch most accurate on validation.

    Accuracy on that split is a little flattered by choosing; the test split is not looked at.
    """
    with explained(f"load base {recipe.base!r}", BASES):
        tokenizer = loaded(AutoTokenizer, base_path)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    def encode(split: datasets.Dataset) -> datasets.Dataset:
        longest = min(LONGEST, tokenizer.model_max_length)
        columns = tokenizer(list(split["text"]), truncation=True, max_length=longest)
        return datasets.Dataset.from_dict({**columns, "labels": list(split["label"])})

    judged_by = encode(validation) if recipe.best_epoch and validation is not None else None
    each_epoch = "no" if judged_by is None else "epoch"
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            scratch,
            learning_rate=recipe.learning_rate,
            num_train_epochs=recipe.epochs,
            per_device_train_batch_size=recipe.batch_size,
            warmup_steps=recipe.warmup_steps,
            weight_decay=recipe.weight_decay,
            train_sampling_strategy="group_by_length" if recipe.by_length else "random",
            eval_strategy=each_epoch,
            save_strategy=each_epoch,
            save_total_limit=1,
            save_only_model=True,
            load_best_model_at_end=judged_by is not None,
            metric_for_best_model="accuracy" if judged_by is not None else None,
            per_device_eval_batch_size=32,
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=torch.cuda.is_available(),
            seed=seed,
        )
        trainer = Trainer(  # seeds, then makes the model: the new head depends on the seed alone
            model_init=lambda: _load_model(recipe, base_path, tokenizer),
            args=arguments,
            train_dataset=encode(rows),
            eval_dataset=judged_by,
            compute_metrics=_accuracy,
            data_collator=DataCollatorWithPadding(tokenizer),
            processing_class=tokenizer,
            callbacks=[progress],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return (trainer.model.merge_and_unload() if recipe.lora else trainer.model), tokenizer


def _load_model(recipe: Recipe, base_path: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Load the base with a new head, and adapters where the recipe trains them."""
    with explained(f"load base {recipe.base!r}", BASES):
        model = loaded_weights(
            AutoModelForSequenceClassification,
            base_path,
            num_labels=len(LABELS),
            id2label=dict(enumerate(LABELS)),
            label2id={label: i for i, label in enumerate(LABELS)},
            dtype=torch.float32,
        )
    model.config.pad_token_id = tokenizer.pad_token_id
    if not recipe.lora:
        return model
    from peft import LoraConfig, TaskType, get_peft_model

    return get_peft_model(model, LoraConfig(task_type=TaskType.SEQ_CLS, target_modules="all-linear"))


class _Progress(TrainerCallback):  # type: ignore[misc]
    """Report every optimizer step, and stop training at the recipe's last."""

    def __init__(self, what: str, on_progress: OnProgress, last: int | None = None):
        self.what = what
        self.on_progress = on_progress
        self.last = last

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self._report(state)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self._report(state)
        if state.global_step == self.last:
            control.should_training_stop = True

    def _report(self, state: TrainerState) -> None:
        self.on_progress(self.what, state.global_step, min(self.last or state.max_steps, state.max_steps))


def _accuracy(predictions: EvalPrediction) -> dict[str, float]:
    return {"accuracy": float(np.mean(predictions.predictions.argmax(axis=-1) == predictions.label_ids))}


def _json(record: object) -> str:
    return json.dumps(without_nan(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
