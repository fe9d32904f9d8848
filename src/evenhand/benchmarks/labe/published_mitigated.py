"""Published figures of LABE: what mitigation did, as printed (sections 5.1 and 5.2).

Wan and Chang, "White Men Lead, Black Women Help? Benchmarking and Mitigating Language Agency Social Biases in LLMs".
96 prompts a text type: 12 descriptor combinations, each for every race and gender. "fairness_instruction" is the
paper's prompt-based mitigation, "selective_rewrite" its Mitigation via Selective Rewrite (MSR). Units as in
published.

What does not agree in print: under the instruction, Table 2's race variances are Table 22's for ChatGPT only, and its
gender variances for Mistral's and Llama3's professor reviews lie below those of Table 20's mean gaps, which a mean of
variances over seeds cannot; Table 3's original shares are Table 25's, of the full set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.benchmarks.labe.published import ByGender, Group, by_gender, gaps, variances

TABLE_2: dict[str, dict[str, dict[str, dict[str, float]]]] = {
    "ChatGPT": {
        "biography": {
            "original": variances(21.93, 44.66, 130.89, 65.83),
            "fairness_instruction": variances(29.55, 14.09, 45.94, 29.86),
            "selective_rewrite": variances(6.59, 26.63, 66.72, 33.31),
        },
        "professor_review": {
            "original": variances(6.35, 36.66, 86.83, 43.28),
            "fairness_instruction": variances(15.5, 34.9, 62.26, 37.55),
            "selective_rewrite": variances(9.91, 18.58, 29.42, 19.3),
        },
        "reference_letter": {
            "original": variances(40.99, 13.57, 43.65, 32.74),
            "fairness_instruction": variances(3.15, 51.36, 62.79, 39.1),
            "selective_rewrite": variances(13.33, 15.95, 29.49, 19.59),
        },
    },
    "Mistral": {
        "biography": {
            "original": variances(45.08, 9.05, 73.09, 42.41),
            "fairness_instruction": variances(29.22, 28.19, 43.59, 33.67),
            "selective_rewrite": variances(17.4, 7.72, 53.27, 26.13),
        },
        "professor_review": {
            "original": variances(0.05, 46.22, 49.59, 31.95),
            "fairness_instruction": variances(103.77, 22.85, 96.83, 74.48),
            "selective_rewrite": variances(31.84, 32.15, 127.43, 63.81),
        },
        "reference_letter": {
            "original": variances(38.76, 14.96, 47.23, 33.65),
            "fairness_instruction": variances(89.5, 62.29, 107.38, 86.39),
            "selective_rewrite": variances(31.16, 7.82, 29.64, 22.87),
        },
    },
    "Llama3": {
        "biography": {
            "original": variances(14.28, 34.52, 50.72, 33.17),
            "fairness_instruction": variances(60.12, 80.14, 117.5, 85.92),
            "selective_rewrite": variances(18.47, 31.42, 66.24, 38.71),
        },
        "professor_review": {
            "original": variances(16.26, 73.82, 90.49, 60.19),
            "fairness_instruction": variances(2.85, 8.67, 16.92, 9.48),
            "selective_rewrite": variances(8.92, 73.48, 137.46, 73.29),
        },
        "reference_letter": {
            "original": variances(21.6, 49.92, 61.52, 44.35),
            "fairness_instruction": variances(27.58, 23.95, 49.33, 33.62),
            "selective_rewrite": variances(1.66, 8.2, 31.14, 13.67),
        },
    },
}


# Table 20: fairness instruction.
GENDER_GROUPS: dict[str, dict[str, ByGender]] = {
    "ChatGPT": {
        "biography": by_gender(39.72, 60.28, -20.55, 36.08, 63.92, -27.84, 7.29),
        "professor_review": by_gender(40.82, 59.18, -18.35, 43.39, 56.61, -13.22, -5.13),
        "reference_letter": by_gender(53.14, 46.86, 6.27, 51.97, 48.03, 3.95, 2.32),
    },
    "Mistral": {
        "biography": by_gender(56.57, 43.43, 13.13, 53.59, 46.41, 7.18, 5.96),
        "professor_review": by_gender(55.05, 44.95, 10.11, 47.42, 52.58, -5.16, 15.27),
        "reference_letter": by_gender(57.92, 42.08, 15.83, 52.06, 47.94, 4.11, 11.72),
    },
    "Llama3": {
        "biography": by_gender(60.19, 39.81, 20.38, 56.11, 43.89, 12.23, 8.15),
        "professor_review": by_gender(54.42, 45.58, 8.84, 52.9, 47.1, 5.81, 3.04),
        "reference_letter": by_gender(67.83, 32.17, 35.67, 64.45, 35.55, 28.89, 6.77),
    },
}

# Table 22: fairness instruction.
RACE_GROUPS: dict[str, dict[str, dict[str, Group]]] = {
    "ChatGPT": {
        "biography": {
            "White": Group(39.28, 60.72, -21.44),
            "Black": Group(36.6, 63.4, -26.8),
            "Hispanic": Group(36.23, 63.77, -27.54),
            "Asian": Group(39.5, 60.5, -21.0),
        },
        "professor_review": {
            "White": Group(41.81, 58.19, -16.38),
            "Black": Group(45.46, 54.54, -9.09),
            "Hispanic": Group(39.35, 60.65, -21.3),
            "Asian": Group(41.81, 58.19, -16.38),
        },
        "reference_letter": {
            "White": Group(54.27, 45.73, 8.53),
            "Black": Group(54.43, 45.57, 8.86),
            "Hispanic": Group(54.12, 45.88, 8.23),
            "Asian": Group(47.41, 52.59, -5.19),
        },
    },
    "Mistral": {
        "biography": {
            "White": Group(54.07, 45.93, 8.14),
            "Black": Group(54.48, 45.52, 8.96),
            "Hispanic": Group(53.28, 46.72, 6.56),
            "Asian": Group(58.48, 41.52, 16.96),
        },
        "professor_review": {
            "White": Group(50.85, 49.15, 1.7),
            "Black": Group(51.81, 48.19, 3.61),
            "Hispanic": Group(53.35, 46.65, 6.7),
            "Asian": Group(48.94, 51.06, -2.13),
        },
        "reference_letter": {
            "White": Group(57.21, 42.79, 14.42),
            "Black": Group(51.37, 48.63, 2.74),
            "Hispanic": Group(52.96, 47.04, 5.91),
            "Asian": Group(58.41, 41.59, 16.81),
        },
    },
    "Llama3": {
        "biography": {
            "White": Group(61.89, 38.11, 23.77),
            "Black": Group(57.99, 42.01, 15.99),
            "Hispanic": Group(53.15, 46.85, 6.29),
            "Asian": Group(59.58, 40.42, 19.17),
        },
        "professor_review": {
            "White": Group(52.15, 47.85, 4.31),
            "Black": Group(55.17, 44.83, 10.33),
            "Hispanic": Group(54.0, 46.0, 8.0),
            "Asian": Group(53.32, 46.68, 6.65),
        },
        "reference_letter": {
            "White": Group(66.14, 33.86, 32.27),
            "Black": Group(65.29, 34.71, 30.57),
            "Hispanic": Group(63.95, 36.05, 27.89),
            "Asian": Group(69.19, 30.81, 38.38),
        },
    },
}


# Tables 24, 26 and 28: fairness instruction.
INTERSECTIONAL_GROUPS: dict[str, dict[str, dict[str, ByGender]]] = {
    "ChatGPT": {  # Table 24
        "biography": {
            "White": by_gender(39.57, 60.43, -20.86, 38.99, 61.01, -22.02, 1.16),
            "Black": by_gender(41.27, 58.73, -17.46, 31.93, 68.07, -36.14, 18.68),
            "Hispanic": by_gender(36.32, 63.68, -27.37, 36.14, 63.86, -27.72, 0.35),
            "Asian": by_gender(41.74, 58.26, -16.52, 37.27, 62.73, -25.47, 8.95),
        },
        "professor_review": {
            "White": by_gender(37.6, 62.4, -24.8, 46.02, 53.98, -7.96, -16.84),
            "Black": by_gender(42.98, 57.02, -14.04, 47.93, 52.07, -4.14, -9.91),
            "Hispanic": by_gender(40.0, 60.0, -20.0, 38.7, 61.3, -22.59, 2.59),
            "Asian": by_gender(42.72, 57.28, -14.57, 40.9, 59.1, -18.19, 3.63),
        },
        "reference_letter": {
            "White": by_gender(54.06, 45.94, 8.13, 54.47, 45.53, 8.94, -0.81),
            "Black": by_gender(56.19, 43.81, 12.37, 52.68, 47.32, 5.36, 7.01),
            "Hispanic": by_gender(52.1, 47.9, 4.2, 56.13, 43.87, 12.26, -8.06),
            "Asian": by_gender(50.19, 49.81, 0.39, 44.62, 55.38, -10.76, 11.15),
        },
    },
    "Mistral": {  # Table 26
        "biography": {
            "White": by_gender(55.84, 44.16, 11.69, 52.3, 47.7, 4.6, 7.09),
            "Black": by_gender(55.22, 44.78, 10.45, 53.74, 46.26, 7.48, 2.96),
            "Hispanic": by_gender(54.37, 45.63, 8.75, 52.19, 47.81, 4.38, 4.36),
            "Asian": by_gender(60.83, 39.17, 21.66, 56.13, 43.87, 12.25, 9.41),
        },
        "professor_review": {
            "White": by_gender(54.5, 45.5, 8.99, 47.2, 52.8, -5.6, 14.59),
            "Black": by_gender(56.29, 43.71, 12.58, 47.33, 52.67, -5.35, 17.93),
            "Hispanic": by_gender(54.55, 45.45, 9.09, 52.16, 47.84, 4.31, 4.78),
            "Asian": by_gender(54.88, 45.12, 9.76, 42.99, 57.01, -14.02, 23.78),
        },
        "reference_letter": {
            "White": by_gender(58.98, 41.02, 17.96, 55.44, 44.56, 10.89, 7.07),
            "Black": by_gender(54.61, 45.39, 9.21, 48.13, 51.87, -3.73, 12.95),
            "Hispanic": by_gender(55.69, 44.31, 11.38, 50.22, 49.78, 0.45, 10.93),
            "Asian": by_gender(62.39, 37.61, 24.77, 54.43, 45.57, 8.85, 15.92),
        },
    },
    "Llama3": {  # Table 28
        "biography": {
            "White": by_gender(64.53, 35.47, 29.07, 59.24, 40.76, 18.48, 10.59),
            "Black": by_gender(60.8, 39.2, 21.61, 55.18, 44.82, 10.37, 11.24),
            "Hispanic": by_gender(52.92, 47.08, 5.83, 53.38, 46.62, 6.76, -0.92),
            "Asian": by_gender(62.51, 37.49, 25.02, 56.66, 43.34, 13.32, 11.7),
        },
        "professor_review": {
            "White": by_gender(54.12, 45.88, 8.23, 50.19, 49.81, 0.39, 7.84),
            "Black": by_gender(55.65, 44.35, 11.3, 54.69, 45.31, 9.37, 1.93),
            "Hispanic": by_gender(52.85, 47.15, 5.7, 55.16, 44.84, 10.31, -4.62),
            "Asian": by_gender(55.07, 44.93, 10.14, 51.58, 48.42, 3.15, 6.99),
        },
        "reference_letter": {
            "White": by_gender(69.87, 30.13, 39.74, 62.4, 37.6, 24.8, 14.94),
            "Black": by_gender(64.73, 35.27, 29.46, 65.85, 34.15, 31.69, -2.23),
            "Hispanic": by_gender(65.6, 34.4, 31.21, 62.29, 37.71, 24.58, 6.63),
            "Asian": by_gender(71.13, 28.87, 42.26, 67.25, 32.75, 34.5, 7.76),
        },
    },
}

# Mistral's professor reviews: agentic sentences in percent, originally and rewritten (MSR).
TABLE_3: dict[str, tuple[float, float]] = {
    "White male": (47.86, 64.73),
    "White female": (44.36, 61.12),
    "Black male": (41.96, 68.65),
    "Black female": (37.95, 51.34),
    "Hispanic male": (40.41, 54.66),
    "Hispanic female": (35.64, 59.66),
    "Asian male": (44.1, 62.62),
    "Asian female": (40.1, 62.64),
}


def beside(configs: Sequence[str], mitigation: str | None) -> dict[str, Any]:
    """`published` of results.json beside a run on 96 prompts a text type: Table 2; groups, where they are printed.

    mitigation: None, "fairness-instruction" or "selective-rewrite". Table 3's shares are given as gaps, agentic minus
    communal sentences in points.
    """
    variant = "original" if mitigation is None else mitigation.replace("-", "_")
    shown: dict[str, Any] = {
        "source": "Wan & Chang, LABE, Table 2 (under the instruction also Tables 20, 22 and 24, 26, 28; of rewritten "
        "professor reviews Table 3, its shares as gaps), 96 prompts a text type, of another draw; BERT classifiers "
        "trained on LAC, seeds 0, 1, 2",
        "variances": {model: {config: of[config][variant] for config in configs} for model, of in TABLE_2.items()},
    }
    if variant == "fairness_instruction":
        shown["gaps"] = {
            model: {config: gaps(of[config], RACE_GROUPS[model][config]) for config in configs}
            for model, of in INTERSECTIONAL_GROUPS.items()
        }
        shown["differences"] = {
            model: {config: of[config].difference for config in configs} for model, of in GENDER_GROUPS.items()
        }
    if variant == "selective_rewrite" and "professor_review" in configs:
        rewritten = {group: round(2 * after - 100, 2) for group, (_, after) in TABLE_3.items()}
        shown["gaps"] = {"Mistral": {"professor_review": rewritten}}
    return shown
