"""Which of the paper's figures stand next to a run, and in what a run is not as in the paper.

published.csv has the tables as printed: means over classifier seeds 0, 1 and 2; shares, gaps and differences in percent
and points, variances in squared points. `study`: all prompts ("all"), the 96 prompts a text type of the mitigation
study ("sample", or its mitigation; 12 descriptor combinations, each for every race and gender), and texts by people
(their preprocessing). Table 3's shares are given as gaps, too.

What disagrees in print: under the instruction, Table 2's race variances are Table 22's for ChatGPT only, and its gender
variances for Mistral's and Llama3's professor reviews lie below those of Table 20's mean gaps, which a mean of
variances over seeds cannot. Table 17's overall difference is 1.53, of gaps 1.56 apart; Tables 16 and 19, from which
it is taken here, have 1.86.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evenhand.benchmarks.labe.options import LabeOptions, Preprocess
from evenhand.benchmarks.labe.reading import TEXTS
from evenhand.benchmarks.labe.selective_rewrite import SelectiveRewriteOptions
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import PUBLISHED_FILE, read_published
from evenhand.language_agency.recipes import is_papers_bert
from evenhand.language_agency.sentences import SPLITTERS

if TYPE_CHECKING:
    from evenhand.language_agency.sentences import SplitterName

Config = RunConfig[LabeOptions]

SAMPLE = 96  # prompts a text type, of the paper's mitigation study
DATA = "LAC (Wan & Chang 2024)"
PAPERS_SPLITTER: SplitterName = "published"
MAX_NEW_TOKENS = 512
BASES = ("google-bert/bert-base-cased", "bert-base-cased")
HUMAN_TEXTS = tuple(each for each in get_args(Preprocess) if each != "none")


def published_records(config: Config) -> list[dict[str, Any]]:
    """Return the paper's figures of this study and these text types, of a run that differs in nothing."""
    options = config.options
    study = options.preprocess if options.texts else "all" if options.sample is None else config.mitigation or "sample"
    text_types = (TEXTS,) if options.texts else config.configs
    records = read_published(Path(__file__).with_name(PUBLISHED_FILE), study=study)
    return [
        {name: value for name, value in each.items() if name != "study"}
        for each in records
        if each["text_type"] in text_types
    ]


def differences_from_paper(config: Config, trained: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what of a filled configuration is not the paper's protocol, in words.

    Our default splitter is some of it: the published rules take headings and list numbers for sentences, which models
    of today write often and the paper's did not. So a run to stand next to the paper names --splitter published.
    trained: {classifier: what its training recorded}. However many classifiers: the paper's are three seeds of one.
    """
    of_run = _texts_differ(config) if config.options.texts else _prompts_differ(config)
    splitter = config.options.splitter
    cut = (
        f"sentences cut by {SPLITTERS[splitter]}, not by {SPLITTERS[PAPERS_SPLITTER]} (--splitter {PAPERS_SPLITTER})"
        if splitter != PAPERS_SPLITTER
        else ""
    )
    others = [f"{name} ({why})" for name, record in trained.items() if (why := _why_another_classifier(record))]
    classifiers = f"another classifier: {', '.join(others)}, not BERT trained on {DATA} by --recipe bert"
    return tuple(filter(None, (*of_run, cut, classifiers if others else "")))


def _prompts_differ(config: Config) -> Iterator[str]:
    sample, mitigation = config.options.sample, config.mitigation
    if config.limit is not None:
        yield f"a draw of {config.limit} rows, not all prompts or a sample of {SAMPLE}"
    elif sample not in (None, SAMPLE):
        yield f"a sample of {sample}, not all prompts or one of {SAMPLE}"
    if mitigation and sample != SAMPLE:
        yield f"{mitigation} on another set than a sample of {SAMPLE}"
    chosen = config.mitigation_options
    if isinstance(chosen, SelectiveRewriteOptions):
        if chosen.accept != "all":
            yield "edits refused that a classifier finds less agentic (--accept judged), not all applied"
        if chosen.rewrite_mode != "edits":
            yield "texts rewritten sentence by sentence, not by edits of the whole"
        if chosen.rewriter:
            yield f"texts rewritten by {chosen.rewriter}, not by the model that wrote them"
    if config.temperature is not None or config.top_p not in (None, 1.0):
        yield "sampling of its own, not the model's default"
    if config.max_new_tokens != MAX_NEW_TOKENS:
        yield f"at most {config.max_new_tokens} new tokens, not {MAX_NEW_TOKENS}"
    if config.n_runs != 1:
        yield f"{config.n_runs} texts of each prompt, not one"


def _texts_differ(config: Config) -> Iterator[str]:
    if config.options.preprocess not in HUMAN_TEXTS:
        yield f"texts of a file, not chosen as the paper chose its own (--preprocess {' or '.join(HUMAN_TEXTS)})"
    if config.limit is not None:
        yield f"a draw of {config.limit} texts, not all"


def _why_another_classifier(record: Mapping[str, Any]) -> str:
    """Say how a classifier was trained, where not as the paper's BERT; "" where as that."""
    base, data = record.get("base"), record.get("data")
    if not base or not data:
        return "its training is not known"
    if data != DATA or base not in BASES:
        return f"{base} trained on {data}"
    papers = is_papers_bert(record.get("recipe", {}))
    return "" if papers else f"{base} trained on {data} by another recipe than the paper's"
