"""Figures that "Measuring Stereotypical Bias in Multi-modal Large Language Models" prints: Tables 2, 3, A3, A4, A7-A11.

Where a cell has two numbers, the first counts unread answers in the score's factor and the second ("N/A filtered")
leaves it out: association_score and association_score_answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

SOURCE = "Measuring Stereotypical Bias in Multi-modal Large Language Models, Table 2"

LLAVA, MINIGPT, COGVLM, ENSEMBLE = "LLaVA-v1.5", "MiniGPT-v2", "CogVLM", "Ensemble of the three"
CONFIGS = (
    "occupation_gender", "descriptor_gender", "persona_gender",
    "occupation_race", "descriptor_race", "persona_race",
)  # fmt: skip

Scores = tuple[float | None, float]
Figure = TypeVar("Figure")

# {model: (score, N/A filtered) of each of CONFIGS}; of the Ensemble one of the two columns is printed.
TABLE_2: dict[str, tuple[Scores, ...]] = {
    LLAVA: (
        (0.3260, 0.3260), (0.2671, 0.2690), (0.1390, 0.1390), (0.1147, 0.1147), (0.1431, 0.1433), (0.2769, 0.2776),
    ),
    MINIGPT: (
        (0.3571, 0.3571), (0.2761, 0.2762), (0.1252, 0.2449), (0.1010, 0.1011), (0.0945, 0.0946), (0.2123, 0.2860),
    ),
    COGVLM: (
        (0.3784, 0.3804), (0.2785, 0.2790), (0.2327, 0.3031), (0.1343, 0.1353), (0.1411, 0.1414), (0.2115, 0.2476),
    ),
    ENSEMBLE: (
        (None, 0.4338), (None, 0.3808), (None, 0.3744), (None, 0.1915), (None, 0.1799), (None, 0.3680),
    ),
}  # fmt: skip

# What a prefix changes, {model: (score, N/A filtered) of each of CONFIGS}: Tables 3, A7, A8 and A11.
CHANGES: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {
    "self-reminder": {
        LLAVA: (
            (-0.0951, -0.0740), (-0.0734, -0.0354), (0.2004, 0.2036),
            (-0.0279, -0.0285), (-0.0308, -0.0149), (-0.0474, -0.0388),
        ),
        MINIGPT: (
            (0.0041, 0.0050), (0.0278, 0.0281), (0.0944, -0.0150),
            (-0.0181, -0.0178), (0.0044, 0.0047), (0.0648, 0.0031),
        ),
        COGVLM: (
            (-0.3274, 0.0561), (-0.1871, 0.0449), (0.0432, 0.0251),
            (-0.1118, 0.0864), (-0.0782, 0.0525), (-0.0178, -0.0045),
        ),
    },
    "debiasing": {
        LLAVA: (
            (-0.2650, -0.2650), (-0.1223, -0.1264), (0.0200, 0.0521),
            (-0.0855, -0.0855), (-0.0672, -0.0681), (-0.1152, -0.1158),
        ),
        MINIGPT: (
            (-0.0294, -0.0291), (-0.0241, -0.0238), (-0.0859, 0.0459),
            (-0.0160, -0.0159), (-0.0071, -0.0070), (-0.0564, -0.0876),
        ),
        COGVLM: (
            (-0.3471, 0.0775), (-0.2287, 0.0406), (-0.0731, -0.0846),
            (-0.1158, 0.0807), (-0.0886, 0.0525), (-0.0722, -0.0647),
        ),
    },
    "a sexist": {
        LLAVA: ((-0.0166, -0.0006), (-0.0575, -0.0210), (0.0793, 0.0793)),
        MINIGPT: ((0.0235, 0.0240), (0.0297, 0.0299), (-0.0260, -0.1033)),
        COGVLM: ((-0.2761, 0.0006), (-0.1635, -0.0199), (-0.0643, -0.1046)),
    },
    "a racist": {
        LLAVA: ((-0.0105, -0.0103), (0.0140, 0.0151), (-0.0178, -0.0176)),
        MINIGPT: ((0.0013, 0.0016), (0.0060, 0.0061), (0.0669, 0.0117)),
        COGVLM: ((-0.0868, 0.0687), (-0.0590, 0.0747), (0.0284, 0.0220)),
    },
    "Barack Obama": {
        LLAVA: (
            (-0.0505, -0.0505), (-0.0551, -0.0551), (-0.0854, -0.0854),
            (-0.0023, -0.0023), (-0.0149, -0.0128), (0.0053, 0.0046),
        ),
        MINIGPT: (
            (0.0085, 0.0094), (-0.0079, -0.0079), (-0.0136, -0.0160),
            (-0.0008, -0.0004), (-0.0021, -0.0020), (-0.0007, -0.0516),
        ),
        COGVLM: (
            (-0.2705, -0.1475), (-0.1525, -0.0686), (-0.1373, -0.1328),
            (-0.0410, 0.0402), (-0.0122, 0.0843), (-0.0917, -0.0021),
        ),
    },
    "Donald Trump": {
        LLAVA: (
            (-0.0681, -0.0681), (-0.0482, -0.0491), (0.0750, 0.0750),
            (-0.0190, -0.0190), (-0.0270, -0.0262), (-0.0027, -0.0035),
        ),
        MINIGPT: (
            (0.0244, 0.0249), (-0.0027, -0.0027), (-0.0057, -0.1158),
            (0.0032, 0.0035), (-0.0005, -0.0004), (0.0045, -0.0195),
        ),
        COGVLM: (
            (-0.2959, -0.1259), (-0.1694, -0.0847), (-0.1255, -0.0924),
            (-0.0993, 0.0133), (-0.0439, 0.0125), (-0.0934, 0.0347),
        ),
    },
}  # fmt: skip
CHANGES_SOURCE = "Published: Tables 3, A7 and A8 (prefixes), A11 (roles)"
_ONE_ATTRIBUTE = {"a sexist": CONFIGS[:3], "a racist": CONFIGS[3:]}

# Identical outputs in percent, {(model, model): of each of CONFIGS}: Tables A3 and A4.
SIMILARITY: dict[tuple[str, str], tuple[float, ...]] = {
    (LLAVA, MINIGPT): (77.36, 71.89, 25.14, 59.48, 63.17, 53.57),
    (LLAVA, COGVLM): (80.61, 73.85, 45.21, 62.75, 67.55, 45.93),
    (MINIGPT, COGVLM): (81.82, 76.59, 29.96, 62.72, 65.59, 36.46),
}
SIMILARITY_SOURCE = "Published: Tables A3 and A4 (models), A10 (roles)"

# Identical outputs in percent with and without a role, {role: {model: of each of CONFIGS}}: Table A10, where
# "Sexist/Racist" is a sexist for gender and a racist for race.
ROLE_SIMILARITY: dict[str, dict[str, tuple[float, ...]]] = {
    "a sexist": {LLAVA: (84.36, 75.55, 68.57), MINIGPT: (95.39, 92.61, 33.25), COGVLM: (29.30, 35.75, 34.68)},
    "a racist": {LLAVA: (77.00, 82.69, 62.07), MINIGPT: (91.90, 90.74, 55.50), COGVLM: (12.04, 21.70, 34.82)},
    "Barack Obama": {
        LLAVA: (82.58, 82.40, 82.89, 77.17, 82.67, 66.43),
        MINIGPT: (93.70, 92.93, 35.64, 90.27, 91.42, 45.5),
        COGVLM: (26.93, 41.62, 38.64, 21.45, 47.03, 20.32),
    },
    "Donald Trump": {
        LLAVA: (80.91, 81.69, 76.50, 77.97, 82.57, 71.93),
        MINIGPT: (93.31, 92.41, 38.00, 91.11, 91.32, 44.00),
        COGVLM: (14.64, 27.00, 21.82, 6.94, 28.36, 20.86),
    },
}


def told(mitigation: str | None, role: str | None) -> tuple[str, ...]:
    """What stood before the prompts, in words: Table 2 is of prompts alone, CHANGES of what this changes."""
    return (
        *([f"mitigation {mitigation}"] if mitigation else []),
        *([f"the model told to act as {role}"] if role else []),
    )


def table_2(configs: Sequence[str]) -> dict[str, dict[str, dict[str, float | None]]]:
    """{model: {config: {association_score, association_score_answered}}} of these configurations."""
    return {
        model: {
            config: {"association_score": score, "association_score_answered": answered}
            for config, (score, answered) in zip(CONFIGS, scores)
            if config in configs
        }
        for model, scores in TABLE_2.items()
    }


def changes(prefix: str, config: str) -> dict[str, tuple[float, float]]:
    """{model: (score, N/A filtered)} of a mitigation or a role; empty where nothing is printed."""
    return _of_config(CHANGES.get(prefix, {}), prefix, config)


def role_similarity(role: str, config: str) -> dict[str, float]:
    """{model: percent of outputs identical with and without the role}; empty where nothing is printed."""
    return _of_config(ROLE_SIMILARITY.get(role, {}), role, config)


def _of_config(printed: dict[str, tuple[Figure, ...]], prefix: str, config: str) -> dict[str, Figure]:
    configs = _ONE_ATTRIBUTE.get(prefix, CONFIGS)
    return {model: dict(zip(configs, figures))[config] for model, figures in printed.items() if config in configs}
