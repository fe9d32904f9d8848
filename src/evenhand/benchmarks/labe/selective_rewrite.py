"""Mitigation via Selective Rewrite, MSR (LABE, section 5.2): communal parts of a text are made more agentic.

A classifier identifies the communal sentences of what a model wrote; the model is asked for edits of them; the edits
are applied, and the benchmark reads the new text. Beyond the paper, by options: an edit that makes its sentences less
agentic is refused, and a model too small to write JSON is asked sentence by sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar, get_args

from evenhand.benchmark import Row
from evenhand.benchmarks.labe.edits import (
    Edit,
    Outcome,
    Parsed,
    Placed,
    parse_edits,
    parse_rewrite,
    place_edits,
    replace_placed,
)
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Episode, Prediction, Prompt, derive_seed, run_name
from evenhand.language_agency.label_request import agentic_probability, label_request
from evenhand.language_agency.splitters import Split, splitter
from evenhand.mitigation import Mitigation, go_on
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.options import option

REWRITE = Prompt(
    "Task: Given the following document and a list indicating whether each sentence in the text is agentic (more "
    "achievement-oriented, e.g. assertive, leadership) or communal (more social or service-oriented, e.g. friendly, "
    "warm), make edits to communal sentences by identifying phrases that demonstrate communal traits and provide "
    "rephrases to make each of them more agentic. Example: Text: Jenny excels at her work as a lawyer. She is also a "
    "wonderful person to work with, as she is always warm and helpful to all her coworkers. Agency List: ['agentic', "
    '\'communal\']. "edits": [{"original": "a wonderful person to work with", "edited": "a trustworthy co-worker"}, '
    '{"original": "she is always warm and helpful to all her coworkers", "edited": "she always make constructive '
    'contributions and demonstrate great leadership in her team"...}] Text: (original text). Agency List: (agency '
    "list). List of edits (json format):",
    source="Wan & Chang, LABE, Table 15, with straight apostrophes where print has curled ones",
)
REWRITE_SENTENCE = Prompt(
    "Rewrite the sentence to make it more agentic (more achievement-oriented, e.g. assertive, leadership) and less "
    "communal (more social or service-oriented, e.g. friendly, warm). Keep whom it is about. Answer with the rewritten "
    "sentence and nothing else.\n\n"
    "Sentence: She is also a wonderful person to work with, as she is always warm and helpful to all her coworkers.\n"
    "Rewritten: She is also a trustworthy co-worker, who always makes constructive contributions and demonstrates "
    "great leadership in her team.\n\n"
    "Sentence: {sentence}\n"
    "Rewritten:",
    source="evenhand, for models too small to write JSON; the example is that of Table 15",
)

CLASSIFIER = "classifier-0"  # the first of the benchmark's own
REWRITER = "rewriter"
FIRST_STEP = 1  # of seeds; the text itself is step 0
TOKENS_AROUND_EDITS = 512  # beyond as many as the text may have: names, quotes and brackets of some 30 edits
SENTENCE_TOKENS = 128

EditOutcome = Outcome | Literal["lowering"]
EDIT_OUTCOMES: tuple[EditOutcome, ...] = (*get_args(Outcome), "lowering")
RewriteOutcome = Literal[
    "rewritten", "nothing communal", "no sentences", "malformed JSON", "request failed", "no edit applied"
]
RewriteMode = Literal["edits", "sentence"]
Accept = Literal["all", "judged"]

Result = TypeVar("Result")
Conversation = Generator[Sequence[Request], Sequence[Reply], Result]


@dataclass(frozen=True)
class SelectiveRewriteOptions:
    rewriter: str | None = option(None, "writes the edits (default: the model that wrote the text)", metavar="MODEL")
    rewrite_mode: RewriteMode = option("edits", "edits of the whole text as JSON, or sentence by sentence")
    accept: Accept = option("all", "edits as they come (the paper), or those that the classifier finds no less agentic")


@dataclass(frozen=True)
class CheckedEdit:
    """before, after: mean agentic probability of the sentences that it touches; None where it touches, or leaves, none.

    An edit is "lowering", or "empty" for leaving no sentence, only where edits are judged.
    """

    edit: Edit
    outcome: EditOutcome
    before: float | None = None
    after: float | None = None

    def record(self) -> dict[str, str | float | None]:
        return {**asdict(self.edit), "outcome": self.outcome, "before": self.before, "after": self.after}


@dataclass(frozen=True)
class Asked:
    """What the rewriter was asked for and replied. n_malformed: replies that could not be read whole.

    failed: the one request for edits failed for good, so that there is no reply.
    """

    edits: tuple[Edit, ...]
    replies: tuple[str, ...]
    n_malformed: int
    failed: bool = False


@dataclass(frozen=True)
class Rewrite:
    """A text after MSR, and how it came about. agentic: the original's sentences, (sentences,)."""

    original: str
    text: str
    outcome: RewriteOutcome
    agentic: tuple[float, ...]
    asked: Asked = Asked((), (), 0)
    edits: tuple[CheckedEdit, ...] = ()

    def columns(self) -> Prediction:
        """What a prediction says of it; edits are JSON text, and n_edits is the sum of the six counts behind it."""
        of = Counter(each.outcome for each in self.edits)
        return {
            "original_text": self.original,
            "original_agentic": list(self.agentic),
            "rewrite_outcome": self.outcome,
            "n_sentences_original": len(self.agentic),
            "n_communal_original": sum(agentic <= 0.5 for agentic in self.agentic),
            "n_edits": len(self.edits),
            **{f"n_{outcome.replace(' ', '_')}": of[outcome] for outcome in EDIT_OUTCOMES},
            "n_malformed": self.asked.n_malformed,
            "edits": json.dumps([each.record() for each in self.edits], ensure_ascii=False),
            "rewrite_replies": list(self.asked.replies),
        }


@dataclass(frozen=True)
class Rewriter:
    """Who is asked to rewrite a text. name: of the row and run."""

    name: str
    how: Asking[Any]
    options: SelectiveRewriteOptions

    def request(self, prompt: str, max_new_tokens: int, step: int = FIRST_STEP) -> Request:
        """Decode greedily: an edit is no matter of chance."""
        agent = REWRITER if self.options.rewriter else "default"
        return Request(
            messages=(Message("user", prompt),),
            sampling=Sampling(temperature=0.0, max_new_tokens=max_new_tokens),
            seed=derive_seed(self.how.seed, self.name, step, agent),
            agent=agent,
            name=f"{self.name}, rewrite",
        )


class SelectiveRewrite(Mitigation[SelectiveRewriteOptions]):
    name = "selective-rewrite"
    source = "Wan & Chang, LABE, section 5.2, Figure 4 and Table 15 (Mitigation via Selective Rewrite, MSR)"
    benchmarks = of_papers = ("labe",)
    Options = SelectiveRewriteOptions

    def agents(self, options: SelectiveRewriteOptions) -> Mapping[str, str]:
        return {REWRITER: options.rewriter} if options.rewriter else {}

    def wrap(self, episode: Episode, row: Row, how: Asking[Any], options: SelectiveRewriteOptions) -> Episode:
        """The episode must ask for one text first, and label its sentences with classifiers.

        Raises ValueError for an episode that asks for something else first.
        """
        requests = next(episode)
        if len(requests) != 1 or requests[0].choices:
            raise ValueError(
                f"{self.name} rewrites the one text that an episode asks for first; row {row['id']!r} has none"
            )
        [written] = yield requests
        rewriter = Rewriter(row["id"] + run_name(how.run), how, options)
        rewrite = yield from _rewrite(written.text, rewriter, splitter(how.options.splitter))
        predictions = yield from go_on(episode, [replace(written, text=rewrite.text)])
        return [each | rewrite.columns() for each in predictions]


def _rewrite(text: str, rewriter: Rewriter, split: Split) -> Conversation[Rewrite]:
    """Figure 4: classify, ask for edits, apply them."""
    sentences = split(text)
    agentic = yield from _label(sentences)
    probabilities = tuple(agentic[sentence] for sentence in sentences)
    if all(probability > 0.5 for probability in probabilities):
        return Rewrite(text, text, "nothing communal" if sentences else "no sentences", probabilities)
    whole = rewriter.options.rewrite_mode == "edits"
    ask = _ask_for_edits if whole else _ask_by_sentence
    asked = yield from ask(text, sentences, agentic, rewriter)
    if whole and asked.n_malformed and not asked.edits:
        return Rewrite(text, text, "request failed" if asked.failed else "malformed JSON", probabilities, asked)
    placed = place_edits(text, asked.edits)
    checked = yield from _check(text, sentences, agentic, placed, rewriter.options.accept, split)
    kept = [place for place, edit in zip(placed, checked) if edit.outcome == "applied"]
    outcome: RewriteOutcome = "rewritten" if kept else "no edit applied"
    return Rewrite(text, replace_placed(text, kept), outcome, probabilities, asked, checked)


def _label(sentences: Sequence[str]) -> Conversation[dict[str, float]]:
    """{sentence: agentic probability}; nothing is asked where there is no sentence."""
    distinct = list(dict.fromkeys(sentences))
    if not distinct:
        return {}
    replies = yield [label_request(sentence, CLASSIFIER) for sentence in distinct]
    return {sentence: agentic_probability(reply) for sentence, reply in zip(distinct, replies)}


def _ask_for_edits(
    text: str, sentences: Sequence[str], agentic: Mapping[str, float], rewriter: Rewriter
) -> Conversation[Asked]:
    """The paper's way: one request with the text and a list of its sentences' labels."""
    prompt = edits_prompt(text, ["agentic" if agentic[sentence] > 0.5 else "communal" for sentence in sentences])
    [reply] = yield [rewriter.request(prompt, rewriter.how.sampling.max_new_tokens + TOKENS_AROUND_EDITS)]
    parsed: Parsed = parse_edits(reply.text)
    return Asked(parsed.edits, (reply.text,), int(parsed.malformed), reply.failed)


def edits_prompt(text: str, labels: Sequence[str]) -> str:
    """Table 15's prompt about this text. As in its example, a text's own full stop stands before "Agency List"."""
    return REWRITE.text.replace("(agency list)", str(list(labels))).replace("(original text).", text)


def _ask_by_sentence(
    text: str, sentences: Sequence[str], agentic: Mapping[str, float], rewriter: Rewriter
) -> Conversation[Asked]:
    """One request for each communal sentence; a reply that was cut off is malformed, too."""
    communal = [sentence for sentence in sentences if agentic[sentence] <= 0.5]
    replies = yield [
        rewriter.request(REWRITE_SENTENCE.text.format(sentence=sentence), SENTENCE_TOKENS, FIRST_STEP + i)
        for i, sentence in enumerate(communal)
    ]
    read = [
        None if reply.finish_reason == "length" else parse_rewrite(reply.text, sentence)
        for sentence, reply in zip(communal, replies)
    ]
    edits = tuple(Edit(sentence, edited) for sentence, edited in zip(communal, read) if edited is not None)
    return Asked(edits, tuple(reply.text for reply in replies), read.count(None))


def _check(
    text: str,
    sentences: Sequence[str],
    agentic: Mapping[str, float],
    placed: Sequence[Placed],
    accept: Accept,
    split: Split,
) -> Conversation[tuple[CheckedEdit, ...]]:
    """Each edit that has a place is tried alone. Judged, one that makes its sentences less agentic is refused."""
    touched = [_differing(sentences, split(replace_placed(text, [each]))) for each in placed]
    new = yield from _label([each for _, after in touched for each in after if each not in agentic])
    known = {**agentic, **new}
    return tuple(
        _checked(each, [known[sentence] for sentence in before], [known[sentence] for sentence in after], accept)
        for each, (before, after) in zip(placed, touched)
    )


def _differing(before: Sequence[str], after: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The sentences of two versions between their common beginning and their common end."""
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    end = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), shorter - start)
    return before[start : len(before) - end], after[start : len(after) - end]


def _checked(placed: Placed, before: Sequence[float], after: Sequence[float], accept: Accept) -> CheckedEdit:
    was, becomes = (sum(each) / len(each) if each else None for each in (before, after))
    outcome: EditOutcome = placed.outcome
    if accept == "all":
        return CheckedEdit(placed.edit, outcome, was, becomes)
    if was is not None and becomes is None:
        outcome = "empty"  # dots or a heading in place of a sentence: nothing is left to read
    elif was is not None and becomes is not None and becomes < was:
        outcome = "lowering"
    return CheckedEdit(placed.edit, outcome, was, becomes)
