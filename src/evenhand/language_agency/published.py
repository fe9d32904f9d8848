"""Published figures of classifiers of language agency: Table 12 of Wan & Chang (LABE), as printed, in percent."""

from __future__ import annotations

from typing import NamedTuple


class Classification(NamedTuple):
    """Accuracy and F1 scores on LAC's test split, in percent."""

    accuracy: float
    macro_f1: float
    micro_f1: float
    weighted_f1: float


# Micro F1 should equal accuracy where every sentence gets one label; most rows print another figure.
TABLE_12: dict[str, Classification] = {
    "String Matching": Classification(46.65, 31.81, 46.65, 29.68),
    "Sentiment": Classification(52.28, 41.35, 52.28, 43.05),
    "Wan et al. (2023a), fine-tune": Classification(66.49, 66.49, 64.22, 64.82),
    "Llama2, base": Classification(82.56, 49.46, 50.38, 50.03),
    "Llama2, zero-shot": Classification(63.71, 56.54, 64.06, 57.82),
    "Llama2, one-shot": Classification(54.34, 37.52, 53.43, 39.35),
    "Llama2, fine-tune": Classification(88.2, 88.12, 88.2, 88.19),
    "Bert, fine-tune": Classification(91.69, 91.69, 91.63, 91.68),
    "RoBERTa, fine-tune": Classification(91.33, 91.33, 91.29, 91.33),
}
