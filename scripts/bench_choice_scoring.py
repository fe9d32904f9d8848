"""Measure how fast choices are scored: evenhand, padded batches, and lm-evaluation-harness.

All score the options of the same contact_hypothesis prompts with the same weights, dtype and cores, with the paper's
system prompt and a short one, in float32 and bfloat16:

- evenhand: TransformersModel.answer, which shares prefixes, in calls as large as the runner's
- naive: padded batches of 16, sorted by length, each option in a row of its own, nothing shared
- lm_eval: HFLM.loglikelihood, batch size 16; options of a prompt that differ in their last token only share a row.
  It is installed by make .venv-bench/.installed: run this script with .venv-bench/bin/python

Rivals, which share nothing between prompts, read one prompt of --every. The bound is the speed of reading each distinct
token once, at as many tokens a second as the naive engine reads.
"""

import argparse
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import metadata, util

import numpy as np
from bench import Line, bench_parser, per_second, run_bench, time_rounds

from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import run_config
from evenhand.flow.rows import drawn_rows
from evenhand.models.prefix_tree import distinct_tokens
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request
from evenhand.models.transformers_model import TransformersModel

DTYPES, SYSTEMS, RIVALS = ("float32", "bfloat16"), ("paper", "short"), ("naive", "lm_eval")
SHORT_SYSTEM_PROMPT = "You are a helpful assistant."
BATCH_SIZE = 16

LogProbs = list[list[float]]  # of each option of each request, summed over its tokens, in nats
Score = Callable[[Sequence[Request]], LogProbs]


def make_requests(options: argparse.Namespace, system: str) -> list[Request]:
    benchmark = get_benchmark("contact_hypothesis")
    config = benchmark.configuring.filled(run_config("contact_hypothesis", options.model, limit=options.rows))
    rows = drawn_rows(benchmark, config).rows
    requests = [request for row in rows for request in benchmark.ask(row, config.asking())]
    if system == "short":
        short = Message("system", SHORT_SYSTEM_PROMPT)
        requests = [replace(request, messages=(short, *request.messages[1:])) for request in requests]
    return list(dict.fromkeys(requests))  # the runner asks nothing twice


class EvenhandScorer:
    def __init__(self, model: TransformersModel):
        self.model, self.name = model, f"evenhand {metadata.version('evenhand')}"

    def __call__(self, requests: Sequence[Request]) -> LogProbs:
        if self.model.kept_prompts:
            self.model.kept_prompts.forget()
        size = self.model.at_once("choose")
        calls = (requests[start : start + size] for start in range(0, len(requests), size))
        answers = (reply for call in calls for reply in replies(self.model, call))
        return [[sum(tokens) for tokens in reply.choice_log_probs] for reply in answers]


class NaiveScorer:
    def __init__(self, model: TransformersModel):
        arguments = (model.tokenizer, model.identity, model.context)
        self.model = TransformersModel(lambda: model.model, *arguments, batch_size=BATCH_SIZE, scoring="padded")
        self.name = f"padded batches, transformers {metadata.version('transformers')}"

    def __call__(self, requests: Sequence[Request]) -> LogProbs:
        """Options of one call may share a row, so that each call brings one option of every request."""
        options = zip(*(request.choices for request in requests))
        calls = [[replace(request, choices=(each,)) for request, each in zip(requests, option)] for option in options]
        answers = zip(*(replies(self.model, call) for call in calls))
        return [[sum(reply.choice_log_probs[0]) for reply in row] for row in answers]


class HarnessScorer:
    def __init__(self, model: TransformersModel):
        from lm_eval.models.huggingface import HFLM

        logging.getLogger("lm_eval").setLevel(logging.ERROR)
        self.tokenizer, self.name = model.tokenizer, f"lm_eval {metadata.version('lm_eval')}"
        self.layout = model.reader.layout
        bos = self.layout.lay_out((Message("user", "Yes or no?"),)).special_tokens
        self.harness = HFLM(model.model, tokenizer=self.tokenizer, batch_size=BATCH_SIZE, add_bos_token=bos)

    def __call__(self, requests: Sequence[Request]) -> LogProbs:
        pairs = []
        for request in requests:
            prompt = self.layout.lay_out(request.messages, answered=True)
            wholes = [prompt.with_choice(choice) for choice in request.choices]
            pairs += [(prompt.text, whole.removeprefix(prompt.text)) for whole in wholes]
        found = self.log_probs(pairs)
        return [[next(found) for _ in request.choices] for request in requests]

    def log_probs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[float]:
        from lm_eval.api.instance import Instance

        instances = [Instance("loglikelihood", {}, pair, i) for i, pair in enumerate(pairs)]
        return (log_prob for log_prob, _ in self.harness.loglikelihood(instances, disable_tqdm=True))

    def score_white_space(self, requests: Sequence[Request]) -> LogProbs:
        """The harness counts white space at the end of a context to the continuation; a chat header ends in some."""
        texts = [self.layout.lay_out(request.messages, answered=True).text for request in requests]
        spaces = [text[len(text.rstrip()) :] for text in texts]
        found = self.log_probs([(text.rstrip(), space) for text, space in zip(texts, spaces) if space])
        return [[next(found) if space else 0.0] * len(request.choices) for request, space in zip(requests, spaces)]


def measure_cell(options: argparse.Namespace, model: TransformersModel, what: str, system: str) -> Iterator[Line]:
    requests = make_requests(options, system)
    some = requests[:: options.every]
    rows, rows_of_some = model.reader.continuations(requests), model.reader.continuations(some)
    distinct = distinct_tokens([option for row in rows for option in row])
    tokens = sum(len(option.read) for row in rows_of_some for option in row)
    lengths = np.array([[len(option.answer) for option in row] for row in rows_of_some])
    score = EvenhandScorer(model)
    log_probs = np.array(score(requests))[:: options.every]  # warms up, too
    speeds = per_second(len(requests), time_rounds(lambda: score(requests), options.rounds))
    for name in options.rivals:
        if not util.find_spec({"naive": "transformers"}.get(name, name)):
            yield Line(what, "prompts/s", speeds, name, (), "not installed: make .venv-bench/.installed")
            continue
        rival: Score = NaiveScorer(model) if name == "naive" else HarnessScorer(model)
        found = np.array(rival(some))
        seconds = time_rounds(lambda each=rival: each(some), options.rounds)
        if isinstance(rival, HarnessScorer):
            found = found - np.array(rival.score_white_space(some))
        apart = np.abs(found - log_probs).max()
        others = int(((found / lengths).argmax(axis=1) != (log_probs / lengths).argmax(axis=1)).sum())
        remark = f"{apart:.0e} nats apart at most, {others} of {len(some)} winners differ"
        yield Line(what, "prompts/s", speeds, rival.name, per_second(len(some), seconds), remark)
        if name == "naive":
            bound = per_second(tokens * len(requests) / distinct, seconds)
            yield Line(what, "prompts/s", speeds, "bound", bound, f"{distinct:,} distinct tokens")


def measure(options: argparse.Namespace) -> Iterator[Line]:
    for dtype in options.dtypes:
        model = load_model(options.model, dtype=dtype, batch_size=BATCH_SIZE)
        for system in options.systems:
            yield from measure_cell(options, model, f"choices, {system} system prompt, {dtype}", system)


def main() -> None:
    parser = bench_parser(
        __doc__,
        rows=(60, "prompt sets, three prompts each"),
        every=(9, "one prompt of so many, for rivals"),
        rounds=(2, "rounds of timing"),
    )
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES, help="of weights and computing")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="system prompts")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=RIVALS, help="engines to compare with")
    run_bench(parser, measure)


if __name__ == "__main__":
    main()
