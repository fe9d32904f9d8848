"""How LAC was made, with any model: each sentence of a biography paraphrased into an agentic and a communal version.

LABE, section 3.2.1 and Appendix B. Seeds are sentences of biographies; a model paraphrases each twice; what can't be
read, fails a check or repeats another is left out and counted, always as a pair, so that labels stay balanced. People
label what remains (evenhand annotate, scheme agency): `label` is only the paraphrasing target.
"""

from __future__ import annotations

import ast
import hashlib
import io
import itertools
import json
import math
import platform
import re
import tokenize
import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import pandas as pd

from evenhand.draw import draw
from evenhand.episode import Episode, Prediction, Prompt, derive_seed
from evenhand.errors import UsageError
from evenhand.evaluation import VERSIONED, OnProgress, load_measured
from evenhand.models.protocol import Model
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.sentences import split_sentences
from evenhand.run_folder import RunFolder, write_whole
from evenhand.runner import Runner
from evenhand.settings import Settings
from evenhand.store import Store
from evenhand.texts import read_texts

NAME = "agency_pairs"
PAIRS = "pairs.jsonl"  # beside a run folder's other files
MAX_NEW_TOKENS = 512

# Table 7. Its examples end in a full stop, and so does the place they are filled into: the published script, too, sends
# both, and two full stops come of it.
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

FIRST, LAST = 2, 1  # sentences of a biography that tell birth date and current status (LABE, Appendix B.1)
SHORTEST, LONGEST = 16, 299  # characters of a seed, in the script that LAC was published with

LONGEST_REPLY = 10_000  # characters; two paraphrases of at most three times the longest seed have 1,794
SHORTEST_SHARE, LONGEST_SHARE = 0.4, 3.0  # a paraphrase's length over its seed's, in characters
GRAM = 5  # characters
NEAR = 0.9  # Jaccard similarity of two sentences' grams from which they are near-duplicates

Unread = Literal[
    "too long", "no object", "truncated", "malformed", "several objects", "missing key", "repeated key", "not a string"
]
Failed = Literal["empty", "same", "key or brace", "example", "not one sentence", "length"]
Duplicate = Literal["exact duplicate", "near duplicate"]
KEPT = "kept"

_Json: TypeAlias = "str | float | bool | list[_Json] | tuple[tuple[str, _Json], ...] | None"
_Object: TypeAlias = "tuple[tuple[str, _Json], ...]"  # pairs, and no dict: a key that comes twice must be seen

_OPENING = re.compile(r"\{(?=\s*[\"'])")
_HALF = re.compile(r"[\ud800-\udfff]")  # of a surrogate pair: JSON can spell one alone, no file can hold it
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\w+")
_LEFTOVER = re.compile(r"[{}]|\b(?:agentic|communal)\b", re.IGNORECASE)
_PLACEHOLDER = "[name]"  # of the examples; six sentences of LAC took it over


@dataclass(frozen=True)
class Seed:
    """A sentence to paraphrase. id: "<id of its biography>/<its place there, from 0>"."""

    id: str
    source_id: str
    text: str


@dataclass(frozen=True)
class Paraphrases:
    """One sentence, told in agentic and in communal language."""

    agentic: str
    communal: str

    @property
    def both(self) -> tuple[str, str]:
        return self.agentic, self.communal


def make_agency_pairs(
    settings: Settings,
    output: Path,
    texts: Sequence[str] | None = None,
    model: Model | None = None,
    on_progress: OnProgress | None = None,
) -> RunFolder:
    """Paraphrase the sentences of biographies, and leave a run folder with pairs.jsonl; a run interrupted goes on.

    settings: `model`, `limit` (seeds drawn), `seed`, sampling and loading count, and `texts` with its columns, of which
    only the text is needed. texts: biographies in place of a file's. model: in place of the one that settings name.
    pairs.jsonl: rows id, pair, seed, text, label ("agentic" or "communal", the paraphrasing target), source_id; the
    agentic one of a pair comes first. predictions.parquet: every seed asked, its reply and outcome. results.json: the
    counts of `read_seeds` and `outcome_counts`.
    Raises UsageError for settings and texts that don't fit, EvenhandError and ModelError for what failed on the way.
    """
    settings = replace(settings, benchmark=NAME, max_new_tokens=settings.max_new_tokens or MAX_NEW_TOKENS)
    _check(settings, texts)
    biographies = _biographies(settings, texts)
    seeds, counts = read_seeds(biographies)
    drawn = _drawn(seeds, settings)
    counts["sentences"] |= {"not_drawn": len(seeds) - len(drawn), "asked": len(drawn)}
    model = model or load_measured(settings)
    folder = RunFolder.begin(output, settings)
    with folder.locked(), Store(folder.store, {"default": model.identity}) as store:
        predictions = _paraphrased(drawn, model, store, settings, on_progress or (lambda rows, finished, asked: None))
        folder.write_predictions(predictions)
        write_whole(
            folder.path / PAIRS, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in pair_rows(predictions))
        )
        folder.write_results(_results(settings, model, biographies, counts | outcome_counts(predictions)))
    return folder


_USED = ("benchmark", "model", "texts", "limit", "seed", "temperature", "top_p", "max_new_tokens")
_LOADING = ("dtype", "batch_size", "revision")


def _check(settings: Settings, texts: Sequence[str] | None) -> None:
    if (settings.texts is None) == (texts is None):
        raise UsageError("biographies are needed, from one place: a file (--texts), or a list of texts")
    if settings.texts and settings.texts.preprocess != "none":
        raise UsageError("seeds are cut from texts as they are: no preprocessing fits")
    others = {each.name for each in fields(Settings)} - {*_USED, *_LOADING}
    plain = Settings(settings.benchmark, settings.model)
    strange = [name for name in sorted(others) if getattr(settings, name) != getattr(plain, name)]
    if strange:
        raise UsageError(f"{', '.join(strange)}: no settings of paraphrasing; leave them as they are by default")
    try:
        settings.sampling()
    except ValueError as error:
        raise UsageError(str(error)) from error


# Seeds (Appendix B.1)


def _biographies(settings: Settings, texts: Sequence[str] | None) -> list[tuple[str, str]]:
    """(id, text) of each."""
    if settings.texts is None:
        return [(f"text/{i}", text) for i, text in enumerate(texts or ())]
    # Biographies need no gender: read_texts takes None for a column that is not there.
    columns = replace(settings.texts.columns, gender=None)  # type: ignore[arg-type]
    found = read_texts(Path(settings.texts.path), columns).rows
    return list(zip(found["id"], found["text"]))


def read_seeds(biographies: Iterable[tuple[str, str]]) -> tuple[list[Seed], dict[str, dict[str, int]]]:
    """The sentences of biographies (id, text) without the first two and the last one, and what became of the others.

    counts: `texts` read, of which `empty` have no sentence; `sentences` read, of which `first_two`, `last`,
    `too_short`, `too_long` and `repeated` (as an earlier seed, normalised) are no seeds.
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
            reason = _no_seed(place, len(cut), sentence, seen)
            if reason:
                sentences[reason] += 1
            else:
                seen.add(normalised(sentence))
                seeds.append(Seed(f"{source_id}/{place}", source_id, sentence))
    return seeds, {"texts": dict(texts), "sentences": dict(sentences)}


def _no_seed(place: int, n: int, sentence: str, seen: set[str]) -> str | None:
    if place < FIRST:
        return "first_two"
    if place >= n - LAST:
        return "last"
    if not SHORTEST <= len(sentence) <= LONGEST:
        return "too_short" if len(sentence) < SHORTEST else "too_long"
    return "repeated" if normalised(sentence) in seen else None


def _drawn(seeds: Sequence[Seed], settings: Settings) -> list[Seed]:
    """Spread over the biographies."""
    if not seeds:
        raise UsageError(
            "no biography has a sentence to paraphrase: the first two and the last one of each are left out, and those "
            f"that have not {SHORTEST} to {LONGEST} characters; give longer texts, or another --text-column"
        )
    try:
        chosen = draw(pd.DataFrame({"source_id": [seed.source_id for seed in seeds]}), settings.limit, settings.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return [seeds[i] for i in chosen]


# Asking (Appendix B.2)


def paraphrase_request(seed: Seed, sampling: Sampling, run_seed: int) -> Request:
    """Table 7's prompt about one sentence, and nothing else."""
    content = PARAPHRASE.text.replace("{sentence}", seed.text)
    return Request((Message("user", content),), sampling=sampling, seed=derive_seed(run_seed, seed.id), name=seed.id)


def episode(seed: Seed, sampling: Sampling, run_seed: int) -> Episode:
    """One sentence: asked, read and checked. `outcome`: "kept", unless and until it repeats another pair."""
    [reply] = yield [paraphrase_request(seed, sampling, run_seed)]
    found = read_paraphrases(reply.text, cut=reply.finish_reason == "length")
    read = found if isinstance(found, Paraphrases) else None
    return [
        {
            "id": seed.id,
            "source_id": seed.source_id,
            "seed": seed.text,
            "agentic": read.agentic if read else None,
            "communal": read.communal if read else None,
            "outcome": (failed_check(seed.text, read) or KEPT) if read else str(found),
            "reply": reply.text,
        }
    ]


def _paraphrased(
    seeds: Sequence[Seed], model: Model, store: Store, settings: Settings, progress: OnProgress
) -> list[Prediction]:
    """All seeds' predictions; those that repeat an earlier pair say so."""
    progress(len(seeds), 0, 0)
    runner = Runner({"default": model}, store, lambda finished, asked: progress(len(seeds), finished, asked))
    episodes = (episode(seed, settings.sampling(), settings.seed) for seed in seeds)
    predictions = [each for predicted in runner.run(episodes) for each in predicted]
    kept = [each for each in predictions if each["outcome"] == KEPT]
    pairs = [Paraphrases(str(each["agentic"]), str(each["communal"])) for each in kept]
    for each, duplicate in zip(kept, find_duplicates(pairs)):
        each["outcome"] = duplicate or KEPT
    return predictions


# Reading


def read_paraphrases(text: str, cut: bool = False) -> Paraphrases | Unread:
    """The paraphrases in a reply, or why it could not be read. Never raises, and never guesses.

    The reply's one object has a string under each of the keys 'agentic' and 'communal', however they are capitalised,
    or, as in LAC, an object with a single string there ({'description': …}). It is JSON or a Python literal; prose and
    code fences around it and further keys are allowed. cut: the reply ended at its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    found = _objects(text)
    answers = [each for each in found if any(_is_key(name, key) for name, _ in each for key in ("agentic", "communal"))]
    if not found:
        return _why_none(text, cut)
    if not answers:
        return "missing key"
    if any(each != answers[0] for each in answers):
        return "several objects"
    return _paraphrases(answers[0])


def _is_key(name: str, key: str) -> bool:
    return name.strip().casefold() == key


def _why_none(text: str, cut: bool) -> Unread:
    if "{" not in text:
        return "no object"
    return "truncated" if cut or text.count("{") > text.count("}") else "malformed"


def _paraphrases(answer: _Object) -> Paraphrases | Unread:
    agentic, communal = ([value for name, value in answer if _is_key(name, key)] for key in ("agentic", "communal"))
    if not agentic or not communal:
        return "missing key"
    if len(agentic) > 1 or len(communal) > 1:
        return "repeated key"
    texts = _single_string(agentic[0]), _single_string(communal[0])
    if texts[0] is None or texts[1] is None:
        return "not a string"
    return Paraphrases(" ".join(texts[0].split()), " ".join(texts[1].split()))


def _single_string(value: _Json) -> str | None:
    if isinstance(value, tuple) and len(value) == 1:
        [(_, value)] = value
    return value if isinstance(value, str) and not _HALF.search(value) else None


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=tuple)  # not strict: line breaks within strings


def _objects(text: str) -> list[_Object]:
    """The outermost objects that have an entry, in order. What follows a broken one is not read."""
    found: list[_Object] = []
    end = 0
    while opening := _OPENING.search(text, end):
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            literal = _literal_object(text[opening.start() : text.rfind("}") + 1])
            return found if literal is None else [*found, literal]
        found.append(value)
    return found


def _literal_object(text: str) -> _Object | None:
    """A Python dictionary: single quotes, a comma behind the last entry."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown escapes, "\d"
            value = _from_node(ast.parse(text, mode="eval").body)
        return value if isinstance(value, tuple) and not _strings_in_a_row(text) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return None


def _strings_in_a_row(text: str) -> bool:
    """Python joins them, and takes a letter for a prefix: of 'at Toys 'r' Us' it would leave 'at Toys  Us'."""
    tokens = [each.type for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type != tokenize.NL]
    return (tokenize.STRING, tokenize.STRING) in itertools.pairwise(tokens)


def _from_node(node: ast.expr | None) -> _Json:
    """As ast.literal_eval, but keys that come twice are both there. Raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, type(None))):
        return node.value
    if isinstance(node, ast.List):
        return [_from_node(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        pairs = [(_from_node(key), _from_node(value)) for key, value in zip(node.keys, node.values)]
        return tuple((key, value) for key, value in pairs if isinstance(key, str))
    raise ValueError(f"no literal: {type(node).__name__}")


# Checks


def failed_check(seed: str, pair: Paraphrases) -> Failed | None:
    """The first check that a pair fails, in the order of `Failed`; None for a pair that passes all.

    Both have a letter; they differ in more than case and space; no brace and neither key's name is left in them, which
    would give the label away; neither is the prompt's example or has its [Name]; each is one sentence; each has 0.4 to
    3 times the seed's characters.
    """
    checks: dict[Failed, Callable[[str], object]] = {
        "empty": lambda text: not _LETTER.search(text),
        "same": lambda text: _without_space(pair.agentic) == _without_space(pair.communal),
        "key or brace": _LEFTOVER.search,
        "example": lambda text: _is_example(text, seed),
        "not one sentence": lambda text: split_sentences(text) != [text],
        "length": lambda text: not SHORTEST_SHARE * len(seed) <= len(text) <= LONGEST_SHARE * len(seed),
    }
    return next((reason for reason, fails in checks.items() if any(map(fails, pair.both))), None)


def _without_space(text: str) -> str:
    return "".join(text.casefold().split())


def _is_example(text: str, seed: str) -> bool:
    if _PLACEHOLDER in text.casefold() and _PLACEHOLDER not in seed.casefold():
        return True
    return any(similarity(text, example) >= NEAR for example in (AGENTIC_EXAMPLE, COMMUNAL_EXAMPLE))


# Duplicates


def normalised(text: str) -> str:
    """Its words, without case, punctuation and typographic variants."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def similarity(a: str, b: str) -> float:
    """Jaccard similarity of two sentences' sets of 5 characters in a row, normalised first: [0, 1]."""
    return _jaccard(_grams(normalised(a)), _grams(normalised(b)))


def find_duplicates(pairs: Sequence[Paraphrases]) -> list[Duplicate | None]:
    """For each pair, whether one of its sentences repeats a sentence of a pair before it that is none itself.

    Exactly, once normalised, or nearly: a similarity of 0.9 or more. Two sentences of one pair may be alike.
    """
    texts = {text: normalised(text) for pair in pairs for text in pair.both}
    rank = _rarest_first(texts.values())
    kept: set[str] = set()
    near = _NearDuplicates()
    found: list[Duplicate | None] = []
    for pair in pairs:
        two = {texts[text] for text in pair.both}
        grams = [sorted(rank[gram] for gram in _grams(text)) for text in sorted(two)]
        duplicate: Duplicate | None = None
        if kept & two:
            duplicate = "exact duplicate"
        elif any(near.has(each) for each in grams):
            duplicate = "near duplicate"
        else:
            kept |= two
            near.add(grams)
        found.append(duplicate)
    return found


class _NearDuplicates:
    """Sentences as ascending lists of their grams' ranks, found again by their rarest grams.

    Of two sets of similarity t or more, the larger one, of n grams, has at least t n in common with the other, and so
    has the smaller one: the first n - ceil(t n) + 1 grams of each, in an order that is the same for all, share one.
    Only sentences that do are compared, and none is missed.
    """

    def __init__(self) -> None:
        self._sentences: list[tuple[int, ...]] = []
        self._having: defaultdict[int, list[int]] = defaultdict(list)  # a rare gram: the sentences that have it

    def has(self, grams: Sequence[int]) -> bool:
        candidates = {i for gram in self._rarest(grams) for i in self._having.get(gram, ())}
        shortest, longest = NEAR * len(grams), len(grams) / NEAR  # a set of another size can't be as similar
        of_size = (each for each in map(self._sentences.__getitem__, candidates) if shortest <= len(each) <= longest)
        own = set(grams)
        return any(_jaccard(own, set(each)) >= NEAR for each in of_size)

    def add(self, sentences: Iterable[Sequence[int]]) -> None:
        for grams in sentences:
            for gram in self._rarest(grams):
                self._having[gram].append(len(self._sentences))
            self._sentences.append(tuple(grams))

    @staticmethod
    def _rarest(grams: Sequence[int]) -> Sequence[int]:
        return grams[: len(grams) - math.ceil(NEAR * len(grams) - 1e-9) + 1]  # 1e-9: a product rounded up adds no gram


def _rarest_first(texts: Iterable[str]) -> dict[str, int]:
    """Each gram's rank, the rarest one's 0."""
    frequency = Counter(gram for text in texts for gram in _grams(text))
    return {gram: rank for rank, gram in enumerate(sorted(frequency, key=lambda gram: (frequency[gram], gram)))}


def _grams(text: str) -> set[str]:
    return {text[start : start + GRAM] for start in range(max(1, len(text) - GRAM + 1))}


def _jaccard(a: set[str] | set[int], b: set[str] | set[int]) -> float:
    return len(a & b) / len(a | b)  # type: ignore[operator]


# What is left behind


def pair_rows(predictions: Iterable[Prediction]) -> Iterator[dict[str, object]]:
    """Two rows of pairs.jsonl for every pair that was kept."""
    for each in predictions:
        if each["outcome"] == KEPT:
            for label in ("agentic", "communal"):
                yield {
                    "id": f"{each['id']}/{label}",
                    "pair": each["id"],
                    "seed": each["seed"],
                    "text": each[label],
                    "label": label,
                    "source_id": each["source_id"],
                }


def outcome_counts(predictions: Sequence[Prediction]) -> dict[str, dict[str, int]]:
    """`pairs`: asked and kept; `unread`, `failed`, `duplicates`: by reason. Asked is the sum of all others."""
    outcomes = Counter(str(each["outcome"]) for each in predictions)
    reasons = {"unread": get_args(Unread), "failed": get_args(Failed), "duplicates": get_args(Duplicate)}
    return {"pairs": {"asked": len(predictions), "kept": outcomes[KEPT]}} | {
        step: {reason: outcomes[reason] for reason in of_step} for step, of_step in reasons.items()
    }


def _results(
    settings: Settings, model: Model, biographies: Sequence[tuple[str, str]], counts: dict[str, dict[str, int]]
) -> dict[str, object]:
    texts = json.dumps([text for _, text in biographies], ensure_ascii=True)
    return {
        "benchmark": NAME,
        "config": settings.to_json(),
        "model": settings.model,
        "model_identity": model.identity,
        "n": counts["pairs"]["kept"],
        "counts": counts,
        "prompt": asdict(PARAPHRASE),
        "texts_sha256": hashlib.sha256(texts.encode()).hexdigest(),
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED},
    }
