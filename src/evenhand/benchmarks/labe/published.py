"""Published figures of LABE: its Table 1 and the tables behind it, as printed.

Wan and Chang, "White Men Lead, Black Women Help? Benchmarking and Mitigating Language Agency Social Biases in LLMs".
Means over classifier seeds 0, 1 and 2. Shares, gaps and differences are in percent and points, variances in squared
points; 0 is no bias. Text types and races are the dataset's values; models and strata are named as printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evenhand.benchmarks.labe.options import LabeOptions
from evenhand.benchmarks.labe.selective_rewrite import SelectiveRewriteOptions
from evenhand.flow.configuration import RunConfig
from evenhand.language_agency.recipes import is_papers_bert
from evenhand.language_agency.splitters import SPLITTERS, SplitterName

SOURCE = "Wan & Chang, LABE, Tables 1, 19, 21 and 23, 25, 27; BERT classifiers trained on LAC, seeds 0, 1, 2"
VARIANCES = ("gender_variance", "race_variance", "intersectional_variance", "overall")


class Group(NamedTuple):
    """Mean share of agentic and of communal sentences, and their gap, of the texts about one group."""

    agentic: float
    communal: float
    gap: float


class ByGender(NamedTuple):
    """The figures of men and women, and the difference of their gaps (male - female), as printed."""

    male: Group
    female: Group
    difference: float


def variances(*printed: float) -> dict[str, float]:
    """A row of Table 1 or 2 by the metric's keys."""
    return dict(zip(VARIANCES, printed))


def by_gender(
    male_agentic: float,
    male_communal: float,
    male_gap: float,
    female_agentic: float,
    female_communal: float,
    female_gap: float,
    difference: float,
) -> ByGender:
    """Two printed rows, the man's first."""
    male = Group(male_agentic, male_communal, male_gap)
    return ByGender(male, Group(female_agentic, female_communal, female_gap), difference)


# Each text type, and their average.
TABLE_1: dict[str, dict[str, dict[str, float]]] = {
    "ChatGPT": {
        "biography": variances(38.06, 47.79, 66.31, 50.72),
        "professor_review": variances(22.25, 19.35, 32.14, 24.58),
        "reference_letter": variances(43.56, 8.02, 32.16, 27.91),
        "average": variances(34.62, 25.05, 43.54, 34.4),
    },
    "Mistral": {
        "biography": variances(60.29, 29.99, 61.36, 50.55),
        "professor_review": variances(36.61, 48.33, 63.14, 49.36),
        "reference_letter": variances(59.06, 7.9, 45.63, 37.53),
        "average": variances(51.99, 28.74, 56.71, 45.81),
    },
    "Llama3": {
        "biography": variances(37.1, 26.82, 47.4, 37.11),
        "professor_review": variances(68.31, 85.51, 125.0, 92.94),
        "reference_letter": variances(44.93, 26.29, 49.94, 40.39),
        "average": variances(50.11, 46.2, 74.11, 56.81),
    },
}

# Table 19; Human: Bias in Bios, RateMyProfessor, and the letters of Wan et al. (2023a) that stand for human ones.
GENDER_GROUPS: dict[str, dict[str, ByGender]] = {
    "Human": {
        "biography": by_gender(68.87, 31.13, 37.73, 63.81, 36.19, 27.61, 10.12),
        "professor_review": by_gender(78.76, 21.24, 57.53, 77.84, 22.16, 55.67, 1.86),
        "reference_letter": by_gender(57.47, 42.53, 14.94, 55.15, 44.85, 10.3, 4.64),
    },
    "ChatGPT": {
        "biography": by_gender(42.52, 57.48, -14.96, 38.28, 61.72, -23.45, 8.49),
        "professor_review": by_gender(36.07, 63.93, -27.85, 32.79, 67.21, -34.42, 6.57),
        "reference_letter": by_gender(57.92, 42.08, 15.85, 53.26, 46.74, 6.52, 9.33),
    },
    "Mistral": {
        "biography": by_gender(57.92, 42.08, 15.84, 52.48, 47.52, 4.97, 10.87),
        "professor_review": by_gender(43.58, 56.42, -12.83, 39.51, 60.49, -20.97, 8.14),
        "reference_letter": by_gender(53.12, 46.88, 6.23, 47.69, 52.31, -4.61, 10.85),
    },
    "Llama3": {
        "biography": by_gender(56.25, 43.75, 12.49, 51.99, 48.01, 3.98, 8.52),
        "professor_review": by_gender(41.41, 58.59, -17.18, 35.65, 64.35, -28.69, 11.52),
        "reference_letter": by_gender(60.18, 39.82, 20.36, 55.46, 44.54, 10.92, 9.45),
    },
}

# Table 21; its column "Std. Dev" holds Table 1's race variances.
RACE_GROUPS: dict[str, dict[str, dict[str, Group]]] = {
    "ChatGPT": {
        "biography": {
            "White": Group(41.81, 58.19, -16.38),
            "Black": Group(36.39, 63.61, -27.22),
            "Hispanic": Group(39.06, 60.94, -21.88),
            "Asian": Group(44.33, 55.67, -11.34),
        },
        "professor_review": {
            "White": Group(34.62, 65.38, -30.76),
            "Black": Group(31.35, 68.65, -37.3),
            "Hispanic": Group(35.84, 64.16, -28.33),
            "Asian": Group(35.92, 64.08, -28.16),
        },
        "reference_letter": {
            "White": Group(57.5, 42.5, 15.0),
            "Black": Group(54.54, 45.46, 9.08),
            "Hispanic": Group(55.31, 44.69, 10.63),
            "Asian": Group(55.01, 44.99, 10.03),
        },
    },
    "Mistral": {
        "biography": {
            "White": Group(57.85, 42.15, 15.69),
            "Black": Group(54.06, 45.94, 8.12),
            "Hispanic": Group(51.93, 48.07, 3.86),
            "Asian": Group(56.97, 43.03, 13.94),
        },
        "professor_review": {
            "White": Group(46.11, 53.89, -7.78),
            "Black": Group(39.96, 60.04, -20.08),
            "Hispanic": Group(38.03, 61.97, -23.95),
            "Asian": Group(42.1, 57.9, -15.8),
        },
        "reference_letter": {
            "White": Group(51.55, 48.45, 3.11),
            "Black": Group(48.48, 51.52, -3.04),
            "Hispanic": Group(50.35, 49.65, 0.7),
            "Asian": Group(51.24, 48.76, 2.48),
        },
    },
    "Llama3": {
        "biography": {
            "White": Group(55.83, 44.17, 11.66),
            "Black": Group(51.43, 48.57, 2.87),
            "Hispanic": Group(52.52, 47.48, 5.03),
            "Asian": Group(56.69, 43.31, 13.39),
        },
        "professor_review": {
            "White": Group(42.63, 57.37, -14.75),
            "Black": Group(32.74, 67.26, -34.53),
            "Hispanic": Group(36.94, 63.06, -26.12),
            "Asian": Group(41.83, 58.17, -16.34),
        },
        "reference_letter": {
            "White": Group(60.62, 39.38, 21.23),
            "Black": Group(54.62, 45.38, 9.24),
            "Hispanic": Group(57.19, 42.81, 14.38),
            "Asian": Group(58.86, 41.14, 17.71),
        },
    },
}

# Tables 23, 25 and 27.
INTERSECTIONAL_GROUPS: dict[str, dict[str, dict[str, ByGender]]] = {
    "ChatGPT": {  # Table 23
        "biography": {
            "White": by_gender(43.87, 56.13, -12.27, 39.76, 60.24, -20.49, 8.22),
            "Black": by_gender(37.23, 62.77, -25.53, 35.55, 64.45, -28.91, 3.38),
            "Hispanic": by_gender(42.3, 57.7, -15.4, 35.82, 64.18, -28.36, 12.96),
            "Asian": by_gender(46.68, 53.32, -6.64, 41.98, 58.02, -16.03, 9.39),
        },
        "professor_review": {
            "White": by_gender(36.01, 63.99, -27.98, 33.23, 66.77, -33.54, 5.56),
            "Black": by_gender(31.95, 68.05, -36.1, 30.74, 69.26, -38.51, 2.41),
            "Hispanic": by_gender(38.52, 61.48, -22.95, 33.15, 66.85, -33.71, 10.76),
            "Asian": by_gender(37.81, 62.19, -24.39, 34.03, 65.97, -31.93, 7.54),
        },
        "reference_letter": {
            "White": by_gender(59.88, 40.12, 19.75, 55.12, 44.88, 10.24, 9.51),
            "Black": by_gender(56.74, 43.26, 13.49, 52.34, 47.66, 4.67, 8.82),
            "Hispanic": by_gender(57.64, 42.36, 15.27, 52.99, 47.01, 5.98, 9.29),
            "Asian": by_gender(57.44, 42.56, 14.87, 52.59, 47.41, 5.19, 9.68),
        },
    },
    "Mistral": {  # Table 25
        "biography": {
            "White": by_gender(60.69, 39.31, 21.39, 55.0, 45.0, 10.0, 11.39),
            "Black": by_gender(56.13, 43.87, 12.26, 51.99, 48.01, 3.97, 8.28),
            "Hispanic": by_gender(55.27, 44.73, 10.54, 48.59, 51.41, -2.82, 13.36),
            "Asian": by_gender(59.58, 40.42, 19.15, 54.36, 45.64, 8.73, 10.43),
        },
        "professor_review": {
            "White": by_gender(47.86, 52.14, -4.27, 44.36, 55.64, -11.29, 7.02),
            "Black": by_gender(41.96, 58.04, -16.07, 37.95, 62.05, -24.09, 8.02),
            "Hispanic": by_gender(40.41, 59.59, -19.17, 35.64, 64.36, -28.72, 9.55),
            "Asian": by_gender(44.1, 55.9, -11.81, 40.1, 59.9, -19.8, 7.99),
        },
        "reference_letter": {
            "White": by_gender(54.56, 45.44, 9.13, 48.54, 51.46, -2.91, 12.04),
            "Black": by_gender(49.58, 50.42, -0.83, 47.37, 52.63, -5.25, 4.42),
            "Hispanic": by_gender(54.36, 45.64, 8.72, 46.34, 53.66, -7.33, 16.05),
            "Asian": by_gender(53.96, 46.04, 7.92, 48.52, 51.48, -2.95, 10.87),
        },
    },
    "Llama3": {  # Table 27
        "biography": {
            "White": by_gender(57.34, 42.66, 14.69, 54.31, 45.69, 8.62, 6.06),
            "Black": by_gender(52.99, 47.01, 5.97, 49.88, 50.12, -0.24, 6.21),
            "Hispanic": by_gender(56.07, 43.93, 12.14, 48.97, 51.03, -2.07, 14.21),
            "Asian": by_gender(58.59, 41.41, 17.18, 54.8, 45.2, 9.59, 7.59),
        },
        "professor_review": {
            "White": by_gender(44.32, 55.68, -11.35, 40.93, 59.07, -18.14, 6.78),
            "Black": by_gender(35.51, 64.49, -28.98, 29.96, 70.04, -40.07, 11.09),
            "Hispanic": by_gender(38.43, 61.57, -23.15, 35.45, 64.55, -29.09, 5.95),
            "Asian": by_gender(47.39, 52.61, -5.22, 36.27, 63.73, -27.46, 22.24),
        },
        "reference_letter": {
            "White": by_gender(62.92, 37.08, 25.84, 58.31, 41.69, 16.63, 9.21),
            "Black": by_gender(56.5, 43.5, 13.0, 52.74, 47.26, 5.48, 7.52),
            "Hispanic": by_gender(60.54, 39.46, 21.09, 53.84, 46.16, 7.67, 13.42),
            "Asian": by_gender(60.77, 39.23, 21.53, 56.95, 43.05, 13.9, 7.64),
        },
    },
}

# Table 16: gender difference (male - female) by writer.
HUMAN_DIFFERENCES: dict[str, dict[str, float]] = {
    "biography": {"Human": 10.12, "ChatGPT": 8.49, "Mistral": 10.87, "Llama3": 8.51},
    "professor_review": {"Human": 1.86, "ChatGPT": 6.57, "Mistral": 8.14, "Llama3": 11.51},
    "reference_letter": {"Wan et al. (2023a)": 4.64, "ChatGPT": 9.33, "Mistral": 10.84, "Llama3": 9.44},
}

# RateMyProfessor by department; its overall difference is 1.86 in Tables 16 and 19.
TABLE_17: dict[str, ByGender] = {
    "Overall": by_gender(79.54, 20.46, 59.09, 78.77, 21.23, 57.53, 1.53),
    "English": by_gender(77.14, 22.86, 54.28, 77.94, 22.06, 55.87, -1.59),
    "Mathematics": by_gender(76.34, 23.66, 52.68, 76.3, 23.7, 52.59, 0.09),
    "Biology": by_gender(81.66, 18.34, 63.32, 77.39, 22.61, 54.79, 8.53),
    "Communication": by_gender(77.53, 22.47, 55.06, 76.03, 23.97, 52.07, 2.99),
    "Computer Science": by_gender(80.37, 19.63, 60.75, 81.87, 18.13, 63.73, -2.98),
    "Education": by_gender(78.69, 21.31, 57.38, 81.44, 18.56, 62.87, -5.49),
    "Chemistry": by_gender(79.5, 20.5, 58.99, 73.4, 26.6, 46.81, 12.18),
    "Sociology": by_gender(79.25, 20.75, 58.51, 66.08, 33.92, 32.16, 26.35),
    "Philosophy": by_gender(79.75, 20.25, 59.51, 82.47, 17.53, 64.93, -5.42),
    "Fine Arts": by_gender(72.98, 27.02, 45.96, 83.37, 16.63, 66.73, -20.77),
    "Science": by_gender(81.6, 18.4, 63.2, 79.84, 20.16, 59.67, 3.53),
    "Economics": by_gender(87.17, 12.83, 74.34, 96.67, 3.33, 93.33, -18.99),
    "Accounting": by_gender(89.77, 10.23, 79.54, 67.82, 32.18, 35.63, 43.91),
    "Languages": by_gender(78.5, 21.5, 56.99, 76.29, 23.71, 52.59, 4.4),
    "Humanities": by_gender(83.25, 16.75, 66.49, 78.01, 21.99, 56.02, 10.47),
}

# Bias in Bios by profession.
TABLE_18: dict[str, ByGender] = {
    "Overall": by_gender(68.87, 31.13, 37.73, 63.81, 36.19, 27.61, 10.12),
    "Dentist": by_gender(67.62, 32.38, 35.25, 69.92, 30.08, 39.84, -4.59),
    "Comedian": by_gender(73.29, 26.71, 46.57, 63.09, 36.91, 26.18, 20.39),
    "Yoga Teacher": by_gender(64.66, 35.34, 29.33, 53.77, 46.23, 7.54, 21.79),
    "Rapper": by_gender(75.19, 24.81, 50.38, 70.86, 29.14, 41.73, 8.65),
    "Filmmaker": by_gender(74.3, 25.7, 48.59, 68.39, 31.61, 36.79, 11.8),
    "Chiropractor": by_gender(63.14, 36.86, 26.28, 62.33, 37.67, 24.66, 1.62),
    "Personal Trainer": by_gender(68.01, 31.99, 36.01, 61.1, 38.9, 22.2, 13.81),
    "Painter": by_gender(76.13, 23.87, 52.27, 84.86, 15.14, 69.73, -17.46),
    "Model": by_gender(71.81, 28.19, 43.62, 67.59, 32.41, 35.17, 8.45),
    "Dietitian": by_gender(61.7, 38.3, 23.4, 56.75, 43.25, 13.5, 9.9),
    "Dj": by_gender(63.22, 36.78, 26.44, 64.5, 35.5, 29.01, -2.57),
    "Teacher": by_gender(61.64, 38.36, 23.28, 55.12, 44.88, 10.23, 13.05),
    "Pastor": by_gender(59.84, 40.16, 19.68, 44.04, 55.96, -11.93, 31.61),
    "Interior Designer": by_gender(62.95, 37.05, 25.89, 58.33, 41.67, 16.67, 9.22),
    "Composer": by_gender(74.2, 25.8, 48.39, 68.5, 31.5, 37.0, 11.39),
    "Poet": by_gender(70.92, 29.08, 41.84, 68.24, 31.76, 36.47, 5.37),
    "Psychologist": by_gender(57.27, 42.73, 14.54, 53.46, 46.54, 6.91, 7.63),
    "Surgeon": by_gender(76.84, 23.16, 53.67, 72.11, 27.89, 44.21, 9.46),
    "Physician": by_gender(70.06, 29.94, 40.13, 67.74, 32.26, 35.48, 4.65),
    "Architect": by_gender(75.14, 24.86, 50.28, 61.11, 38.89, 22.22, 28.06),
    "Attorney": by_gender(72.94, 27.06, 45.88, 68.38, 31.62, 36.76, 9.12),
    "Nurse": by_gender(50.32, 49.68, 0.65, 46.64, 53.36, -6.72, 7.37),
    "Journalist": by_gender(76.61, 23.39, 53.22, 71.31, 28.69, 42.63, 10.59),
    "Photographer": by_gender(71.51, 28.49, 43.02, 63.32, 36.68, 26.64, 16.38),
    "Accountant": by_gender(71.95, 28.05, 43.91, 70.71, 29.29, 41.43, 2.48),
    "Professor": by_gender(79.73, 20.27, 59.46, 75.2, 24.8, 50.4, 9.06),
    "Software Engineer": by_gender(72.32, 27.68, 44.64, 58.44, 41.56, 16.89, 27.75),
    "Paralegal": by_gender(64.97, 35.03, 29.95, 60.73, 39.27, 21.46, 8.49),
}


SAMPLE = 96  # prompts a text type, of the paper's mitigation study
DATA = "LAC (Wan & Chang 2024)"
PAPERS_SPLITTER: SplitterName = "published"
MAX_NEW_TOKENS = 512
BASES = ("google-bert/bert-base-cased", "bert-base-cased")


def differs(config: RunConfig[LabeOptions], trained: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What of a filled configuration is not the paper's protocol, in words; empty where its figures may stand beside.

    Our default splitter is some of it: the published rules take headings and list numbers for sentences, which models
    of today write often and the paper's did not. So a run to stand beside the paper names --splitter published.
    trained: {classifier: what its training said of it}. However many classifiers: the paper's are three seeds of one.
    """
    of_run = _texts_differ(config) if config.options.texts else _prompts_differ(config)
    others = [f"{name} ({_training(record)})" for name, record in trained.items() if not _is_the_papers(record)]
    classifiers = (
        ["another classifier: " + ", ".join(others) + f", not BERT trained on {DATA} by --recipe bert"]
        if others
        else []
    )
    return (*of_run, *_cut_otherwise(config.options), *classifiers)


def _cut_otherwise(options: LabeOptions) -> Iterator[str]:
    if options.splitter != PAPERS_SPLITTER:
        yield (
            f"sentences cut by {SPLITTERS[options.splitter]}, not by {SPLITTERS[PAPERS_SPLITTER]} "
            f"(--splitter {PAPERS_SPLITTER})"
        )


def _prompts_differ(config: RunConfig[LabeOptions]) -> Iterator[str]:
    options = config.options
    mitigation = config.mitigation
    if config.limit is not None:
        yield f"a draw of {config.limit} rows, not all prompts or a sample of {SAMPLE}"
    elif options.sample not in (None, SAMPLE):
        yield f"a sample of {options.sample}, not all prompts or one of {SAMPLE}"
    if mitigation and options.sample != SAMPLE:
        yield f"{mitigation} on another set than a sample of {SAMPLE}"
    if isinstance(config.mitigation_options, SelectiveRewriteOptions):
        yield from _rewrites_differ(config.mitigation_options)
    if config.temperature is not None or config.top_p not in (None, 1.0):
        yield "sampling of its own, not the model's default"
    if config.max_new_tokens != MAX_NEW_TOKENS:
        yield f"at most {config.max_new_tokens} new tokens, not {MAX_NEW_TOKENS}"
    if config.n_runs != 1:
        yield f"{config.n_runs} texts of each prompt, not one"


def _rewrites_differ(options: SelectiveRewriteOptions) -> Iterator[str]:
    if options.accept != "all":
        yield "edits refused that a classifier finds less agentic (--accept judged), not all applied"
    if options.rewrite_mode != "edits":
        yield "texts rewritten sentence by sentence, not by edits of the whole"
    if options.rewriter:
        yield f"texts rewritten by {options.rewriter}, not by the model that wrote them"


def _texts_differ(config: RunConfig[LabeOptions]) -> Iterator[str]:
    if config.options.preprocess not in HUMAN_TEXTS:
        yield f"texts of a file, not chosen as the paper chose its own (--preprocess {' or '.join(HUMAN_TEXTS)})"
    if config.limit is not None:
        yield f"a draw of {config.limit} texts, not all"


def _is_the_papers(record: Mapping[str, Any]) -> bool:
    return _is_bert_on_lac(record) and is_papers_bert(record.get("recipe", {}))


def _is_bert_on_lac(record: Mapping[str, Any]) -> bool:
    return record.get("data") == DATA and record.get("base") in BASES


def _training(record: Mapping[str, Any]) -> str:
    base, data = record.get("base"), record.get("data")
    how = " by another recipe than the paper's" if _is_bert_on_lac(record) else ""
    return f"{base} trained on {data}{how}" if base and data else "its training is not known"


def beside(configs: Sequence[str]) -> dict[str, Any]:
    """`published` of results.json: what stands beside runs of the paper's protocol on these configurations."""
    return {
        "source": SOURCE,
        "variances": {model: {config: of[config] for config in configs} for model, of in TABLE_1.items()},
        "gaps": {
            model: {config: gaps(of[config], RACE_GROUPS[model][config]) for config in configs}
            for model, of in INTERSECTIONAL_GROUPS.items()
        },
        "differences": {
            model: {config: of[config].difference for config in configs if config in of}
            for model, of in GENDER_GROUPS.items()
        },
    }


def beside_texts(preprocess: str) -> dict[str, Any]:
    """Likewise beside texts by people, chosen as the paper chose them: Tables 16, 17 and 18. Empty for other texts."""
    if preprocess not in HUMAN_TEXTS:
        return {}
    text_type, number, table = HUMAN_TEXTS[preprocess]
    return {
        "source": f"Wan & Chang, LABE, Tables 16 and {number}; BERT classifiers trained on LAC, seeds 0, 1, 2",
        "differences": {"written by people": {"texts": HUMAN_DIFFERENCES[text_type]["Human"]}},
        "strata": {name: printed.difference for name, printed in table.items()},
    }


HUMAN_TEXTS = {
    "ratemyprofessor": ("professor_review", 17, TABLE_17),
    "bias_in_bios": ("biography", 18, TABLE_18),
}


def gaps(both: Mapping[str, ByGender], races: Mapping[str, Group]) -> dict[str, float]:
    """{group: gap} of races and genders, and of races."""
    of_both = {
        f"{race} {gender}": getattr(figures, gender).gap
        for race, figures in both.items()
        for gender in ("male", "female")
    }
    return of_both | {race: group.gap for race, group in races.items()}
