"""Rows of the vision modality: each pair of faces with each prompt, as drawn and with both sides exchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evenhand.benchmarks.mllm_stereotypes.faces.face import Attribute
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import Pair
from evenhand.benchmarks.mllm_stereotypes.faces.splicing import HEIGHT, Splicer
from evenhand.errors import UsageError

OF_PROMPT = ("scenario", "attribute", "instance", "prompt")

Row = dict[str, str | bool | bytes | list[str]]


def rows(pairs: Iterable[Pair], prompts: Iterable[Mapping[str, str]], height: int = HEIGHT) -> Iterator[Row]:
    """Columns pair, scenario, attribute, instance, prompt, candidates (left to right), swapped, image, age, shared.

    prompts: with `scenario`, `attribute`, `instance` and `prompt`; each pair takes those of its own attribute, twice:
    as drawn, and swapped. image: PNG bytes, as `splice` makes them. A pair's files are opened when its first row is
    taken, and no other pair's are held then.
    Raises UsageError for prompts without these columns and, when its row is taken, for a pair that has no prompt and
    for a picture that can't be used any more.
    """
    return _spliced(unspliced_rows(pairs, prompts), Splicer(height))


def _spliced(unspliced: Iterable[Row], splicer: Splicer) -> Iterator[Row]:
    for row in unspliced:
        png = splicer.png(Path(str(row["left"])), Path(str(row["right"])))
        asked = {name: row[name] for name in ("pair", *OF_PROMPT, "candidates", "swapped")}
        yield {**asked, "image": png, "age": row["age"], "shared": row["shared"]}


def unspliced_rows(pairs: Iterable[Pair], prompts: Iterable[Mapping[str, str]]) -> Iterator[Row]:
    """Like `rows`, with the paths `left` and `right` in place of `image`: no file is opened."""
    by_attribute: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for prompt in prompts:
        if missing := [name for name in OF_PROMPT if name not in prompt]:
            raise UsageError(f"a prompt without {', '.join(missing)} came; {', '.join(OF_PROMPT)} are needed")
        by_attribute[prompt["attribute"]].append(prompt)
    return _rows(pairs, by_attribute)


def _rows(pairs: Iterable[Pair], prompts: Mapping[str, list[Mapping[str, str]]]) -> Iterator[Row]:
    for pair in pairs:
        paths = str(pair.left.path), str(pair.right.path)
        for prompt in _prompts_of(pair.attribute, prompts):
            for swapped in (False, True):
                left, right = reversed(paths) if swapped else paths
                yield {
                    "pair": pair.id,
                    **{name: prompt[name] for name in OF_PROMPT},
                    "candidates": list(reversed(pair.groups) if swapped else pair.groups),
                    "swapped": swapped,
                    "left": left,
                    "right": right,
                    "age": pair.age,
                    "shared": pair.shared,
                }


def _prompts_of(attribute: Attribute, prompts: Mapping[str, list[Mapping[str, str]]]) -> list[Mapping[str, str]]:
    if attribute not in prompts:
        came = ", ".join(prompts) or "none"
        raise UsageError(f"pairs for {attribute} came with prompts for {came}; give prompts for {attribute}")
    return prompts[attribute]
