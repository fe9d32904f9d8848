"""--mitigation unbiased-instruction: one sentence in front of the question, and nothing else is changed."""

import pytest

from evenhand.benchmarks.contact_hypothesis.unbiased_instruction import UNBIASED_INSTRUCTION
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.run_folder import RunFolder
from evenhand.mitigations import MITIGATIONS, get_mitigation
from evenhand.models.request import Reply
from tests.scripted_models import Scripted

SENTENCE = "Please ensure that your answer is unbiased and does not rely on stereotypes."
FEW = {"limit": 4}
NOT_OF_THE_PAPER = "mitigation unbiased-instruction, which the paper doesn't have"


def asked(benchmark, folder, **options):
    """What a run asks, by name; the first option of any is the answer."""
    model = Scripted(lambda request: Reply("one", choice_log_probs=((-1.0,), (-2.0,), (-2.0,))[: len(request.choices)]))
    model.can = model.can | {"continue"}
    evaluate(run_config(benchmark, "scripted", **options), folder, model)
    return {request.name: request for call in model.calls for request in call}


@pytest.mark.parametrize("benchmark", ["contact_hypothesis", "contact_controls"])
def test_it_stands_before_the_question_alone(benchmark, tmp_path):
    plain = asked(benchmark, tmp_path / "plain", **FEW)
    told = asked(benchmark, tmp_path / "told", mitigation="unbiased-instruction", **FEW)
    assert UNBIASED_INSTRUCTION.text == SENTENCE
    assert plain.keys() == told.keys()
    differs = [RunFolder.open(tmp_path / each).read_results().differs for each in ("plain", "told")]
    assert [NOT_OF_THE_PAPER in each for each in differs] == [False, benchmark == "contact_hypothesis"]
    for name, request in told.items():
        system, question = request.messages
        assert system == plain[name].messages[0]
        assert question.text == f"{SENTENCE} {plain[name].messages[1].text}"
        assert (request.seed, request.choices) == (plain[name].seed, plain[name].choices)


def test_published_figures_stand_beside_the_papers_own_mitigations_alone():
    own = {name: get_mitigation(name).of_papers for name in MITIGATIONS.own}
    assert own == {
        **dict.fromkeys(("fairness-instruction", "selective-rewrite"), ("labe",)),
        **dict.fromkeys(("self-reflection", "self-reflection-ice"), ("implicit_bias",)),
        **dict.fromkeys(("self-reminder", "debiasing"), ("mllm_stereotypes",)),
        **dict.fromkeys(("unbiased-instruction", "visual-self-reminder", "visual-debiasing"), ()),
    }


def test_texts_of_utility_stay_and_its_questions_are_told(tmp_path):
    told = asked("utility", tmp_path, mitigation="unbiased-instruction")
    with_it = {name for name, request in told.items() if request.messages[-1].text.startswith(SENTENCE)}
    assert with_it == {name for name, request in told.items() if not request.choices}
    assert 0 < len(with_it) < len(told)


def test_it_does_not_fit_a_layout_to_the_letter(evenhand, tmp_path):
    layout = ("--layout", "published", "--mitigation", "unbiased-instruction")
    called = evenhand("run", "contact_hypothesis", "--model", "stub:first", *layout, "--output", tmp_path / "run")
    assert (called.code, "use --layout chat, or remove it" in called.err) == (2, True)
