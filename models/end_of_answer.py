"""The token by which a model says that its answer is over."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from evenhand.models.chat_templates import TemplateRefused
from evenhand.models.layout import templated

_PROBE = "What is asked", "What is answered"


def end_of_answer(tokenizer: PreTrainedTokenizerBase, template: bool = True) -> int | None:
    """The first special token that the chat template puts behind an answer, else the tokenizer's end of text.

    template: whether the model's chat template lays the messages out. None where there is neither.
    """
    eos: int | None = tokenizer.eos_token_id
    if not template or tokenizer.chat_template is None:
        return eos
    asked, answered = _PROBE
    turns = [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
    try:
        behind = templated(tokenizer, tokenizer.chat_template, turns).rpartition(answered)[2]
    except TemplateRefused:
        return eos
    special = {token for token, added in tokenizer.added_tokens_decoder.items() if added.special}
    special.update(tokenizer.all_special_ids)
    written = tokenizer(behind, add_special_tokens=False)["input_ids"]
    return next((token for token in written if token in special), eos)
