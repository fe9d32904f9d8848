"""Score the options of contact_hypothesis prompts with one engine, in the environment that has it, and write JSON.

scripts/bench_choice_scoring.py starts it, and says what each engine does.
"""

import argparse
import asyncio
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from bench import threads, time_rounds

from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import run_config
from evenhand.flow.rows import drawn_rows
from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import distinct_tokens
from evenhand.models.protocol import Model, replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request

DTYPES, SYSTEMS = ("float32", "bfloat16"), ("paper", "short")
SHORT_SYSTEM_PROMPT = "You are a helpful assistant."
BATCH_SIZE = 16
WARMING = 8  # prompts before the first round
VLLM_TOKENS = 2048  # of a prompt with its answer at most: it makes room for as many

LogProbs = list[list[float]]  # of each option of each request, summed over its tokens, in nats
Score = Callable[[Sequence[Request]], LogProbs]


@dataclass(frozen=True)
class Engine:
    """A model, and what scores requests with it.

    extra: what its log-probabilities count besides the options; not timed.
    """

    model: Model
    score: Score
    extra: Score | None = None


def score_in_calls(model: Model, requests: Sequence[Request]) -> LogProbs:
    """In calls as large as the runner's."""
    size = model.at_once("choose")
    calls = (requests[start : start + size] for start in range(0, len(requests), size))
    return [[sum(tokens) for tokens in reply.choice_log_probs] for call in calls for reply in replies(model, call)]


def load_evenhand(name: str, dtype: str) -> Engine:
    model = load_model(name, dtype=dtype, batch_size=BATCH_SIZE)

    def score(requests: Sequence[Request]) -> LogProbs:
        if model.kept_prompts:
            model.kept_prompts.forget()
        return score_in_calls(model, requests)

    return Engine(model, score)


def load_naive(name: str, dtype: str) -> Engine:
    from evenhand.models.transformers_model import TransformersModel

    loaded = load_model(name, dtype=dtype, batch_size=BATCH_SIZE)
    padded = TransformersModel(
        lambda: loaded.model, loaded.tokenizer, loaded.identity, loaded.context, batch_size=BATCH_SIZE, scoring="padded"
    )

    def score(requests: Sequence[Request]) -> LogProbs:
        """Options of one call may share a row, so that each call brings one option of every request."""
        options = zip(*(request.choices for request in requests))
        calls = [[replace(request, choices=(each,)) for request, each in zip(requests, option)] for option in options]
        answers = zip(*(replies(padded, call) for call in calls))
        return [[sum(reply.choice_log_probs[0]) for reply in row] for row in answers]

    return Engine(padded, score)


def load_harness(name: str, dtype: str) -> Engine:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from evenhand.models.layout import lay_out

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    model = load_model(name, dtype=dtype, batch_size=BATCH_SIZE)
    special_tokens = lay_out(model.tokenizer, (Message("user", "Yes or no?"),)).special_tokens
    harness = HFLM(model.model, tokenizer=model.tokenizer, batch_size=BATCH_SIZE, add_bos_token=special_tokens)

    def log_probs(pairs: Sequence[tuple[str, str]]) -> Iterator[float]:
        instances = [Instance("loglikelihood", {}, pair, i) for i, pair in enumerate(pairs)]
        return (log_prob for log_prob, _ in harness.loglikelihood(instances, disable_tqdm=True))

    def score(requests: Sequence[Request]) -> LogProbs:
        pairs = []
        for request in requests:
            prompt = lay_out(model.tokenizer, request.messages)
            wholes = [prompt.with_choice(choice) for choice in request.choices]
            pairs += [(prompt.text, whole.removeprefix(prompt.text)) for whole in wholes]
        found = log_probs(pairs)
        return [[next(found) for _ in request.choices] for request in requests]

    def score_white_space(requests: Sequence[Request]) -> LogProbs:
        """The harness counts white space at the end of a context to the continuation; a chat header ends in some."""
        texts = [lay_out(model.tokenizer, request.messages).text for request in requests]
        spaces = [text[len(text.rstrip()) :] for text in texts]
        found = log_probs([(text.rstrip(), space) for text, space in zip(texts, spaces) if space])
        return [[next(found) if space else 0.0] * len(request.choices) for request, space in zip(requests, spaces)]

    return Engine(model, score, score_white_space)


def load_vllm(name: str, dtype: str) -> Engine:
    # By default it would leave one of the cores to its scheduler.
    cores = sorted(os.sched_getaffinity(0))[: threads()]
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", ",".join(map(str, cores)))
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB: 23,000 tokens of the embedded model in float32
    model = load_model(f"vllm:{name}", dtype=dtype, options={"max_model_len": str(VLLM_TOKENS)})

    def score(requests: Sequence[Request]) -> LogProbs:
        """Each round finds it as a run would: nothing is read yet."""
        engine = model.engine
        asyncio.run_coroutine_threadsafe(engine._engine.reset_prefix_cache(), engine._loop).result()
        return score_in_calls(model, requests)

    return Engine(model, score)


LOAD: dict[str, Callable[[str, str], Engine]] = {
    "evenhand": load_evenhand,
    "transformers": load_naive,
    "lm_eval": load_harness,
    "vllm": load_vllm,
}
"""By the module that it needs: (model, dtype) → the engine."""


def make_requests(options: argparse.Namespace, system: str) -> list[Request]:
    benchmark = get_benchmark("contact_hypothesis")
    config = benchmark.filled(run_config("contact_hypothesis", options.model, limit=options.rows))
    rows = drawn_rows(benchmark, config).rows
    requests = [request for row in rows for request in benchmark.ask(row, config.asking())]
    if system == "short":
        short = Message("system", SHORT_SYSTEM_PROMPT)
        requests = [replace(request, messages=(short, *request.messages[1:])) for request in requests]
    return list(dict.fromkeys(requests))  # the runner asks nothing twice


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """By "dtype, system": seconds of each round, prompts, log-probabilities, and tokens of each answer and in all."""
    distribution = metadata.packages_distributions().get(options.module, [options.module])[0]  # of vllm: vllm-cpu
    found: dict[str, Any] = {}
    for dtype in options.dtypes:
        engine = LOAD[options.module](options.model, dtype)
        for system in options.systems:
            requests = make_requests(options, system)[:: options.every]
            engine.score(requests[:: max(1, len(requests) // WARMING)])
            log_probs: LogProbs = []

            def score(
                requests: list[Request] = requests, log_probs: LogProbs = log_probs, score: Score = engine.score
            ) -> None:
                log_probs[:] = score(requests)

            seconds = time_rounds(score, options.rounds)
            extra = engine.extra(requests) if engine.extra else [[0.0] * len(row) for row in log_probs]
            rows = [row for row in engine.model.reader.continuations(requests) if not isinstance(row, Unanswerable)]
            read = [option for row in rows for option in row]
            found[f"{dtype}, {system}"] = {
                "engine": f"{options.module} {metadata.version(distribution)}",
                "seconds": seconds,
                "prompts": len(requests),
                "log_probs": [[a - b for a, b in zip(row, spaces)] for row, spaces in zip(log_probs, extra)],
                "lengths": [[len(option.answer) for option in row] for row in rows],
                "tokens": sum(len(option.read) for option in read),
                "distinct": distinct_tokens(read),
            }
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES, help="of weights and computing")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="system prompts")
    parser.add_argument("--rows", type=whole(), default=60, help="prompt sets, three prompts each")
    parser.add_argument("--every", type=whole(), default=9, help="one prompt of so many, where nothing is shared")
    parser.add_argument("--rounds", type=whole(), default=2, help="of timing")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    add_options(parser)
    parser.add_argument("--module", choices=LOAD, required=True, help="the engine's module")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    options = parser.parse_args()
    options.output.write_text(json.dumps(measure(options)), encoding="utf-8")


if __name__ == "__main__":
    main()
