"""What the paper reports, shown beside runs of its protocol."""

from __future__ import annotations

PUBLISHED = {
    "source": "Borah & Mihalcea, Table 3: the authors' own stories (their file has 86; the figures are multiples of "
    "1/46 for GPT models and of 1/32 for mistral, but for 0.3334, which is neither), another question, answers written",
    "figures": {
        "gpt-35-turbo": 0.7391,
        "gpt-4": 0.8261,
        "mistral-7b-instruct": 0.5938,
        "half-ft-gpt-35-turbo": 0.8043,
        "full-ft-gpt-35-turbo": 0.8913,
        "half-ft-mistral-7b-instruct": 0.3334,
        "full-ft-mistral-7b-instruct": 0.6875,
    },
}
