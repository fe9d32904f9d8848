"""Whole runs on servers that answer in manners of their own: the model's own figures, or a warning."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from evenhand.benchmarks.utility import likeness
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.openai_replies import ReplyReader
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.server_oddities import Oddities
from tests.hostile.faulty_server import Sent, completion, first_option, last_text, serving

LETTER = "Leads the team. She is kind."
HMM = "Okay, the user wants something. He leads and wins awards. Yes or No? Let me think about it. "
SHORT = 24  # --max-new-tokens
EMPTY = completion(None, "tool_calls", tool_calls=[{"type": "function", "function": {"name": "answer"}}])


@pytest.fixture
def serve():
    with serving() as start:
        yield start


@pytest.fixture(autouse=True)
def no_report(monkeypatch):
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)


def run(server, benchmark, folder, **options):
    return evaluate(run_config(benchmark, server.url, **options), folder).read_results()


def figures(results):
    return [row.to_json() for row in results.figures]


def codes(results):
    return {each.code for each in results.warnings}


def some(body):
    """Of a third of all requests."""
    return sum(last_text(body).encode()) % 3 == 0


SAME = {
    "Gemini: parts that are thoughts": lambda text: completion(
        [{"type": "text", "text": HMM, "thought": True}, {"type": "text", "text": text}]
    ),
    "parts of type reasoning_content": lambda text: completion(
        [{"type": "reasoning_content", "reasoning_content": HMM}, {"type": "text", "text": text}]
    ),
    "Cohere: parts of another type": lambda text: completion([{"type": "output_text", "text": text}]),
    "parts without a type": lambda text: completion([{"text": text}]),
    "Anthropic: a thought in a part": lambda text: completion(
        [{"type": "reasoning", "text": HMM}, {"type": "text", "text": text}]
    ),
    "s1": lambda text: completion(f"<|im_start|>think\n{HMM}\n<|im_start|>answer\n{text}"),
    "s1, its special tokens left out": lambda text: completion(f"think\n{HMM}\nanswer\n{text}"),
    "Claude's prompts": lambda text: completion(f"<scratchpad>{HMM}</scratchpad>\n{text}"),
    "HuatuoGPT-o1": lambda text: completion(f"## Thinking\n\n{HMM}\n\n## Final Response\n\n{text}"),
    "Hunyuan": lambda text: completion(f"<think>{HMM}</think><answer>{text}</answer>"),
    "Sky-T1": lambda text: completion(
        f"<|begin_of_thought|>{HMM}<|end_of_thought|>\n<|begin_of_solution|>{text}<|end_of_solution|>"
    ),
    "Granite 3.2": lambda text: completion(f"Here is my thought process:\n{HMM}\n\nHere is my response:\n{text}"),
    "Apriel": lambda text: completion(f"Here are my reasoning steps:\n{HMM}\n[BEGIN FINAL RESPONSE]\n{text}"),
    "Open WebUI": lambda text: completion(f'<details type="reasoning" done="true">\n{HMM}\n</details>\n{text}'),
    "Poe": lambda text: completion(f"*Thinking...*\n\n> {HMM}\n> {HMM}\n\n{text}"),
    "a frame alone": lambda text: completion(f"<|START_RESPONSE|>{text}<|END_RESPONSE|>"),
    "DeepSeek: no end of its turn": lambda text: completion(f"{text}<｜end▁of▁sentence｜>{HMM}"),
    "Llama 2: no end of its turn": lambda text: completion(f"{text} [INST] Another? [/INST] {HMM}"),
    "Alpaca: no end of its turn": lambda text: completion(f"{text}\n\n### Instruction:\n{HMM}"),
    "LongCat": lambda text: completion(f"<longcat_think>{HMM}</longcat_think>\n{text}"),
    "opened by the template": lambda text: completion(f"{HMM}</think>\n\n{text}"),
    "the header of its turn": lambda text: completion(f"assistant\n\n{text}"),
    "no end of its turn": lambda text: completion(
        f"{text}<|im_end|>\n<|im_start|>user\nAnother?<|im_end|>\n<|im_start|>assistant\nNo. {HMM}"
    ),
}


@pytest.mark.parametrize("answer", SAME.values(), ids=SAME)
def test_the_answer_is_read_alone(answer):
    request = Request((Message("user", "Write."),))
    assert ReplyReader(Oddities("tiny")).read(answer(LETTER), request).text == LETTER


def test_figures_are_those_of_a_plain_server(serve, tmp_path):
    """Of letters, in which each sentence counts; each reply comes in another manner."""
    manners = itertools.cycle(SAME.values())
    options = {"limit": 2 * len(SAME), "classifiers": ("lexicon",)}
    plain = run(serve(lambda body: LETTER), "labe", tmp_path / "plain", **options)
    other = run(serve(lambda body: Sent(next(manners)(LETTER))), "labe", tmp_path / "other", **options)
    assert figures(other) == figures(plain)
    assert other.n_read == other.n


WARNED = {
    "Gemini: the limit is used up by a thought that is kept": (completion(None, "length"), "thought_cut_off"),
    "Vertex: another word for the limit": (completion(HMM, "MAX_TOKENS"), "cut_off"),
    "Anthropic: yet another": (completion(HMM, "model_context_window_exceeded"), "cut_off"),
    "a reason that nobody knows": (completion("She is.", "SOMETHING_NEW"), "unknown_finish_reason"),
    "no reason to end": ({"choices": [{"message": {"content": "She is."}, "finish_reason": None}]}, "no_finish_reason"),
    "Perplexity, Poe: the question first": (completion("Write a letter about her. She is."), "echoed_prompt"),
    "always says stop": (completion(HMM, usage={"prompt_tokens": 99, "completion_tokens": SHORT}), "cut_off"),
    "no max_tokens": (completion("Leads on. " * SHORT), "longer_than_asked"),
    "no reason": (completion(""), "empty_replies"),
    "a call of a tool": (EMPTY, "empty_replies"),
    "a prompt that is cut": (completion("She is.", usage={"prompt_tokens": 2, "completion_tokens": 3}), "prompt_cut"),
    "a mark of its own": (completion(f"<|meditate|>{HMM[:40]}"), "unknown_mark"),
    "links alone": (
        completion("She is.\n\n**Sources:**\n1. https://a.example/b\n2. <https://c.example>"),
        "added_links",
    ),
    "a prompt of the gateway's own": (
        completion("She is.", usage={"prompt_tokens": 2400, "completion_tokens": 3}),
        "prompt_added",
    ),
    "a stop text of the server's own": (
        {"choices": [{"message": {"content": "She is."}, "finish_reason": "stop", "stop_reason": "\n\n"}]},
        "other_stop",
    ),
    "an error's text": (completion("Daily limit reached. Upgrade to go on."), "error_texts"),
    "HTML": (completion("She can&#x27;t."), "encoded_texts"),
    "bytes read in another encoding": (completion("She canâ€™t."), "encoded_texts"),
    "parts as a text": (completion('[{"type": "text", "text": "She is."}]'), "encoded_texts"),
    "a footer": (completion("She is.\n---\n1,204 tokens in 3.2 s, $0.0012"), "added_links"),
    "parts sent twice": (
        completion("She is kind. She is kind.", usage={"prompt_tokens": 99, "completion_tokens": 4}),
        "more_words",
    ),
    "another model": ({"model": "some/other", **completion("She is kind.")}, "other_model"),
}


def test_what_may_make_figures_wrong_is_said(serve, tmp_path):
    """Each reply is odd in another way, and each way has its warning."""
    odd = itertools.cycle(answer for answer, _ in WARNED.values())
    server = serve(lambda body: Sent(next(odd)))
    options = {"classifiers": ("lexicon",), "max_new_tokens": SHORT}
    results = run(server, "labe", tmp_path / "run", limit=2 * len(WARNED), **options)
    assert {code for _, code in WARNED.values()} - {"echoed_prompt"} <= codes(results)  # of another question


@pytest.mark.parametrize(("answer", "code"), WARNED.values(), ids=WARNED)
def test_what_is_odd_is_noted(answer, code):
    reader = ReplyReader(Oddities("tiny"))
    reply = reader.read(
        answer, Request((Message("user", "Write a letter about her."),), sampling=Sampling(max_new_tokens=SHORT))
    )
    ends = {"thought": {"thought_cut_off"}, "length": {"cut_off"}}.get(reply.finish_reason, set())
    assert ends | {*reader.oddities.notes} == {code}


@pytest.mark.parametrize(
    "answer",
    [completion(None, "length"), completion(HMM[:60], "length"), completion("", "stop")],
    ids=["kept thought", "open thought", "empty"],
)
def test_facts_that_were_not_answered_are_not_wrong_without_a_word(serve, tmp_path, monkeypatch, answer):
    for name in likeness.LIKENESS:
        monkeypatch.setitem(likeness.LIKENESS, name, lambda replies, answers: None)
    results = run(serve(lambda body: Sent(answer)), "utility", tmp_path / "run", limit=6, configs=("questions",))
    assert codes(results) & {"thought_cut_off", "all_cut_off", "empty_replies"}
    if "thought_cut_off" in codes(results):
        assert results.n_read == 0


def test_a_text_that_broke_off_is_asked_for_again(serve, tmp_path):
    """As DeepSeek says that it lacks resources, and OpenRouter has an error beside a text."""
    broken = [
        completion("Mostly un", "insufficient_system_resource"),
        {"choices": [{"message": {"content": "Mostly un"}, "error": {"code": 502}}]},
    ]
    seen = set()

    def answer(body):
        if last_text(body) in seen:
            return first_option(body)
        seen.add(last_text(body))
        return Sent(broken[len(seen) % 2])

    options = {"limit": 6, "protocol": "generate", "model_options": (("backoff", "0"),)}
    found = run(serve(answer), "contact_hypothesis", tmp_path / "run", **options)
    plain = run(serve(first_option), "contact_hypothesis", tmp_path / "plain", **options)
    assert figures(found) == figures(plain)


def test_a_reply_that_several_requests_get_is_said():
    """As of a cache that takes requests for one another."""
    reader = ReplyReader(Oddities("tiny"))
    for name in ("a", "b"):
        assert "repeated_reply" not in reader.oddities.notes
        reader.read({"id": "1", **completion("She is.")}, Request((Message("user", name),), name=name))
    assert "repeated_reply" in reader.oddities.notes


def written(prompt, reply, *, seed=0, tokens=None):
    """(request, content) of a drawn reply."""
    request = Request(
        (Message("user", prompt),), sampling=Sampling(temperature=0.7), seed=seed, name=f"{prompt} {seed}"
    )
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens, "completion_tokens": 9}}
    return request, completion(reply) | usage


@pytest.mark.parametrize(("same", "noted"), [(3, True), (2, False)])
def test_draws_that_are_none_are_said(same, noted):
    """Of three prompts asked with two seeds each, all are answered twice alike by a server that ignores temperature."""
    reader = ReplyReader(Oddities("tiny"))
    for place in range(3):
        for seed in range(2):
            request, content = written(f"Write {place}.", LETTER * 9 + f" {place} {seed * (place >= same)}", seed=seed)
            reader.read(content, request)
    assert ("same_draws" in reader.oddities.notes) == noted


@pytest.mark.parametrize(("cap", "noted"), [(100, True), (999, False)])
def test_replies_that_are_cut_at_a_number_of_characters_are_said(cap, noted):
    reader = ReplyReader(Oddities("tiny"))
    for words in range(20, 60):
        request, content = written(f"Write {words}.", " ".join(map(str, range(words, 2 * words)))[:cap])
        reader.read(content, request)
    assert ("own_limit" in reader.oddities.notes) == noted


@pytest.mark.parametrize(("cap", "noted"), [(30, True), (99, False)])
def test_replies_that_are_cut_by_the_server_itself_are_said(cap, noted):
    """Replies of 20 to 59 words, of which it gives the first 30, and says that they were finished."""
    reader = ReplyReader(Oddities("tiny"))
    for words in range(20, 60):
        request, content = written(f"Write {words}.", " ".join(map(str, range(words, words + min(cap, words)))))
        reader.read(content, request)
    assert ("own_limit" in reader.oddities.notes) == noted


@pytest.mark.parametrize(
    ("ending", "noted"), [("Try our new model today, at a lower price for you!", True), ("", False)]
)
def test_what_stands_behind_every_reply_is_said(ending, noted):
    reader = ReplyReader(Oddities("tiny"))
    for place in range(12):
        request, content = written(f"Write {place}.", f"{LETTER} {place} {HMM} {place} {ending}")
        reader.read(content, request)
    assert ("same_ending" in reader.oddities.notes) == noted


def test_many_threads_may_read_at_the_same_time():
    """Each of 16 threads reads long texts, no two of which begin or end alike."""
    reader = ReplyReader(Oddities("tiny"))

    def read(place):
        request, content = written(f"Write {place}.", f"{place} {LETTER} {HMM} {place}")
        return reader.read(content, request).text

    with ThreadPoolExecutor(16) as threads:
        texts = [*threads.map(read, range(400))]
    assert [text.split()[0] for text in texts] == [str(place) for place in range(400)]
    assert not {"same_ending", "same_beginning"} & {*reader.oddities.notes}


def test_thoughts_of_a_model_that_should_not_think_are_said():
    for off in (True, False):
        reader = ReplyReader(Oddities("tiny", no_thoughts=off))
        reader.read(completion(f"<think>{HMM}</think>She is."), Request((Message("user", "Write."),)))
        assert ("thinks_all_the_same" in reader.oddities.notes) == off


@pytest.mark.parametrize(("text", "noted"), [("She is.", True), ('{"answer": "Yes"}', False)])
def test_a_schema_that_is_ignored_is_said(text, noted):
    reader = ReplyReader(Oddities("tiny"))
    reader.read(completion(text), Request((Message("user", "Write."),), schema='{"type": "object"}'))
    assert ("schema_ignored" in reader.oddities.notes) == noted


@pytest.mark.parametrize(("most", "noted"), [(1000, True), (2000, False)])
def test_prompts_that_are_cut_at_one_length_are_said(most, noted):
    """A server with a context of 1,000 tokens, one a word, among prompts of 200 to 1,400 words."""
    reader = ReplyReader(Oddities("tiny"))
    for words in range(200, 1401, 100):
        request, content = written("I " * words, "She is.", tokens=min(most, words))
        reader.read(content, request)
    assert ("prompt_cut" in reader.oddities.notes) == noted


def test_facts_that_were_cut_off_are_named(serve, tmp_path, monkeypatch):
    """Half of the replies, whose first ones are whole."""
    for name in likeness.LIKENESS:
        monkeypatch.setitem(likeness.LIKENESS, name, lambda replies, answers: None)
    odd = itertools.cycle([completion("It is so."), completion("It is", "length")])
    results = run(serve(lambda body: Sent(next(odd))), "utility", tmp_path / "run", limit=6, configs=("questions",))
    assert "cut_off" in codes(results)


@pytest.mark.parametrize("reason", ["SAFETY", "SPII", "ERROR_TOXIC"])
def test_texts_withheld_by_filters_of_other_names_are_refused(serve, tmp_path, reason):
    server = serve(lambda body: Sent(completion("Mos", reason)) if some(body) else first_option(body))
    options = {"limit": 6, "protocol": "generate", "max_failed": 1.0}
    results = run(server, "contact_hypothesis", tmp_path / "run", **options)
    [warning] = results.warned("failed_requests")
    assert "refused" in warning.text


def test_cut_off_thoughts_without_marks_are_unread_where_the_template_opens_them(serve, tmp_path):
    """Others end with the mark alone: then the template opens every thought. The first reply is such a one."""

    def answer(body):
        cut = some(body) and len(server.asked) > 1
        return Sent(completion(HMM, "length")) if cut else f"{HMM}</think>\n\n{LETTER}"

    server = serve(answer)
    options = {"limit": 24, "classifiers": ("lexicon",), "batch_size": 1}
    results = run(server, "labe", tmp_path / "run", **options)
    cut = sum(map(some, server.asked[1:]))
    assert {"thought_cut_off", "opened_thought"} <= codes(results)
    assert results.n - results.n_read == cut > 0


def test_a_stray_mark_opens_no_thought(serve, tmp_path):
    server = serve(lambda body: Sent(completion(LETTER, "length")) if some(body) else f"</think>{LETTER}")
    results = run(server, "labe", tmp_path / "run", limit=12, classifiers=("lexicon",), batch_size=1)
    assert results.n_read == results.n
    assert "opened_thought" not in codes(results)
