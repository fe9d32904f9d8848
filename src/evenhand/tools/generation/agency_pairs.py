"""Paraphrase the sentences of biographies into agentic and communal versions, as LAC was made, with any model.

LABE, section 3.2.1 and Appendix B. What can't be read, fails a check or repeats another sentence is left out and
counted, always as a pair, so that labels stay balanced. `label` is only the paraphrasing target: people label what
remains (evenhand annotate, scheme agency).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from evenhand.benchmarks.labe.options import TextColumns
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.errors import UsageError
from evenhand.flow.draw import draw
from evenhand.flow.episode import Episode, Prediction, derive_seed
from evenhand.flow.evaluation import OnProgress
from evenhand.flow.results import versions
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Runner, Step, Tolerance
from evenhand.flow.store import Store
from evenhand.flow.template_date import keep_date, record_date
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.protocol import Model
from evenhand.models.registry import ACCEPTED, DType, load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.template_settings import TemplateSettings, template_date, template_options, without_unused
from evenhand.options import checked, option, pair
from evenhand.output_files import refuse_input
from evenhand.tools.annotation.files import write_jsonl
from evenhand.tools.generation.near_duplicates import find_duplicates, normalize
from evenhand.tools.generation.paraphrases import PARAPHRASE, Paraphrases, failed_check, read_paraphrases

KEPT = "kept"  # the outcome of a reply that was read, passes all checks and repeats no other
PAIRS = "pairs.jsonl"  # in the run folder
FIRST, LAST = 2, 1  # sentences of a biography that tell birth date and current status (LABE, Appendix B.1)
SHORTEST, LONGEST = 16, 299  # characters of a seed, in the script that LAC was published with


@dataclass(frozen=True, kw_only=True)
class PairGeneration:
    """Options. temperature None: the model's own sampling."""

    texts: str | None = option(None, "CSV, JSONL or parquet, one biography a row", metavar="FILE")
    text_column: str = option(TextColumns.text, "column of the biographies", metavar="NAME")
    limit: int | None = option(None, "number of sentences to draw; all by default", least=1, metavar="N")
    model: str = option("embedded", ACCEPTED, metavar="MODEL")
    model_options: tuple[tuple[str, str], ...] = option(
        (), "options of the model's backend, as api_key_env=NAME", metavar="KEY=VALUE", parse=pair, flag="model-option"
    )
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    revision: str | None = option(None, "branch, tag or commit of a Hub model", metavar="REV")
    seed: int = option(0, "random seed", least=0, metavar="S")
    temperature: float | None = option(
        None, "sampling temperature, 0 is greedy; by default the model's own sampling", least=0, metavar="T"
    )
    top_p: float = option(1.0, "nucleus sampling threshold", above=0, most=1, metavar="P")
    max_new_tokens: int = option(512, "longest reply, in tokens", least=1, metavar="N")
    dtype: DType = option("auto", "auto: bfloat16 where the hardware has it")
    batch_size: int = option(16, "prompts in a forward pass, or concurrent requests", least=1, incidental=True)
    max_failed: float = option(
        0.01, "share of requests that may fail after all retries", least=0, most=1, metavar="SHARE", incidental=True
    )

    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_p, max_new_tokens=self.max_new_tokens)

    def load(self) -> Model:
        """Raises ModelError for a model that can't be loaded."""
        loading = {"dtype": self.dtype, "batch_size": self.batch_size, "revision": self.revision}
        template = TemplateSettings.of(self)
        return load_model(self.model, **loading, options=dict(self.model_options), template=template)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        return without_unused(asdict(self))


class Seed(NamedTuple):
    """A sentence to paraphrase. id: "<id of its biography>/<its place there, from 0>"."""

    id: str
    source_id: str
    text: str


def make_agency_pairs(
    config: PairGeneration,
    output: Path,
    texts: Sequence[str] | None = None,
    model: Model | None = None,
    on_progress: OnProgress | None = None,
) -> RunFolder:
    """Paraphrase the sentences of biographies; write a run folder with pairs.jsonl. An interrupted run resumes.

    pairs.jsonl has the columns id, pair, seed, text, label ("agentic" or "communal"), source_id; the agentic sentence
    of a pair comes first. predictions.parquet: every seed asked, its reply and outcome. results.json: the counts.

    Args:
        texts: biographies instead of those of a file.
        model: used instead of the configured one.

    Raises:
        UsageError: for options and texts that don't fit.
        EvenhandError, ModelError: for what failed on the way.
    """
    checked(config)
    RunFolder(output).refuse_occupied()
    refuse_input(output / PAIRS, [config.texts] if config.texts else [])
    biographies = _read_biographies(config, texts)
    seeds, counts = read_seeds(biographies)
    drawn = _draw_seeds(seeds, config)
    counts["sentences"] |= {"not_drawn": len(seeds) - len(drawn), "asked": len(drawn)}
    config = keep_date(config, RunFolder(output))
    model = model or config.load()
    config = record_date(config, [model])
    progress = on_progress or (lambda rows, step: None)
    with RunFolder.begin(output, config) as folder, Store(folder.store, {"default": model.identity}) as store:
        progress(len(drawn), Step())
        tolerance = Tolerance(config.max_failed, episodes=len(drawn))
        runner = Runner({"default": model}, store, lambda step: progress(len(drawn), step), tolerance)
        episodes = (_paraphrase(seed, config.sampling(), config.seed) for seed in drawn)
        predictions = [each for [each] in runner.run(episodes)]
        kept = [each for each in predictions if each["outcome"] == KEPT]
        pairs = [(str(each["agentic"]), str(each["communal"])) for each in kept]
        for each, duplicate in zip(kept, find_duplicates(pairs)):
            each["outcome"] = duplicate or KEPT
        folder.write_predictions(predictions)
        write_jsonl(folder.path / PAIRS, _pair_rows(predictions))
        outcomes = Counter(str(each["outcome"]) for each in predictions)
        asked_and_kept = {"asked": len(predictions), "kept": outcomes.pop(KEPT, 0)}
        counts["pairs"] = {**asked_and_kept, **dict(outcomes.most_common())}
        texts_sha256 = hashlib.sha256(json.dumps([text for _, text in biographies]).encode()).hexdigest()
        record: dict[str, Any] = {"benchmark": "agency_pairs", "config": folder.begun(), "model": config.model}
        record |= {"model_identity": model.identity, "n": counts["pairs"]["kept"], "counts": counts}
        record |= {"prompt": asdict(PARAPHRASE), "texts_sha256": texts_sha256, "versions": versions()}
        folder.write_record(record)
    return folder


def _read_biographies(config: PairGeneration, texts: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return (id, text) of each."""
    if (config.texts is None) == (texts is None):
        raise UsageError("biographies are needed, from one place: a file (--texts), or a list of texts")
    if config.texts is None:
        return [(f"text/{i}", text) for i, text in enumerate(texts or ())]
    # Biographies need no gender: read_texts takes None for a column that is not there.
    columns = TextColumns(text=config.text_column, gender=None)  # type: ignore[arg-type]
    found = read_texts(Path(config.texts), columns).rows
    return list(zip(found["id"], found["text"]))


def read_seeds(biographies: Iterable[tuple[str, str]]) -> tuple[list[Seed], dict[str, dict[str, int]]]:
    """Return the sentences of biographies (id, text) without the first two and the last one, and the counts of others.

    counts: `texts` read, of which `empty` have no sentence; `sentences` read, of which `first_two`, `last`,
    `too_short`, `too_long` and `repeated` (as an earlier seed, normalized) are no seeds (Appendix B.1).
    """
    texts: Counter[str] = Counter(read=0, empty=0)
    sentences: Counter[str] = Counter(read=0, first_two=0, last=0, too_short=0, too_long=0, repeated=0)
    seeds: dict[str, Seed] = {}  # by normalized text
    for source_id, text in biographies:
        cut = split_sentences(text)
        texts.update(read=1, empty=not cut)
        sentences["read"] += len(cut)
        for place, sentence in enumerate(cut):
            reasons = {
                "first_two": place < FIRST,
                "last": place >= len(cut) - LAST,
                "too_short": len(sentence) < SHORTEST,
                "too_long": len(sentence) > LONGEST,
                "repeated": normalize(sentence) in seeds,
            }
            if reason := next((name for name, holds in reasons.items() if holds), None):
                sentences[reason] += 1
            else:
                seeds[normalize(sentence)] = Seed(f"{source_id}/{place}", source_id, sentence)
    return list(seeds.values()), {"texts": dict(texts), "sentences": dict(sentences)}


def _draw_seeds(seeds: Sequence[Seed], config: PairGeneration) -> list[Seed]:
    """Draw seeds spread over the biographies."""
    if not seeds:
        rule = f"not among its first two or the last one, of {SHORTEST} to {LONGEST} characters"
        raise UsageError(f"no biography has a sentence to paraphrase ({rule}); give longer ones, or --text-column")
    try:
        chosen = draw(pd.DataFrame({"source_id": [seed.source_id for seed in seeds]}), config.limit, config.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return [seeds[i] for i in chosen]


def paraphrase_request(seed: Seed, sampling: Sampling, run_seed: int) -> Request:
    """Make the request of one sentence: Table 7's prompt alone (Appendix B.2)."""
    content = PARAPHRASE.text.replace("{sentence}", seed.text)
    return Request((Message("user", content),), sampling=sampling, seed=derive_seed(run_seed, seed.id), name=seed.id)


def _paraphrase(seed: Seed, sampling: Sampling, run_seed: int) -> Episode:
    """Ask for one sentence's paraphrases, read and check them."""
    [reply] = yield [paraphrase_request(seed, sampling, run_seed)]
    row: Prediction = {"id": seed.id, "source_id": seed.source_id, "seed": seed.text, "agentic": None, "communal": None}
    found: Paraphrases | str = reply.finish_reason.replace("_", " ")
    if not reply.failed:
        found = read_paraphrases(reply.text, cut=reply.finish_reason == "length")
    if isinstance(found, Paraphrases):
        row |= found._asdict()
        found = failed_check(seed.text, found) or KEPT
    return [row | {"outcome": found, "reply": reply.text}]


def _pair_rows(predictions: Iterable[Prediction]) -> Iterator[Prediction]:
    for each in predictions:
        if each["outcome"] == KEPT:
            for label in ("agentic", "communal"):
                ids = {"id": f"{each['id']}/{label}", "pair": each["id"], "seed": each["seed"]}
                yield ids | {"text": each[label], "label": label, "source_id": each["source_id"]}
