"""Engines that score the options of contact_hypothesis prompts, in the environment that has them.

scripts/bench_choice_scoring.py starts it, and says on its standard input, a line each, which engine shall do what next.
All read the same tokens with the same weights:

- evenhand: TransformersModel.answer, which shares prefixes, in calls as large as the runner's
- naive: padded batches of 16, sorted by length, each option in a row of its own, nothing shared
- lm_eval: HFLM.loglikelihood, batch size 16; options of a prompt that differ in their last token only share a row
- vllm: evenhand's backend vllm:NAME, which keeps prefixes and asks one request for each beginning of an answer
- vllm-prompt: the same engine asked for prompt_logprobs, one request an option, as lm-evaluation-harness asks it
- llama.cpp, llama.cpp-q4: what a task's options share is read once; of the model's own GGUF, in this dtype or as it is
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from typing import Any, Literal, TextIO

from benching import threads

from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import run_config
from evenhand.flow.rows import drawn_rows
from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.models.protocol import Model, replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request

System = Literal["paper", "short"]

BATCH_SIZE = 16
WARMING = 8  # prompts before the first round
VLLM_TOKENS = 2048  # of a prompt with its answer at most: it makes room for as many
SHORT_SYSTEM_PROMPT = "You are a helpful assistant."

LogProbs = list[list[float]]  # of each option of each request, summed over its tokens, in nats
Score = Callable[[Sequence[Request]], LogProbs]


def nothing() -> None:
    """There is nothing to forget."""


@dataclass(frozen=True)
class Engine:
    """name: with its version. extra: what its log-probabilities count besides the options, asked outside the timing.

    forget: what a former round left, for engines that keep all they read. found: by the last round.
    """

    name: str
    model: Model
    score: Score
    extra: Score | None = None
    forget: Callable[[], None] = nothing
    found: LogProbs = field(default_factory=list)

    def continuations(self, requests: Sequence[Request]) -> list[list[Continuation]]:
        """Each request's options as tokens, as the model reads them. Raises the first request's Unanswerable."""
        outcomes = self.model.reader.continuations(requests)
        for outcome in outcomes:
            if isinstance(outcome, Unanswerable):
                raise outcome
        return outcomes


@cache
def local_model(name: str, dtype: str) -> Model:
    """Of one process: its engines read the same weights."""
    return load_model(name, dtype=dtype, batch_size=BATCH_SIZE)


def evenhand_engine(name: str, dtype: str) -> Engine:
    model = local_model(name, dtype)
    kept = model.kept_prompts.forget if model.kept_prompts else nothing
    by = f"evenhand {metadata.version('evenhand')}"
    return Engine(by, model, lambda requests: scored(model, requests), forget=kept)


def scored(model: Model, requests: Sequence[Request]) -> LogProbs:
    at_once = model.at_once("choose")
    calls = [requests[start : start + at_once] for start in range(0, len(requests), at_once)]
    answers = [reply for call in calls for reply in replies(model, call)]
    return [[sum(tokens) for tokens in reply.choice_log_probs] for reply in answers]


def naive_engine(name: str, dtype: str) -> Engine:
    from evenhand.models.transformers_model import TransformersModel

    loaded = local_model(name, dtype)
    padded = TransformersModel(
        lambda: loaded.model, loaded.tokenizer, loaded.identity, loaded.context, batch_size=BATCH_SIZE, scoring="padded"
    )

    def score(requests: Sequence[Request]) -> LogProbs:
        """Options of one call may share a row, so that each call brings one option of every request."""
        options = zip(*(request.choices for request in requests))
        calls = [[replace(request, choices=(each,)) for request, each in zip(requests, option)] for option in options]
        answers = zip(*(replies(padded, call) for call in calls))
        return [[sum(reply.choice_log_probs[0]) for reply in row] for row in answers]

    return Engine(f"padded batches, transformers {metadata.version('transformers')}", padded, score)


def harness_engine(name: str, dtype: str) -> Engine:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from evenhand.models.layout import lay_out

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    model = local_model(name, dtype)

    @cache
    def harness(special_tokens: bool) -> HFLM:
        return HFLM(model.model, tokenizer=model.tokenizer, batch_size=BATCH_SIZE, add_bos_token=special_tokens)

    def log_probs(pairs: Sequence[tuple[str, str]], requests: Sequence[Request]) -> Iterator[float]:
        special_tokens = lay_out(model.tokenizer, requests[0].messages).special_tokens
        instances = [Instance("loglikelihood", {}, pair, i) for i, pair in enumerate(pairs)]
        scores = harness(special_tokens).loglikelihood(instances, disable_tqdm=True)
        return (log_prob for log_prob, _ in scores)

    def score(requests: Sequence[Request]) -> LogProbs:
        pairs = []
        for request in requests:
            prompt = lay_out(model.tokenizer, request.messages)
            wholes = [prompt.with_choice(choice) for choice in request.choices]
            pairs += [(prompt.text, whole.removeprefix(prompt.text)) for whole in wholes]
        found = log_probs(pairs, requests)
        return [[next(found) for _ in request.choices] for request in requests]

    def white_space(requests: Sequence[Request]) -> LogProbs:
        """The harness counts white space at the end of a context to the continuation; a chat header ends in some."""
        texts = [lay_out(model.tokenizer, request.messages).text for request in requests]
        spaces = [text[len(text.rstrip()) :] for text in texts]
        found = log_probs([(text.rstrip(), space) for text, space in zip(texts, spaces) if space], requests)
        return [[next(found) if space else 0.0] * len(request.choices) for request, space in zip(requests, spaces)]

    return Engine(f"lm_eval {metadata.version('lm_eval')}", model, score, extra=white_space)


@cache
def vllm_model(name: str, dtype: str) -> Model:
    # Of its own accord it would leave one of the cores to its scheduler.
    cores = sorted(os.sched_getaffinity(0))[: threads()]
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", ",".join(map(str, cores)))
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB: 23,000 tokens of the embedded model in float32
    return load_model(f"vllm:{name}", dtype=dtype, options={"max_model_len": str(VLLM_TOKENS)})


def forget(model: Model) -> None:
    """All that vLLM read before: each round finds it as a run would."""
    engine = model.engine
    asyncio.run_coroutine_threadsafe(engine._engine.reset_prefix_cache(), engine._loop).result()


def vllm_version() -> str:
    return f"vLLM {metadata.version(metadata.packages_distributions()['vllm'][0])}"  # of vllm, or of vllm-cpu


def vllm_engine(name: str, dtype: str) -> Engine:
    model = vllm_model(name, dtype)
    by = f"{vllm_version()}, by evenhand's backend"
    return Engine(by, model, lambda requests: scored(model, requests), forget=lambda: forget(model))


def vllm_prompt_engine(name: str, dtype: str) -> Engine:
    from vllm import SamplingParams

    from evenhand.models.vllm_engine import Asked

    model = vllm_model(name, dtype)
    sampling = SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False)

    def score(requests: Sequence[Request]) -> LogProbs:
        asked = []
        for place, row in enumerate(engine.continuations(requests)):
            for n, option in enumerate(row):
                asked.append(Asked((place, n), {"prompt_token_ids": [*option.prompt, *option.answer]}, sampling))
        found = [[0.0] * len(request.choices) for request in requests]
        for (place, n), output in model.engine.outputs(asked):
            if isinstance(output, Unanswerable):
                raise output
            answer = engine.continuations([requests[place]])[0][n].answer
            steps = output.prompt_logprobs[-len(answer) :]
            found[place][n] = sum(step[token].logprob for step, token in zip(steps, answer))
        return found

    engine = Engine(f"{vllm_version()}, prompt_logprobs", model, score, forget=lambda: forget(model))
    return engine


def llama_cpp_engine(name: str, dtype: str, weights: str = "") -> Engine:
    """weights: "own" reads the model's own GGUF, else its weights in this dtype."""
    from llama_cpp_scoring import LlamaCpp, gguf_of

    model = local_model(name, dtype)
    llama = LlamaCpp(gguf_of(name, weights or dtype), weights or dtype)

    def score(requests: Sequence[Request]) -> LogProbs:
        return llama.scored(engine.continuations(requests))

    engine = Engine(f"{llama.version}{', own Q4_1 weights' if weights else ''}", model, score)
    return engine


def llama_cpp_own_engine(name: str, dtype: str) -> Engine:
    return llama_cpp_engine(name, dtype, "own")


ENGINES: dict[str, Callable[[str, str], Engine]] = {
    "evenhand": evenhand_engine,
    "naive": naive_engine,
    "lm_eval": harness_engine,
    "vllm": vllm_engine,
    "vllm-prompt": vllm_prompt_engine,
    "llama.cpp": llama_cpp_engine,
    "llama.cpp-q4": llama_cpp_own_engine,
}


@cache
def contact_requests(model: str, n_rows: int, system: System) -> tuple[Request, ...]:
    benchmark = get_benchmark("contact_hypothesis")
    config = benchmark.configuring.filled(run_config("contact_hypothesis", model, limit=n_rows))
    rows = drawn_rows(benchmark, config).rows
    requests = [request for row in rows for request in benchmark.ask(row, config.asking())]
    if system == "short":
        short = Message("system", SHORT_SYSTEM_PROMPT)
        requests = [replace(request, messages=(short, *request.messages[1:])) for request in requests]
    return tuple(dict.fromkeys(requests))  # the runner asks nothing twice


def done(engine: Engine, what: str, requests: Sequence[Request]) -> dict[str, Any]:
    """warm: some are read. round: seconds. results: the last log-probabilities, and how many tokens there are."""
    if what == "warm":
        engine.score(requests[:: max(1, len(requests) // WARMING)])
        return {"name": engine.name}
    if what == "round":
        engine.forget()
        engine.score(requests[-1:])  # what it keeps between calls is of another prompt than the first
        start = time.perf_counter()
        engine.found[:] = engine.score(requests)
        return {"seconds": time.perf_counter() - start, "prompts": len(requests)}
    extra = engine.extra(requests) if engine.extra else [[0.0] * len(request.choices) for request in requests]
    rows = engine.continuations(requests)
    options = [option for row in rows for option in row]
    return {
        "log_probs": [[a - b for a, b in zip(one, other)] for one, other in zip(engine.found, extra)],
        "lengths": [[len(option.answer) for option in row] for row in rows],
        "tokens": sum(len(option.read) for option in options),
        "distinct": distinct_tokens(options),
    }


def answers_only() -> TextIO:
    """Standard output as it was, on which nobody else writes from now on: what engines print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--rows", type=whole(), default=60, help="prompt sets, three prompts each")
    given = parser.parse_args()
    answers = answers_only()
    engine = cache(lambda key: ENGINES[key](given.model, given.dtype))
    for line in sys.stdin:
        key, what, system, every = line.split()
        requests = contact_requests(given.model, given.rows, system)[:: int(every)]
        try:
            answer = done(engine(key), what, requests)
        except Exception as error:  # of any engine: the others go on
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
