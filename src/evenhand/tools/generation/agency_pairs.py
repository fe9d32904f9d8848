"""How LAC was made, with any model: each sentence of a biography paraphrased into an agentic and a communal version.

LABE, section 3.2.1 and Appendix B. Seeds are sentences of biographies; a model paraphrases each twice; what can't be
read, fails a check or repeats another is left out and counted, always as a pair, so that labels stay balanced. People
label what remains (evenhand annotate, scheme agency): `label` is only the paraphrasing target.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

import pandas as pd

from evenhand.benchmarks.labe.options import TextColumns
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.errors import UsageError
from evenhand.flow.draw import draw
from evenhand.flow.episode import Episode, Prediction, derive_seed
from evenhand.flow.evaluation import OnProgress
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import Store
from evenhand.flow.template_date import keep_date, record_date
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.protocol import Model
from evenhand.models.request import Message, Request, Sampling
from evenhand.options import checked, option
from evenhand.output_files import refuse_input
from evenhand.tools.annotation.files import write_jsonl
from evenhand.tools.generation import agency_paraphrases, pipeline
from evenhand.tools.generation.agency_paraphrases import PARAPHRASE, Paraphrases
from evenhand.tools.generation.near_duplicates import Duplicate, find_duplicates, normalize
from evenhand.tools.generation.pipeline import KEPT, NO_REPLIES, Generation

NAME = "agency_pairs"
PAIRS = "pairs.jsonl"  # beside a run folder's other files

REASONS: Mapping[str, Sequence[str]] = {
    "no_reply": NO_REPLIES,
    "unread": get_args(agency_paraphrases.Unread),
    "failed": get_args(agency_paraphrases.Failed),
    "duplicates": get_args(Duplicate),
}
FIRST, LAST = 2, 1  # sentences of a biography that tell birth date and current status (LABE, Appendix B.1)
SHORTEST, LONGEST = 16, 299  # characters of a seed, in the script that LAC was published with


@dataclass(frozen=True, kw_only=True)
class PairGeneration(Generation):
    """texts: None where they are given otherwise."""

    texts: str | None = option(None, "CSV, JSONL or parquet, one biography a row", metavar="FILE")
    text_column: str = option(TextColumns.text, "column of the biographies", metavar="NAME")
    limit: int | None = option(None, "number of sentences to draw; all by default", least=1, metavar="N")


@dataclass(frozen=True)
class Seed:
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
    """Paraphrase the sentences of biographies, and leave a run folder with pairs.jsonl; a run interrupted goes on.

    texts: biographies in place of a file's. model: in place of the one that the configuration names.
    pairs.jsonl: rows id, pair, seed, text, label ("agentic" or "communal", the paraphrasing target), source_id; the
    agentic one of a pair comes first. predictions.parquet: every seed asked, its reply and outcome. results.json: the
    counts of `read_seeds` and `outcome_counts`.
    Raises UsageError for options and texts that don't fit, EvenhandError and ModelError for what failed on the way.
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
    with RunFolder.begin(output, config) as folder, Store(folder.store, {"default": model.identity}) as store:
        predictions = _paraphrase(drawn, model, store, config, on_progress)
        folder.write_predictions(predictions)
        write_jsonl(folder.path / PAIRS, pair_rows(predictions))
        counts |= outcome_counts(predictions)
        texts_sha256 = hashlib.sha256(json.dumps([text for _, text in biographies]).encode()).hexdigest()
        further = {"prompt": asdict(PARAPHRASE), "texts_sha256": texts_sha256}
        pipeline.write_results(folder, NAME, config, model, counts["pairs"]["kept"], counts, **further)
    return folder


# Seeds (Appendix B.1)


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
    """The sentences of biographies (id, text) without the first two and the last one, and what became of the others.

    counts: `texts` read, of which `empty` have no sentence; `sentences` read, of which `first_two`, `last`,
    `too_short`, `too_long` and `repeated` (as an earlier seed, normalized) are no seeds.
    """
    texts: Counter[str] = Counter(read=0, empty=0)
    sentences: Counter[str] = Counter(read=0, first_two=0, last=0, too_short=0, too_long=0, repeated=0)
    seeds: list[Seed] = []
    seen: set[str] = set()
    for source_id, text in biographies:
        cut = split_sentences(text)
        texts.update(read=1, empty=not cut)
        sentences["read"] += len(cut)
        for place, sentence in enumerate(cut):
            reason = _exclude(place, len(cut), sentence, seen)
            if reason:
                sentences[reason] += 1
            else:
                seen.add(normalize(sentence))
                seeds.append(Seed(f"{source_id}/{place}", source_id, sentence))
    return seeds, {"texts": dict(texts), "sentences": dict(sentences)}


def _exclude(place: int, n: int, sentence: str, seen: set[str]) -> str | None:
    if place < FIRST:
        return "first_two"
    if place >= n - LAST:
        return "last"
    if not SHORTEST <= len(sentence) <= LONGEST:
        return "too_short" if len(sentence) < SHORTEST else "too_long"
    return "repeated" if normalize(sentence) in seen else None


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


# Asking (Appendix B.2)


def paraphrase_request(seed: Seed, sampling: Sampling, run_seed: int) -> Request:
    """Make the request of one sentence: Table 7's prompt alone."""
    content = PARAPHRASE.text.replace("{sentence}", seed.text)
    return Request((Message("user", content),), sampling=sampling, seed=derive_seed(run_seed, seed.id), name=seed.id)


def episode(seed: Seed, sampling: Sampling, run_seed: int) -> Episode:
    """Ask for one sentence's paraphrases, read and check them. `outcome` is "kept" until they repeat another pair."""
    [reply] = yield [paraphrase_request(seed, sampling, run_seed)]
    cut = reply.finish_reason == "length"
    found = pipeline.no_reply(reply) or agency_paraphrases.read_paraphrases(reply.text, cut)
    read = found if isinstance(found, Paraphrases) else None
    outcome = (agency_paraphrases.failed_check(seed.text, read) or KEPT) if read else str(found)
    row: Prediction = {"id": seed.id, "source_id": seed.source_id, "seed": seed.text}
    row |= {"agentic": read and read.agentic, "communal": read and read.communal}
    return [row | {"outcome": outcome, "reply": reply.text}]


def _paraphrase(
    seeds: Sequence[Seed], model: Model, store: Store, config: PairGeneration, on_progress: OnProgress | None
) -> list[Prediction]:
    """Predict all seeds, and mark those that repeat an earlier pair."""
    episodes = (episode(seed, config.sampling(), config.seed) for seed in seeds)
    running = pipeline.make_runner(config, model, store, len(seeds), on_progress).run(episodes)
    predictions = [each for predicted in running for each in predicted]
    kept = [each for each in predictions if each["outcome"] == KEPT]
    pairs = [Paraphrases(str(each["agentic"]), str(each["communal"])) for each in kept]
    for each, duplicate in zip(kept, find_duplicates(pairs)):
        each["outcome"] = duplicate or KEPT
    return predictions


# What is left behind


def pair_rows(predictions: Iterable[Prediction]) -> Iterator[Prediction]:
    """Make two rows of pairs.jsonl from every pair that was kept."""
    for each in predictions:
        if each["outcome"] == KEPT:
            for label in ("agentic", "communal"):
                ids = {"id": f"{each['id']}/{label}", "pair": each["id"], "seed": each["seed"]}
                yield ids | {"text": each[label], "label": label, "source_id": each["source_id"]}


def outcome_counts(predictions: Sequence[Prediction]) -> dict[str, dict[str, int]]:
    """`pairs`: asked and kept; `no_reply`, `unread`, `failed`, `duplicates`: by reason. Asked is the sum of all
    others.
    """
    outcomes = [str(each["outcome"]) for each in predictions]
    pairs = {"asked": len(predictions), "kept": outcomes.count(KEPT)}
    return {"pairs": pairs} | pipeline.count_reasons(outcomes, REASONS)
