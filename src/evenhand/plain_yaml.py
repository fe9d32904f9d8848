"""YAML of plain values, as people write settings: what a reader may take for something else is refused."""

from __future__ import annotations

import textwrap

import yaml  # type: ignore[import-untyped]

DEEPEST = 20  # levels of nesting


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]
    """A safe loader that refuses what few lines blow up, and what YAML's readers understand differently."""

    depth = 0

    def compose_node(self, parent: object, index: object) -> object:
        """Refuse aliases, which can stand for more than any memory holds, and nesting that takes minutes to parse."""
        if self.check_event(yaml.AliasEvent) or self.depth > DEEPEST:
            raise ValueError(f"it has aliases, or is nested more than {DEEPEST} levels deep")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> object:
        """Refuse a key that comes twice, of which readers take the last."""
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    name, line = textwrap.shorten(repr(key.value), 80), key.start_mark.line + 1
                    raise ValueError(f"{name} stands there twice, the second time in line {line}; keep one of them")
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def plain_yaml(text: str) -> object:
    """Read mappings, lists, texts, numbers and dates.

    Raises ValueError for anything else: broken YAML, aliases, deep nesting, and keys that come twice.
    """
    try:
        return yaml.load(text, _PlainLoader)  # a safe loader
    except (yaml.YAMLError, RecursionError, ArithmeticError) as error:
        raise ValueError(str(error)) from error
