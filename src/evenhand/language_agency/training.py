"""Training a classifier of language agency: a sequence classifier on agentic and communal sentences.

Wan & Chang 2024 (LABE), Appendix B.6 gives the settings for BERT, RoBERTa and Llama2.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

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
    TrainingArguments,
)

from evenhand.language_agency.classifier import AgencyClassifier
from evenhand.language_agency.judging import agreement, judge
from evenhand.language_agency.label_request import LABELS

RECORD = "agency.json"
VALIDATION = "validation"
LONGEST = 256  # tokens of a sentence in training; LAC's longest have about 130


@dataclass(frozen=True)
class Recipe:
    """How a classifier is trained. base: a Hub id or local folder; lora: train adapters, for decoder models."""

    base: str
    learning_rate: float
    epochs: float
    batch_size: int
    source: str
    warmup_steps: int = 0
    lora: bool = False


RECIPES: Mapping[str, Recipe] = {
    "minilm": Recipe(
        "embedded", 1e-4, 5, 16, warmup_steps=50, source="tried on LAC's training split, judged on its validation split"
    ),
    "bert": Recipe("google-bert/bert-base-cased", 5e-5, 10, 6, source="LABE, Appendix B.6; base of the published code"),
    "roberta": Recipe("FacebookAI/roberta-base", 5e-6, 10, 6, source="LABE, Appendix B.6"),
    "lora": Recipe(
        "meta-llama/Llama-2-7b-chat-hf", 5e-5, 5, 6, lora=True, source="LABE, Appendix B.6; batch size of the encoders"
    ),
}


def train_agency(
    data: datasets.DatasetDict, recipe: Recipe, seeds: Sequence[int], output: Path, *, data_name: str, base_path: str
) -> dict[str, object]:
    """Train one classifier a seed, judge each on every split but train, and keep them in output/seed-N.

    data: splits of `text` and `label` (agentic 1), with `pair` where sentences belong together. base_path: where the
    recipe's base is. Returns what output/agency.json then says: accuracy, F1s, calibration, agreement between seeds.
    """
    output.mkdir(parents=True, exist_ok=True)
    judged_on = {split: rows for split, rows in data.items() if split != "train"}
    records, classifiers = {}, {}
    for seed in seeds:
        folder = output / f"seed-{seed}"
        model, tokenizer = _trained(data["train"], data.get(VALIDATION), recipe, base_path, seed)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        classifier = AgencyClassifier.from_pretrained(str(folder))
        record = {
            "base": recipe.base,
            "data": data_name,
            "sentences": {split: len(rows) for split, rows in data.items()},
            "recipe": asdict(recipe),
            "seed": seed,
            "judged": {split: judge(classifier, rows) for split, rows in judged_on.items()},
            "versions": {name: metadata.version(name) for name in ("evenhand", "torch", "transformers")},
        }
        (folder / RECORD).write_text(_json(record), encoding="utf-8")
        records[f"seed-{seed}"], classifiers[f"seed-{seed}"] = record, classifier
    summary: dict[str, object] = {
        "seeds": records,
        "agreement": {
            split: agreement([classifier.agentic_probabilities(rows["text"]) for classifier in classifiers.values()])
            for split, rows in judged_on.items()
        },
    }
    (output / RECORD).write_text(_json(summary), encoding="utf-8")
    return summary


def _trained(
    rows: datasets.Dataset, validation: datasets.Dataset | None, recipe: Recipe, base_path: str, seed: int
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model after the epoch that is most accurate on the validation split; after the last where there is none.

    Accuracy on that split is a little flattered by this; the test split is not looked at.
    """
    tokenizer = AutoTokenizer.from_pretrained(base_path)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    def fresh_model() -> PreTrainedModel:
        model = AutoModelForSequenceClassification.from_pretrained(
            base_path,
            num_labels=len(LABELS),
            id2label=dict(enumerate(LABELS)),
            label2id={label: i for i, label in enumerate(LABELS)},
            dtype=torch.float32,
        )
        model.config.pad_token_id = tokenizer.pad_token_id
        return _with_adapters(model) if recipe.lora else model

    def encoded(some: datasets.Dataset) -> datasets.Dataset:
        columns = tokenizer(list(some["text"]), truncation=True, max_length=min(LONGEST, tokenizer.model_max_length))
        return datasets.Dataset.from_dict({**columns, "labels": list(some["label"])})

    each_epoch = "no" if validation is None else "epoch"
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            scratch,
            learning_rate=recipe.learning_rate,
            num_train_epochs=recipe.epochs,
            per_device_train_batch_size=recipe.batch_size,
            warmup_steps=recipe.warmup_steps,
            weight_decay=0.01,
            train_sampling_strategy="group_by_length",
            eval_strategy=each_epoch,
            save_strategy=each_epoch,
            save_total_limit=1,
            save_only_model=True,
            load_best_model_at_end=validation is not None,
            metric_for_best_model="accuracy" if validation is not None else None,
            per_device_eval_batch_size=32,
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=torch.cuda.is_available(),
            seed=seed,
        )
        trainer = Trainer(  # seeds, then makes the model: the new head depends on the seed alone
            model_init=fresh_model,
            args=arguments,
            train_dataset=encoded(rows),
            eval_dataset=None if validation is None else encoded(validation),
            compute_metrics=_accuracy,
            data_collator=DataCollatorWithPadding(tokenizer),
            processing_class=tokenizer,
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    model = trainer.model
    return (model.merge_and_unload() if recipe.lora else model), tokenizer


def _accuracy(predictions: EvalPrediction) -> dict[str, float]:
    return {"accuracy": float(np.mean(predictions.predictions.argmax(axis=-1) == predictions.label_ids))}


def _with_adapters(model: PreTrainedModel) -> PreTrainedModel:
    from peft import LoraConfig, TaskType, get_peft_model

    return get_peft_model(model, LoraConfig(task_type=TaskType.SEQ_CLS, target_modules="all-linear"))


def _json(record: object) -> str:
    return json.dumps(_without_nan(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _without_nan(value: object) -> object:
    """NaN has no place in JSON: null."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
