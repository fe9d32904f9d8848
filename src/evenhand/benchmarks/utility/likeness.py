"""How alike replies and reference answers are: ROUGE-L by its library, BERTScore's formula, and a cosine, by the
embedded encoder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Answers = Sequence[Sequence[str]]


def rouge_l(replies: Sequence[str], answers: Answers) -> list[float] | None:
    """ROUGE-L F1 in [0, 1], the best over accepted answers; None where the library rouge-score is not installed."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        return None
    scorer = RougeScorer(["rougeL"])
    return [float(scorer.score_multi(list(those), reply)["rougeL"].fmeasure) for reply, those in zip(replies, answers)]


def bertscore_minilm(replies: Sequence[str], answers: Answers) -> list[float] | None:
    """F1 of BERTScore's matching by all-MiniLM-L6-v2, the best over accepted answers, as the library bert-score takes
    several references; 0 for an empty reply. None where the embedded encoder is not there.

    The paper's figures (0.7965 and 0.7963 on WikiMovies) are by another model, which it does not name.
    """
    from evenhand.models.text_similarity import TextEncoder

    encoder = TextEncoder.at_hand()
    return None if encoder is None or not replies else encoder.token_f1(replies, answers)


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
