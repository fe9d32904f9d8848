"""Pairs of placeholders, one of each age and group, and whom their pictures show."""

import hashlib
from functools import cache

from datasets import Image

import evenhand
from evenhand.benchmarks.mllm_stereotypes.pictures import encode

PLACEHOLDERS = {"faces": "rehearsal", "pairs": 1}


@cache
def undecoded(attribute):
    """Rows that ask for occupations, with spliced pictures as bytes."""
    rows = evenhand.load_dataset("mllm_stereotypes", f"occupation_{attribute}", split="test", **PLACEHOLDERS)
    return rows.cast_column("image", Image(decode=False))


@cache
def unspliced(config):
    """Rows with the paths of two faces, as a run has them."""
    return evenhand.load_dataset("mllm_stereotypes", config, split="test", **PLACEHOLDERS, spliced=False)


@cache
def shown(attribute):
    """{SHA-256 of a picture: its candidates, left to right}"""
    rows = undecoded(attribute)
    return {
        hashlib.sha256(encode(image)).hexdigest(): candidates
        for image, candidates in zip(rows["image"], rows["candidates"])
    }
