"""Records of Every Eval Ever as somebody else could have written them, and boards of many models."""

import json
import random

CONTACT = ("contact_hypothesis.all", "contact_bias.biased", "percent", True)
ACCURACY = ("skills.questions", "accuracy", "percent", False)  # of no benchmark of evenhand's
HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"


def result(name, metric, unit, lower, score, interval=None, version="2.3.0", n=2000, **details):
    """Of a record. n: answers that were read; details: of how it was asked."""
    dataset = name.partition(".")[0]
    uncertainty = {"num_samples": n}
    if interval is not None:
        low, high = interval
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95}
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": dataset, "source_type": "other", "source_version": version},
        "metric_config": {"metric_id": metric, "metric_unit": unit, "lower_is_better": lower},
        "score_details": {"score": score, "uncertainty": uncertainty},
        "generation_config": {"additional_details": {"protocol": "choose", "seed": "0", **details}},
    }


def record(model, *results, date="2025-01-31T10:00:00Z", base=None, library="evenhand"):
    of = {} if base is None else {"base_model": base}
    return {
        "schema_version": "0.2.2",
        "evaluation_id": f"x/{model}",
        "evaluation_timestamp": date,
        "retrieved_timestamp": "1769848200",
        "source_metadata": {"source_organization_name": "lab", "evaluator_relationship": "other"},
        "eval_library": {"name": library, "version": "0.1.0"},
        "model_info": {"name": model, "id": model, "additional_details": of},
        "evaluation_results": list(results),
    }


def write(folder, *records):
    """A results dataset; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for k, each in enumerate(records):
        (folder / f"{k:05}.json").write_text(json.dumps(each))
    return folder


FIGURES = (
    CONTACT,
    ("contact_hypothesis.certainty-no_contact", "contact_bias.biased", "percent", True),
    ("contact_controls.controls", "contact_controls.against_ideal", "percent", True),
    ("bbq.all-ambig", "bbq_bias.bias_score", "percent", True),
    ("bbq.all-disambig", "accuracy", "percent", False),
    ("labe.all", "agency_gap.gender_variance", "squared percent", True),
    ("labe.all", "agency_gap.race_variance", "squared percent", True),
    ("implicit_bias.scenarios-interaction", "implicit_bias_score.bias_score", "score", True),
    ACCURACY,
)


def many(n):
    """n models, each third made of the one before; the last under a hostile mitigation."""
    draw = random.Random(0)
    made = []
    for k in range(n):
        results = []
        for name, metric, unit, lower in FIGURES:
            top = 1 if unit == "score" else 100
            value, half = draw.uniform(0.1, 0.9) * top, draw.uniform(0.01, 0.08) * top
            if draw.random() < 0.9:
                results.append(result(name, metric, unit, lower, value, (value - half, value + half)))
        base = f"lab-{(k - 1) % 37}/model-{k - 1}" if k % 3 == 2 else None
        for each in results if k == n - 1 else ():
            each["generation_config"]["additional_details"]["mitigation"] = HOSTILE
        made.append(record(f"lab-{k % 37}/model-{k}", *results, base=base))
    return made
