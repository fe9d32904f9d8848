"""Writing that keeps to a JSON schema: tokens that would leave it are ruled out, by llguidance's grammars."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import numpy as np
import torch
from transformers import LogitsProcessor, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from evenhand.models.errors import ModelError, Unanswerable, first_line

INSTALL = "pip install 'evenhand[constrain]'"


def can_constrain(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether llguidance is installed and knows this kind of tokenizer: those of the tokenizers library."""
    return isinstance(tokenizer, PreTrainedTokenizerFast) and importlib.util.find_spec("llguidance") is not None


class Grammars:
    """Grammars over one model's tokens.

    Raises ModelError where the tokenizer can't be read, or llguidance is not installed.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, ends: Sequence[int]):
        """ends: tokens that end a text, at least one."""
        if not can_constrain(tokenizer):
            raise ModelError(
                f"a schema needs llguidance ({INSTALL}), and a model whose tokenizer is one of the tokenizers library "
                "(tokenizer.json)"
            )
        from llguidance import hf

        self.ends = frozenset(ends)
        try:
            self.tokenizer = hf.from_tokenizer(tokenizer, eos_token=list(ends))
        except Exception as error:  # of Rust, for tokenizers that it can't take
            raise ModelError(f"llguidance can't read the model's tokenizer: {first_line(error)}") from error

    def check(self, schema: str) -> None:
        """Raises Unanswerable for what is no schema, and for one that can't be kept to."""
        from llguidance import LLMatcher

        try:
            fault = LLMatcher.validate_grammar(write_grammar(schema), self.tokenizer)
        except ValueError as error:
            fault = first_line(error)
        if fault:
            raise Unanswerable("not_understood", f"its schema can't be kept to: {fault}")


def write_grammar(schema: str) -> str:
    """The grammar of a JSON schema."""
    from llguidance import LLMatcher

    # As json.dumps separates. Where any white space is free, small models write nothing else.
    return LLMatcher.grammar_from_json_schema(
        schema, overrides={"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    )


class SchemaProcessor(LogitsProcessor):  # type: ignore[misc]
    """Rules out tokens that no text of a row's schema continues with. An end alone is left once the text is whole, and
    where nothing can follow (characters that the model has no tokens for).

    What is left of a row depends on its own tokens alone, not on its place in a batch or its neighbors.
    """

    def __init__(self, grammars: Grammars, schemas: Sequence[str]):
        """schemas: one a row, which were checked."""
        from llguidance import LLMatcher

        self._ends = grammars.ends
        self._writing = {
            row: LLMatcher(grammars.tokenizer, write_grammar(schema), log_level=0) for row, schema in enumerate(schemas)
        }
        self._bits = np.zeros((len(schemas), (grammars.tokenizer.vocab_size + 31) // 32), dtype=np.int32)  # one a token
        ends = np.isin(np.arange(32 * self._bits.shape[1]), list(grammars.ends))
        self._end = np.packbits(ends, bitorder="little").view(np.int32)
        self._begun = False

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        from llguidance.numpy import fill_next_token_bitmask

        last = input_ids[:, -1].tolist()
        for row, matcher in list(self._writing.items()):
            # A row that has ended, here or at a stop string, is padded with tokens of no schema.
            if self._begun and (last[row] in self._ends or not matcher.consume_token(last[row])):
                del self._writing[row]
                self._bits[row] = 0
            else:
                fill_next_token_bitmask(matcher, self._bits, row)
            if not self._bits[row].any():
                self._bits[row] = self._end
        self._begun = True
        allowed = np.unpackbits(self._bits.view(np.uint8), axis=1, count=scores.shape[1], bitorder="little")
        return scores.masked_fill(torch.from_numpy(allowed == 0).to(scores.device), -torch.inf)  # type: ignore[return-value]
