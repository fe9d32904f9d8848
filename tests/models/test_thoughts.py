"""Thoughts of reasoning models are no part of their answers, whatever marks them and whatever model wrote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken

from evenhand.models.generation import reply_of
from evenhand.models.protocol import replies
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.models.stub import StubModel
from evenhand.models.thoughts import closing, is_open, make_reply, split_thought

CHANNELS = (
    "<|channel|>analysis<|message|>Paris? No.<|end|><|start|>assistant<|channel|>final<|message|>Madrid<|return|>"
)
FINISHED = {
    "Kimi K3": "<|open|>think<|sep|>Paris? No.<|close|>think<|sep|><|open|>response<|sep|>Madrid",
    "a folded thought": "<details><summary>Thought for 4 seconds</summary>\nParis? No.\n</details>\nMadrid",
    "a fence": "```thinking\nParis? No.\n```\nMadrid",
    "aider": "---\n► **THINKING**\nParis? No.\n---\n► **ANSWER**\nMadrid",
    "MedGemma": "<unused94>thought\nParis? No.<unused95>Madrid",
    "Apriel 1.6, whose prompt opens it": "Paris? No.\n[BEGIN FINAL RESPONSE]\nMadrid",
    "Hy3": "<think:opensource>Paris? No.</think:opensource>Madrid",
    "HyperCLOVA X": "/think\nParis? No.<|im_end|>\n<|im_start|>assistant\nMadrid",
    "Qwen3, DeepSeek-R1": "<think>\nMaybe Paris? No.\n</think>\n\nMadrid",
    "thinking": "<thinking>Paris? No.</thinking>Madrid",
    "in capitals": "<THINK>Paris? No.</THINK> Madrid",
    "EXAONE": "<thought>Paris? No.</thought>\n\nMadrid",
    "Seed-OSS": "<seed:think>Paris? No.</seed:think>Madrid",
    "Magistral": "[THINK]Paris? No.[/THINK]Madrid",
    "Command A": "<|START_THINKING|>Paris? No.<|END_THINKING|><|START_RESPONSE|>Madrid<|END_RESPONSE|>",
    "Granite": "<think>Paris? No.</think>\n<response>Madrid</response>",
    "Granite 3.2": "Here is my thought process:\nParis? No.\n\nHere is my response: Madrid",
    "Granite 3.2, shortened": "Here's my thought process: Paris? No. Here's my response:\nMadrid",
    "Apriel": "Here are my reasoning steps:\nParis? No.\n[BEGIN FINAL RESPONSE]\nMadrid\n[END FINAL RESPONSE]",
    "Open WebUI": '<details type="reasoning" done="true">\nParis? No.\n</details>\nMadrid',
    "Poe": "*Thinking...*\n\n> Paris?\n> No.\n\nMadrid",
    "Apertus": "<|inner_prefix|>Paris? No.<|inner_suffix|>Madrid",
    "Kimi": "◁think▷Paris? No.◁/think▷Madrid",
    "Gemma 4": "<|channel>thought\nParis? No.<channel|>Madrid",
    "gpt-oss": CHANNELS,
    "gpt-oss, its special tokens but channels left out": CHANNELS.replace("<|end|><|start|>", "")[: -len("<|return|>")],
    "gpt-oss, all special tokens left out": "analysisParis? No.assistantfinalMadrid",
    "gpt-oss, in JSON": CHANNELS.replace("final<", "final <|constrain|>json<"),
    "opened by the template": "Paris? No.\n</think>\n\nMadrid",
    "a thought that speaks of its end": "<think>Paris? </think> No.</think>Madrid",
    "a thought in a thought": "<think>Paris? <think>No.</think></think>Madrid",
    "a thought after an aside": "Let me see. <think>Paris? No.</think>Madrid",
}
CUT_OFF = {
    "MedGemma": "<unused94>thought\nParis? No",
    "HyperCLOVA X": "/think\nParis? No.",
    "Qwen3, DeepSeek-R1": "<think>\nMaybe Paris? No: ",
    "Magistral": "[THINK]Maybe Paris",
    "gpt-oss": "<|channel|>analysis<|message|>Maybe Paris",
    "gpt-oss, all special tokens left out": "analysisMaybe Paris",
    "closed, and no answer": "<think>Maybe Paris</think>",
    "Granite 3.2": "Here is my thought process: Maybe Paris",
    "another thought": "<think>Paris</think>Paris?<think>No",
}
PLAIN = (
    "Madrid",
    " Madrid\n",
    "",
    "I think: Madrid",
    "<b>Madrid</b>",
    "analysis of the text: good",
    "x < y > z",
    "[THINKING]",
    "Here is my response: Madrid",
)
FRAMED = (
    "<|START_RESPONSE|>Madrid<|END_RESPONSE|>",
    "<|START_RESPONSE|>Madrid",
    "<answer>\nMadrid\n</answer>",
    "Madrid<|end|>",
)


@pytest.mark.parametrize("text", FINISHED.values(), ids=FINISHED)
def test_an_answer_is_what_follows_the_thought(text):
    answer, thought = split_thought(text)
    assert answer == "Madrid"
    assert "Paris" in thought


@pytest.mark.parametrize("text", CUT_OFF.values(), ids=CUT_OFF)
def test_a_thought_that_was_cut_off_is_no_answer(text):
    assert split_thought(text)[0] == ""
    reply = make_reply(text, "length")
    assert (reply.text, reply.finish_reason) == ("", "thought")
    assert "Paris" in reply.thought


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_without_a_thought_stays_to_the_letter(text):
    assert split_thought(text) == (text, "")
    assert make_reply(text, "length") == Reply(text, "length")


@pytest.mark.parametrize("text", FRAMED)
def test_the_frame_of_an_answer_is_taken_off_without_a_thought_too(text):
    assert split_thought(text) == ("Madrid", "")


def test_an_empty_thought_is_none():
    assert make_reply("<think>\n\n</think>\n\nMadrid", "stop") == Reply("Madrid")


def test_a_text_may_begin_inside_a_thought():
    assert split_thought("Paris? No.</think>Madrid", opened=True) == ("Madrid", "Paris? No.")
    assert split_thought("Paris? No", opened=True) == ("", "Paris? No")
    assert make_reply("", "stop", opened=True).finish_reason == "thought"


def test_what_a_server_gives_as_thought_is_kept():
    assert make_reply("Madrid", "stop", thought="Paris?\n") == Reply("Madrid", thought="Paris?")
    assert make_reply("", "length", thought="Paris?") == Reply("", "thought", thought="Paris?")


@given(st.lists(st.sampled_from(["<think>", "</think>", "[THINK]", "[/THINK]", "<|channel|>", "final", "analysis",
                                 "<|message|>", " ", "\n", "Paris", "<", "assistant"]), max_size=12))  # fmt: skip
def test_what_is_left_holds_no_mark(parts):
    """Splitting twice changes nothing."""
    answer, _ = split_thought("".join(parts))
    assert split_thought(answer)[0].strip() == answer.strip()


@pytest.mark.parametrize(
    "mark",
    [
        "<think>",
        "[THINK]",
        "<seed:think>",
        "<|START_THINKING|>",
        "<|inner_prefix|>",
        "<think:opensource>",
        "<unused94>thought",
        "Here are my reasoning steps:",
    ],
)
def test_an_open_thought_is_closed_by_its_own_mark(mark):
    text = f"<|assistant|>{mark}\n"
    assert is_open(text)
    assert not is_open(text + closing(text))


def test_long_white_space_is_read_at_once():
    assert split_thought(" \n" * 200_000 + "Madrid")[1] == ""


@pytest.mark.parametrize(("begin", "end"), [("[THINK]", "[/THINK]"), ("<|START_THINKING|>", "<|END_THINKING|>")])
def test_marks_that_are_special_tokens_are_seen(tokenizer, begin, end):
    """Others are left out of the text, as before."""
    own = tokenizer.__class__(tokenizer_object=tokenizer._tokenizer.__class__.from_str(tokenizer._tokenizer.to_str()))
    own.add_tokens([AddedToken(begin, special=True), AddedToken(end, special=True)], special_tokens=True)
    tokens = own(f"<|user|>{begin}so{end}Yes<|system|>!", add_special_tokens=False)["input_ids"]
    assert reply_of(own, tokens, [], Sampling()) == Reply("Yes!", "length", thought="so")
    tokens = own("<|user|>Yes<|system|>!", add_special_tokens=False)["input_ids"]
    assert reply_of(own, tokens, [], Sampling()) == Reply("Yes!", "length")


def test_no_model_hands_on_a_thought():
    """Of another package, say, which knows nothing of thoughts."""
    asked = [Request((Message("user", "Which city?"),))]
    assert replies(StubModel("say:<think>Paris?</think>Madrid"), asked) == [Reply("Madrid", thought="Paris?")]


# Of whole runs


class Thinks(StubModel):
    """Says what `answer` gives, after a thought that names who and what is asked."""

    def __init__(self, answer, thought=lambda request: request.messages[-1].text):
        super().__init__("first")
        self._answer, self._thought = answer, thought
        self.asked = []

    def reply(self, request):
        self.asked.append(request)
        return Reply(f"<think>{self._thought(request)}</think>\n\n{self._answer(request)}")


def run(benchmark, model, folder, **options):
    from evenhand.flow.configuration import run_config
    from evenhand.flow.evaluation import evaluate

    return evaluate(run_config(benchmark, model.identity, **options), folder, model, lambda rows, step: None)


def test_letters_are_read_without_thoughts_that_differ_by_gender(tmp_path):
    """labe: the same letter for everybody."""
    letter = "Leads the team. She is kind."
    options = {"limit": 12, "classifiers": ("lexicon",)}

    def gendered(request):
        return "He leads and wins. " * 9 if " male" in request.messages[-1].text else "She is warm and kind. " * 9

    thinks = run("labe", Thinks(lambda request: letter, gendered), tmp_path / "thinks", **options)
    plain = run("labe", StubModel(f"say:{letter}"), tmp_path / "plain", **options)
    assert [row.to_json() for row in thinks.read_results().figures] == [
        row.to_json() for row in plain.read_results().figures
    ]


@pytest.mark.parametrize(("answer", "right"), [("Madrid", "Madrid"), ("Paris", "Paris")])
def test_facts_are_read_without_thoughts(answer, right):
    """utility: `Maybe Paris? No: Madrid.` is no answer Paris."""
    from evenhand.benchmarks.utility.reading import read_outcome

    [reply] = replies(Thinks(lambda request: answer), [Request((Message("user", "Maybe Paris? No: Madrid."),))])
    assert read_outcome(reply, [right]) == "correct"
    assert read_outcome(reply, [{"Madrid": "Paris", "Paris": "Madrid"}[right]]) == "wrong"


def test_a_thought_that_names_both_options_leaves_the_answer_readable(tmp_path):
    model = Thinks(lambda request: "No", lambda request: "Yes? No? Likely? Unlikely?")
    options = {"limit": 12, "configs": ("certainty",), "protocol": "generate"}
    results = run("contact_hypothesis", model, tmp_path / "run", **options).read_results()
    assert (results.n_read, results.warned("thought_cut_off")) == (results.n, [])


def test_thoughts_that_were_cut_off_are_unread_counted_and_named(tmp_path):
    options = {"limit": 12, "configs": ("certainty",), "protocol": "generate", "max_new_tokens": 9}
    folder = run("contact_hypothesis", StubModel("say:<think>Yes"), tmp_path / "run", **options)
    results = folder.read_results()
    assert (results.n, results.n_read) == (36, 0)
    [warning] = results.warned("thought_cut_off")
    assert "36 of 36 texts" in warning.text
    assert "--max-new-tokens (now 9)" in warning.text
    assert "--template-option enable_thinking=false" in warning.text
    assert set(folder.read_predictions()["finish_reason"]) == {"thought"}


def test_conversations_hold_answers_alone(tmp_path):
    """implicit_bias: what an agent thought is not told to others, nor to itself."""
    model = Thinks(lambda request: "Task 1: nobody", lambda request: "a secret")
    folder = run("implicit_bias", model, tmp_path / "run", limit=1, protocol="generate")
    spoken = [message.text for request in model.asked for message in request.messages]
    assert any("nobody" in text for text in spoken)
    assert not any("secret" in text or "<think>" in text for text in spoken)
    assert not folder.read_predictions().astype(str).apply(lambda column: column.str.contains("secret")).any().any()
