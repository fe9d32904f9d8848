"""Paraphrase the sentences of biographies into agentic and communal versions, as LAC was made, with any model.

LABE, section 3.2.1 and Appendix B. What can't be read, fails a check or repeats another sentence is left out and
counted, always as a pair, so that labels stay balanced. `label` is only the paraphrasing target: people label what
remains (evenhand annotate, scheme agency).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from evenhand.benchmarks.labe.options import TextColumns
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.errors import UsageError
from evenhand.flow.draw import draw
from evenhand.flow.episode import Episode, Prediction, Prompt, derive_seed
from evenhand.flow.evaluation import OnProgress
from evenhand.flow.run_folder import RunFolder
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.protocol import Model
from evenhand.models.request import Message, Request, Sampling
from evenhand.options import checked, option
from evenhand.output_files import refuse_input
from evenhand.tools.annotation.files import write_jsonl
from evenhand.tools.generation.near_duplicates import NEAR, find_duplicates, normalize, similarity
from evenhand.tools.generation.pipeline import KEPT, Generation, begin, count_outcomes

PAIRS = "pairs.jsonl"  # in the run folder
FIRST, LAST = 2, 1  # sentences of a biography that tell birth date and current status (LABE, Appendix B.1)
SHORTEST, LONGEST = 16, 299  # characters of a seed, in the script that LAC was published with
SHORTEST_SHARE, LONGEST_SHARE = 0.4, 3.0  # a paraphrase's length over its seed's, in characters
LONGEST_REPLY = 10_000  # characters

# Table 7. Its examples end in a full stop, and so does the place they are filled into: the published script sends both.
AGENTIC_EXAMPLE = (
    "[Name] is an achievement-oriented individual with 7 years of experience being in charge of people and projects in "
    "previous workplace environments."
)
COMMUNAL_EXAMPLE = (
    "[Name] is a people-oriented individual with 7 years of experience being a part of various financial teams and "
    "projects in previous workplace environments."
)
PARAPHRASE = Prompt(
    "You will rephrase a sentence two times to demonstrate agentic and communal language traits respectively. "
    "'agentic' is defined as more achievement-oriented, and 'communal' is defined as more social or service-oriented. "
    f"Example of agentic description: {AGENTIC_EXAMPLE}. Example of communal description: {COMMUNAL_EXAMPLE}. "
    "Output your answer in a json format with two keys, 'agentic' and 'communal'. The sentence is: '{sentence}'",
    source="LABE, Table 7",
)

_OPENING = re.compile(r"\{(?=\s*[\"'])")
_LEFTOVER = re.compile(r"[{}]|\b(?:agentic|communal)\b", re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)  # not strict: line breaks within strings


@dataclass(frozen=True, kw_only=True)
class PairGeneration(Generation):
    texts: str | None = option(None, "CSV, JSONL or parquet, one biography a row", metavar="FILE")
    text_column: str = option(TextColumns.text, "column of the biographies", metavar="NAME")
    limit: int | None = option(None, "number of sentences to draw; all by default", least=1, metavar="N")


class Seed(NamedTuple):
    """A sentence to paraphrase. id: "<id of its biography>/<its place there, from 0>"."""

    id: str
    source_id: str
    text: str


class Paraphrases(NamedTuple):
    """One sentence in agentic and in communal language."""

    agentic: str
    communal: str


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
    with begin(config, output, len(drawn), model, on_progress) as run:
        episodes = (_paraphrase(seed, config.sampling(), config.seed) for seed in drawn)
        predictions = [each for [each] in run.runner.run(episodes)]
        kept = [each for each in predictions if each["outcome"] == KEPT]
        pairs = [(str(each["agentic"]), str(each["communal"])) for each in kept]
        for each, duplicate in zip(kept, find_duplicates(pairs)):
            each["outcome"] = duplicate or KEPT
        run.folder.write_predictions(predictions)
        write_jsonl(run.folder.path / PAIRS, _pair_rows(predictions))
        counts["pairs"] = count_outcomes(str(each["outcome"]) for each in predictions)
        texts_sha256 = hashlib.sha256(json.dumps([text for _, text in biographies]).encode()).hexdigest()
        further = {"prompt": asdict(PARAPHRASE), "texts_sha256": texts_sha256}
        run.write_results("agency_pairs", counts["pairs"]["kept"], counts, **further)
    return run.folder


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


def read_paraphrases(text: str, cut: bool = False) -> Paraphrases | str:
    """Read the paraphrases in a reply, or return why they can't be read. Never raises.

    The reply's object has a string under each of the keys 'agentic' and 'communal', in any case, or, as in LAC, an
    object with a single string there ({'description': …}). It is JSON or a Python literal; text around it and further
    keys are allowed.

    Args:
        cut: the reply reached its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    found = [{str(name).strip().casefold(): value for name, value in each.items()} for each in _find_objects(text)]
    answers = [each for each in found if {"agentic", "communal"} <= {*each}]
    if not answers:
        return "truncated" if cut or text.count("{") > text.count("}") else "no object with both keys"
    if any(each != answers[0] for each in answers):
        return "several objects"
    agentic, communal = (_unwrap(answers[0][key]) for key in ("agentic", "communal"))
    return "not a string" if agentic is None or communal is None else Paraphrases(agentic, communal)


def _unwrap(value: object) -> str | None:
    """Return a string, or the only string of an object, with single blanks."""
    if isinstance(value, dict) and len(value) == 1:
        [value] = value.values()
    return " ".join(value.encode("utf-8", "replace").decode().split()) if isinstance(value, str) else None


def _find_objects(text: str) -> list[dict[object, object]]:
    """Find the outermost objects that have an entry, in order. What follows a broken one is not read."""
    found: list[dict[object, object]] = []
    end = 0
    while opening := _OPENING.search(text, end):
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            literal = _read_literal(text[opening.start() : text.rfind("}") + 1])
            return [*found, literal] if isinstance(literal, dict) else found
        found.append(value)
    return found


def _read_literal(text: str) -> object:
    """Read a Python dictionary: single quotes, a comma behind the last entry."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown escapes, "\d"
            value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    # Python joins adjacent strings: of 'at Toys 'r' Us' it makes 'at Toys  Us'.
    texts = value.values() if isinstance(value, dict) else ()
    is_joined = "\\" not in text and any(isinstance(each, str) and each not in text for each in texts)
    return None if is_joined else value


def failed_check(seed: str, pair: Paraphrases) -> str | None:
    """Return the first check that a pair fails; None for a pair that passes all.

    Both have a letter; they differ in more than case and space; no brace and neither key's name is left in them, which
    would give the label away; neither is the prompt's example or has its [Name]; each is one sentence; each has 0.4 to
    3 times the seed's characters.
    """
    checks: dict[str, Callable[[str], object]] = {
        "empty": lambda text: not any(map(str.isalpha, text)),
        "same": lambda text: len({"".join(each.casefold().split()) for each in pair}) == 1,
        "key or brace": _LEFTOVER.search,
        "example": lambda text: (
            ("[name]" in text.casefold() and "[name]" not in seed.casefold())
            or any(similarity(text, example) >= NEAR for example in (AGENTIC_EXAMPLE, COMMUNAL_EXAMPLE))
        ),
        "not one sentence": lambda text: split_sentences(text) != [text],
        "length": lambda text: not SHORTEST_SHARE * len(seed) <= len(text) <= LONGEST_SHARE * len(seed),
    }
    return next((reason for reason, fails in checks.items() if any(map(fails, pair))), None)
