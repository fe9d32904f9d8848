"""Answers of the real Hub's card validator, as people reported them, and the rules that these answers tell.

The fixture has no others of the real Hub: what is not reported here it lets pass. Each rule yields the message in the
Hub's words, with this card's places and values in it; SOURCES says where the words were reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

SOURCES = {
    "license": "https://github.com/huggingface/huggingface_hub/issues/4218",
    "widget": "https://github.com/ostris/ai-toolkit/issues/260",
    "datasets": "https://github.com/huggingface/autotrain-advanced/issues/648",
    "dataset.type": "https://github.com/embeddings-benchmark/mteb/issues/1111",
    "dataset.config": "https://github.com/huu4ontocord/MDEL/issues/34",
}
LICENSES = (
    "apache-2.0, mit, openrail, bigscience-openrail-m, creativeml-openrail-m, bigscience-bloom-rail-1.0, "
    "bigcode-openrail-m, afl-3.0, artistic-2.0, bsl-1.0, bsd, bsd-2-clause, bsd-3-clause, bsd-3-clause-clear, c-uda, "
    "cc, cc0-1.0, cc-by-2.0, cc-by-2.5, cc-by-3.0, cc-by-4.0, cc-by-sa-3.0, cc-by-sa-4.0, cc-by-nc-2.0, cc-by-nc-3.0, "
    "cc-by-nc-4.0, cc-by-nd-4.0, cc-by-nc-nd-3.0, cc-by-nc-nd-4.0, cc-by-nc-sa-2.0, cc-by-nc-sa-3.0, cc-by-nc-sa-4.0, "
    "cdla-sharing-1.0, cdla-permissive-1.0, cdla-permissive-2.0, wtfpl, ecl-2.0, epl-1.0, epl-2.0, etalab-2.0, "
    "eupl-1.1, eupl-1.2, agpl-3.0, gfdl, gpl, gpl-2.0, gpl-3.0, lgpl, lgpl-2.1, lgpl-3.0, isc, h-research, "
    "intel-research, lppl-1.3c, ms-pl, apple-ascl, apple-amlr, mpl-2.0, odc-by, odbl, openmdw-1.0, openrail++, "
    "osl-3.0, postgresql, ofl-1.1, ncsa, unlicense, zlib, pddl, lgpl-lr, deepfloyd-if-license, "
    "fair-noncommercial-research-license, llama2, llama3, llama3.1, llama3.2, llama3.3, llama4, grok2-community, "
    "gemma, unknown, other, array"
)
_TYPE = "^(?:[\\w-]+\\/)?[\\w-.]+$"  # in the Hub's own language, in which the last - is a hyphen


def answers(card: Mapping[str, Any]) -> Iterator[str]:
    """What the real Hub said of such metadata."""
    licenses = card.get("license", [])
    for each in licenses if isinstance(licenses, list) else [licenses]:
        if each not in LICENSES.removesuffix(", array").split(", "):
            yield f'"license" must be one of [{LICENSES}]'
    if not isinstance(card.get("widget", []), list):
        yield '"widget" must be an array'
    for k, each in enumerate(card.get("datasets") or []):
        if not re.fullmatch(r"(?:[\w.-]+/)?[\w.-]+", str(each)):
            yield f'"datasets[{k}]" with value "{each}" is not valid. If possible, use a dataset id from https://hf.co/datasets.'
    for m, model in enumerate(card.get("model-index") or []):
        for r, result in enumerate(model.get("results") or []):
            place, dataset = f"model-index[{m}].results[{r}].dataset", result.get("dataset") or {}
            kind = dataset.get("type")
            if not re.fullmatch(r"(?:[\w-]+/)?[\w.-]+", str(kind)):
                yield f'"{place}.type" with value "{kind}" fails to match the required pattern: /{_TYPE}/'
            if "config" in dataset and not isinstance(dataset["config"], str):
                yield f'"{place}.config" must be a string'
