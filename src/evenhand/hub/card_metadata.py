"""Whether a card's metadata are such as huggingface_hub's own classes read; what else the Hub wants, the Hub says.

By these classes metadata are a mapping, and a `model-index` has the places that the Hub's has. Rules that only the
Hub's validator knows, such as its lists of licenses and of tasks, are asked of the Hub itself (`validate-yaml`).
"""

from __future__ import annotations

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, content

CARD = "README.md"


def refuse_unreadable_metadata(contents: Contents) -> None:
    """Raises UsageError; nothing is asked of the Hub."""
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import DatasetCard, ModelCard, SpaceCard

    if CARD not in contents.files:
        return
    read_as = {"dataset": DatasetCard, "model": ModelCard, "space": SpaceCard}[contents.repo_type]
    try:
        read_as(content(contents.files[CARD]).decode())
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        yaml.YAMLError,
    ) as error:  # UnicodeDecodeError is the first
        said = " ".join(str(error).split())
        raise UsageError(
            f"{contents.name}: huggingface_hub can't read the metadata of {CARD} ({said[:200]}); between the two lines "
            "--- a mapping in YAML is accepted, as 'license: apache-2.0'"
        ) from error
