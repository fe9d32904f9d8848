"""Separates what a reasoning model thought from what it answered, for every model and server.

Models mark thoughts in many ways: <think>…</think> (Qwen3, DeepSeek-R1, GLM, MiniMax), <seed:think> (Seed-OSS),
[THINK] (Magistral), <|START_THINKING|> (Command A), <|inner_prefix|> (Apertus), ◁think▷ (Kimi), the channels of
gpt-oss and Gemma 4. A prompt may end inside a thought that the template opened; the text then begins with it.
"""

from __future__ import annotations

import re

from evenhand.models.request import FinishReason, Reply

_NAME = r"(?:\w{1,20}[:_])?(?:think(?:ing)?|thoughts?|reason(?:ing)?|scratchpad|reflection|monologue)(?:[:_]\w{1,20})?"
_HEADER = r"(?:<\|end\|>)?(?:(?:<\|start\|>)?assistant)?<\|channel\|>\s{0,9}"  # of a channel of gpt-oss
_BEGIN = re.compile(
    rf"<(?i:{_NAME})>|\[THINK\]|<\|START_THINKING\|>|<\|inner_prefix\|>|◁think▷|<\|think\|>|<\|begin_of_thought\|>|<\|channel>thought\b"
    r"|<unused94>(?:thought\b)?|<\|open\|>think<\|sep\|>"
    rf"|{_HEADER}(?:analysis|commentary)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
_END = re.compile(
    rf"</(?i:{_NAME})>|\[/THINK\]|<\|END_THINKING\|>|<\|inner_suffix\|>|◁/think▷|<\|end_of_thought\|>|<channel\|>"
    r"|<unused95>|\[BEGIN FINAL RESPONSE\]|<\|close\|>think<\|sep\|>(?:<\|open\|>response<\|sep\|>)?"
    rf"|{_HEADER}final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
# Thoughts that words mark at the beginning of a text: the channels of gpt-oss where a server has left their special
# tokens out ("analysisThe user …assistantfinalMadrid"), s1 with its special tokens and without, HuatuoGPT-o1, Granite,
# Apriel, HyperCLOVA X, Open WebUI, Poe.
_IN_WORDS = [
    re.compile(rf"(?s)\s*{begin}(?P<thought>.*?)(?:{end}(?P<answer>.*))?")
    for begin, end in (
        (r"analysis(?=[A-Z])", r"assistant\s*final"),
        (r"<\|im_start\|>think\n", r"<\|im_start\|>answer\n"),
        (r"think\n", r"\n\s*answer\n"),
        (r"Here(?: is|'s) my thought process:", r"Here(?: is|'s) my response:"),
        (r"Here are my reasoning steps:", r"\[BEGIN FINAL RESPONSE\]"),
        (r"/think\n", r"<\|im_end\|>\s*<\|im_start\|>assistant\s*\n"),
        (r"<details type=\"reasoning\"[^>\n]{0,99}>", r"</details>"),
        (
            r"<details[^>\n]{0,99}>\s*<summary>[^<\n]{0,99}(?i:thought|thinking|reason)[^<\n]{0,99}</summary>",
            r"</details>",
        ),
        (r"```(?:think(?:ing)?|thoughts?|reasoning)\n", r"\n```"),
        (r"(?:-{3,}\s{0,9})?► \*\*THINKING\*\*", r"► \*\*ANSWER\*\*"),
        (r"\*?Thinking(?:\.{3}|…)\*?\s*\n(?=\s*>)", r"(?<=\n)\n(?=[^>\s])"),
        (r"#{2,3} Thinking\n", r"\n#{2,3} Final (?:Response|Answer)\n"),
    )
]
_PROMPTED = re.compile(r"Here are my reasoning steps:\s*\Z")  # of Apriel 1.6, whose prompts end so
_RESPONSE = r"(?:response|answer|output|conclusion)"
_FRAME = re.compile(
    rf"\A(?:<\|START_RESPONSE\|>|<\|begin_of_solution\|>|<(?i:{_RESPONSE})>)\s*"
    rf"|\s*(?:<\|END_RESPONSE\|>|\[END FINAL RESPONSE\]|<\|end_of_solution\|>|</(?i:{_RESPONSE})>"
    r"|<\|(?:end|return)\|>)\Z"
)
_CLOSINGS = {
    "<|open|>think<|sep|>": "<|close|>think<|sep|><|open|>response<|sep|>",
    "<unused94>": "<unused95>",
    "<unused94>thought": "<unused95>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>",
}
_PARTS = ("<|channel|>", "<|message|>", "<|channel>")  # special tokens that are marks together with what follows


def split_thought(text: str, opened: bool = False) -> tuple[str, str]:
    """Split what a model wrote into (answer, thought).

    The answer is what follows the last end of a thought. It is empty where a thought has no end: a thought that was
    cut off is no answer, whatever it names.

    Args:
        text: what the model wrote after its prompt, marks included.
        opened: whether the prompt ends inside a thought.
    """
    if found := next((found for each in _IN_WORDS if (found := each.fullmatch(text))), None):
        return _FRAME.sub("", (found["answer"] or "").strip()).strip(), found["thought"].strip()
    ends = list(_END.finditer(text))
    if not ends and not opened and not _BEGIN.search(text):
        answer = text.strip()
        return (text if _FRAME.sub("", answer) == answer else _FRAME.sub("", answer).strip()), ""
    thought, answer = (text[: ends[-1].start()], text[ends[-1].end() :]) if ends else (text, "")
    if unfinished := _BEGIN.search(answer):
        thought, answer = f"{thought}\n{answer[unfinished.end() :]}", ""
    thought = _END.sub("\n", _BEGIN.sub("\n", thought))
    return _FRAME.sub("", answer.strip()).strip(), thought.strip()


def make_reply(text: str, finish_reason: FinishReason, opened: bool = False, thought: str = "") -> Reply:
    """Make the reply of a text that a model wrote.

    Args:
        text: what the model wrote.
        finish_reason: why it ends there; "thought" takes its place where there is a thought and no answer.
        opened: whether the prompt ends inside a thought.
        thought: what a server gives as thought beside the text (`reasoning`, `reasoning_content`).
    """
    answer, within = split_thought(text, opened)
    thought = "\n".join(filter(None, (thought.strip(), within)))
    if not answer.strip() and (thought or opened or text.strip()):
        answer, finish_reason = "", "thought"
    return Reply(answer, finish_reason, thought=thought)


def ends_unopened(text: str) -> bool:
    """Whether a text begins within a thought, as where a chat template has opened it."""
    end, begin = _END.search(text), _BEGIN.search(text)
    return end is not None and bool(text[: end.start()].strip()) and (begin is None or end.start() < begin.start())


def has_thought(text: str) -> bool:
    """Whether a text names the beginning or the end of a thought."""
    return any(mark.search(text) for mark in (_BEGIN, _END)) or any(each.fullmatch(text) for each in _IN_WORDS)


def is_open(text: str) -> bool:
    """Whether a text ends inside a thought."""
    begins, ends = ([mark.end() for mark in marks.finditer(text)] for marks in (_BEGIN, _END))
    return (bool(begins) and begins[-1] > max(ends, default=0)) or bool(_PROMPTED.search(text))


def closing(text: str) -> str | None:
    """Return what closes the thought in which a text ends; None for a mark whose closing is not known."""
    if _PROMPTED.search(text):
        return "\n[BEGIN FINAL RESPONSE]\n"
    mark = [*_BEGIN.finditer(text)][-1][0]
    if mark.startswith(("<", "[")) and mark not in _CLOSINGS and "|" not in mark:
        return f"\n{mark[0]}/{mark[1:]}\n\n"
    return _CLOSINGS.get(mark)


def is_mark(token: str) -> bool:
    """Whether a special token begins or ends a thought, so that it must be kept when tokens become text."""
    return token in _PARTS or any(mark.fullmatch(token) for mark in (_BEGIN, _END))
