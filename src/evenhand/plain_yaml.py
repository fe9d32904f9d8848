"""YAML of plain values, as people write settings: what a reader may take for something else is refused."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yaml import Node  # type: ignore[import-untyped]

DEEPEST = 20  # levels of nesting


def plain_yaml(text: str) -> object:
    """What it holds: mappings, lists, texts, numbers, dates.

    Raises ValueError for no YAML, for aliases, of which a few lines can stand for more than any memory holds, for deep
    nesting, which takes the parser minutes, and for a key that comes twice, of which YAML's readers take the last.
    """
    import yaml

    try:
        _refuse_bombs(text)
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _refuse_duplicates(node)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except (yaml.YAMLError, RecursionError, ArithmeticError) as error:
        raise ValueError(str(error)) from error


def _refuse_bombs(text: str) -> None:
    import yaml

    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
        depth -= isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent))
        if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
            raise ValueError(f"it has aliases, or is nested more than {DEEPEST} levels deep")


def _refuse_duplicates(node: Node) -> None:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            _refuse_duplicates(each)
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    name, line = textwrap.shorten(repr(key.value), 80), key.start_mark.line + 1
                    raise ValueError(f"{name} stands there twice, the second time in line {line}; keep one of them")
                seen.add(key.value)
            _refuse_duplicates(key)
            _refuse_duplicates(value)
