"""What the paper reports, shown beside runs of its protocol."""

from __future__ import annotations

PUBLISHED = {
    "source": "Raj et al. 2024, Table 3: percentage of biased responses; the authors' own prompt sets",
    "figures": {
        "LLaMA 2 Chat (13B)": {
            "certainty": {"no_contact": 27.47, "positive_contact": 18.79, "negative_contact": 37.95},
            "likelihood": {"no_contact": 49.99, "positive_contact": 45.76, "negative_contact": 49.86},
            "frequency": {"no_contact": 47.24, "positive_contact": 49.45, "negative_contact": 49.39},
        },
        "Tulu (13B, DPO)": {
            "certainty": {"no_contact": 9.97, "positive_contact": 4.28, "negative_contact": 14.19},
            "likelihood": {"no_contact": 50.0, "positive_contact": 50.0, "negative_contact": 50.0},
            "frequency": {"no_contact": 50.0, "positive_contact": 49.99, "negative_contact": 49.88},
        },
        "NousHermes (13B)": {
            "certainty": {"no_contact": 32.44, "positive_contact": 17.48, "negative_contact": 42.81},
            "likelihood": {"no_contact": 49.98, "positive_contact": 50.0, "negative_contact": 50.0},
            "frequency": {"no_contact": 50.0, "positive_contact": 44.60, "negative_contact": 45.74},
        },
    },
}
