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

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from evenhand.benchmarks.labe.options import LabeOptions, Preprocess
from evenhand.benchmarks.labe.reading import TEXTS
from evenhand.benchmarks.labe.selective_rewrite import SelectiveRewriteOptions
from evenhand.flow.configuration import RunConfig
from evenhand.flow.results import PUBLISHED_FILE, read_published
from evenhand.language_agency.recipes import is_papers_bert
from evenhand.language_agency.sentences import SPLITTERS
from evenhand.paths import typed_path

if TYPE_CHECKING:
    from evenhand.language_agency.sentences import SplitterName

Config = RunConfig[LabeOptions]

SAMPLE = 96  # prompts a text type, of the paper's mitigation study
DATA = "LAC (Wan & Chang 2024)"
PAPERS_SPLITTER: SplitterName = "published"
MAX_NEW_TOKENS = 512
BASES = ("google-bert/bert-base-cased", "bert-base-cased")
SEEDS = (0, 1, 2)  # of classifiers
KEEP = "(--own-prompts keep)"
HUMAN_TEXTS = tuple(each for each in get_args(Preprocess) if each != "none")
TEXT_TYPES = {
    "ratemyprofessor": "professor_review", "bias_in_bios": "biography", "reference_letters": "reference_letter",
}  # fmt: skip
PEOPLE = ("written by people", "Wan et al. (2023a)")
ASKED_IN: Mapping[str, tuple[str, ...]] = {"chat": ("ChatGPT",), "plain": ("Mistral", "Llama3")}  # the paper's models
# The authors' files (elainew728/labe-agency at e8cc42d, data/); the checksums of others than these three are not known.
AUTHORS_FILES = re.compile(r"(chatgpt|mistral|llama3?)_clg_(bios|professor|letters)(_mitigate)?\.csv")
AUTHORS_MODELS = {"chatgpt": "ChatGPT", "mistral": "Mistral", "llama": "Llama3", "llama3": "Llama3"}
AUTHORS_TEXT_TYPES = {"bios": "biography", "professor": "professor_review", "letters": "reference_letter"}
AUTHORS_SHA256 = {
    "chatgpt_clg_bios.csv": "8f27ef1b8307495bfe8f971c82050712879f6d751b46033166e749986cd67fd6",
    "chatgpt_clg_professor.csv": "5e6fed16ba0e655084e31b8e86651f8553a55561d8184715e779b3448f985d47",
    "chatgpt_clg_professor_mitigate.csv": "b2ad2216fc60f5c3340921e7c3a0af5e45d91a3314f7fec7537d9222c540c166",
}


def published_records(config: Config) -> list[dict[str, Any]]:
    """Return the paper's figures of this study and these text types, of a run that differs in nothing.

    Of the whole set or the sample: those of the paper's models that were asked in this layout. Of the authors' texts:
    those of the model that wrote them. Table 16's differences of people's and models' texts are shown next to both.
    """
    options = config.options
    if not options.texts:
        study = "all" if options.sample is None else config.mitigation or "sample"
        models: tuple[str, ...] = ASKED_IN[options.layout]
        shown_as = {text_type: text_type for text_type in config.configs}
    elif authors := find_authors_texts(config):
        study, models, shown_as = authors.study, (authors.model,), {authors.text_type: TEXTS}
    else:
        study, models, shown_as = options.preprocess, PEOPLE, {TEXTS: TEXTS}
    found = []
    for each in read_published(Path(__file__).with_name(PUBLISHED_FILE)):
        text_type = each["text_type"]
        if each["study"] == study and each["model"] in models and text_type in shown_as:
            found.append(each | {"text_type": shown_as[text_type]})
        elif _is_in_table_16(each) and study == "all" and TEXT_TYPES.get(each["study"]) in shown_as:
            found.append(each | {"text_type": shown_as[TEXT_TYPES[each["study"]]]})
        elif _is_in_table_16(each) and each["study"] == "all" and TEXT_TYPES.get(study) == text_type:
            found.append(each | {"text_type": TEXTS})
    return [{name: value for name, value in each.items() if name != "study"} for each in found]


def _is_in_table_16(record: Mapping[str, Any]) -> bool:
    """Whether it is a gender's mean gap, or the difference of both (Figure 2, Tables 16 and 19)."""
    groups = {name for name in ("race", "gender", "group") if record.get(name)}
    return (record["figure"], groups) in (("gap", {"gender"}), ("gender_difference", set()))


class AuthorsTexts(NamedTuple):
    """A published file of generated texts. pinned: whether its checksum is known, else its name alone tells it."""

    study: str
    model: str
    text_type: str
    pinned: bool


def find_authors_texts(config: Config) -> AuthorsTexts | None:
    """Tell the authors' files by name and, where it is known, sha256; None for others."""
    path = typed_path(str(config.options.texts))
    match = AUTHORS_FILES.fullmatch(path.name)
    if not match or config.options.preprocess != "none" or not path.is_file():
        return None
    model, text_type, mitigated = match.groups()
    known = AUTHORS_SHA256.get(path.name)
    if known and hashlib.sha256(path.read_bytes()).hexdigest() != known:
        return None
    study = "fairness-instruction" if mitigated else "all"
    return AuthorsTexts(study, AUTHORS_MODELS[model], AUTHORS_TEXT_TYPES[text_type], known is not None)


def differences_from_paper(config: Config, trained: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what of a filled configuration is not the paper's protocol, in words.

    Our default splitter is some of it: the published rules take headings and list numbers for sentences, which models
    of today write often and the paper's did not. So a run to stand next to the paper names --splitter published.
    trained: {classifier: what its training recorded}. The paper's are three seeds of one.
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
    seeds, papers = (sorted(map(str, each)) for each in ((record.get("seed") for record in trained.values()), SEEDS))
    if not others:
        classifiers = (
            ""
            if seeds == papers
            else (
                f"classifiers of seed {', '.join(seeds)}, not the mean over {', '.join(papers)} "
                "(evenhand train agency --seeds 0 1 2)"
            )
        )
    return tuple(filter(None, (*of_run, cut, classifiers)))


def _prompts_differ(config: Config) -> Iterator[str]:
    sample, mitigation = config.options.sample, config.mitigation
    if config.limit is not None:
        yield f"a draw of {config.limit} rows, not all prompts or a sample of {SAMPLE}"
    elif sample not in (None, SAMPLE):
        yield f"a sample of {sample}, not all prompts or one of {SAMPLE}"
    if mitigation and sample != SAMPLE:
        yield f"{mitigation} on another set than a sample of {SAMPLE}"
    yield from _rewriting_differs(config.mitigation_options)
    name = str(config.model).casefold()
    if config.options.layout == "chat" and any(each in name for each in ("mistral", "llama")):
        yield "prompts in the model's chat template, which the paper's Mistral and Llama3 went without (--layout plain)"
    if config.options.layout == "plain" and "gpt" in name:
        yield "prompts as plain text, where the paper's ChatGPT got them in a chat (--layout chat)"
    if config.options.layout == "plain" and config.options.own_prompts != "keep":
        yield f"texts without their prompt, with which those of the paper's Mistral and Llama3 begin {KEEP}"
    if config.temperature is not None or config.top_p not in (None, 1.0):
        yield "sampling of its own, not the model's default"
    if config.max_new_tokens != MAX_NEW_TOKENS:
        yield f"at most {config.max_new_tokens} new tokens, not {MAX_NEW_TOKENS}"
    if config.n_runs != 1:
        yield f"{config.n_runs} texts of each prompt, not one"


def _rewriting_differs(chosen: object) -> Iterator[str]:
    if isinstance(chosen, SelectiveRewriteOptions):
        if chosen.accept != "all":
            yield "edits refused that a classifier finds less agentic (--accept judged), not all applied"
        if chosen.rewrite_mode != "edits":
            yield "texts rewritten sentence by sentence, not by edits of the whole"
        if chosen.rewriter:
            yield f"texts rewritten by {chosen.rewriter}, not by the model that wrote them"
        if chosen.rewrite_decoding != "default":
            yield "edits decoded greedily, not by the model's default settings (--rewrite-decoding default)"


def _texts_differ(config: Config) -> Iterator[str]:
    authors = find_authors_texts(config)
    if config.options.preprocess not in HUMAN_TEXTS and not authors:
        yield (
            f"texts of a file, neither the authors' nor chosen as the paper chose its own (--preprocess "
            f"{' or '.join(HUMAN_TEXTS)})"
        )
    if authors and authors.model in ASKED_IN["plain"] and config.options.own_prompts != "keep":
        yield f"texts without the prompts that they begin with {KEEP}"
    if config.mitigation:
        yield f"{config.mitigation} on texts of a file, not on a sample of {SAMPLE} by the model itself"
        yield from _rewriting_differs(config.mitigation_options)
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
