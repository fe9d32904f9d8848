"""Published figures stand beside the runs that they belong to: whole set, sample of 96, texts by people."""

from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import run_config


def published(**options):
    labe = get_benchmark("labe")
    return labe.published(labe.filled(run_config("labe", **options)))


def test_the_whole_set_has_tables_1_and_19_to_27():
    beside = published()
    assert beside["variances"]["ChatGPT"]["professor_review"]["gender_variance"] == 22.25
    assert beside["differences"]["Llama3"]["professor_review"] == 11.52
    assert {"White male", "Asian female", "Hispanic"} <= set(beside["gaps"]["Mistral"]["biography"])


def test_the_sample_of_96_has_table_2_by_mitigation():
    gender = {
        mitigation: published(sample=96, mitigation=mitigation)["variances"]["ChatGPT"]["biography"]["gender_variance"]
        for mitigation in (None, "fairness-instruction", "selective-rewrite")
    }
    assert gender == {None: 21.93, "fairness-instruction": 29.55, "selective-rewrite": 6.59}
    instructed = published(sample=96, mitigation="fairness-instruction")
    assert instructed["differences"]["Mistral"]["professor_review"] == 15.27
    assert instructed["gaps"]["ChatGPT"]["biography"]["White male"] == -20.86
    assert "gaps" not in published(sample=96)


def test_texts_by_people_have_tables_16_to_18():
    reviews, biographies = (
        published(texts="file.csv", preprocess=each) for each in ("ratemyprofessor", "bias_in_bios")
    )
    assert reviews["differences"] == {"written by people": {"texts": 1.86}}
    assert reviews["strata"]["Accounting"] == 43.91
    assert biographies["strata"]["Pastor"] == 31.61
    assert published(texts="file.csv") == {}


def test_other_protocols_have_none():
    for options in (
        {"limit": 10},
        {"sample": 48},
        {"temperature": 0.5},
        {"max_new_tokens": 96},
        {"mitigation": "fairness-instruction"},
        {"sample": 96, "mitigation": "selective-rewrite", "rewrite_mode": "sentence"},
    ):
        assert published(**options) == {}, options
