"""All cards that we publish, by the classes that huggingface_hub and datasets themselves read them with."""

import pytest
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard, ModelCard, SpaceCard

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents
from evenhand.hub.packaged import metric_contents
from evenhand.hub.publishing import plan
from evenhand.library import DATASETS, METRICS, packaged_dataset_names
from tests.hub.recorded_card_answers import answers

METRIC_NAMES = sorted(path.parent.name for path in METRICS.glob("*/scores.py"))


@pytest.mark.parametrize("name", sorted({*packaged_dataset_names(), "bbq"}))
def test_datasets(name):
    """Metadata as they stand come back in the same order; configurations name files that are there."""
    text = (DATASETS / name / "README.md").read_text(encoding="utf-8")
    card = DatasetCard(text)
    assert card.data.to_dict()
    assert DatasetCard(str(card)).data.to_dict() == card.data.to_dict()
    for config in MetadataConfigs.from_dataset_card_data(card.data).values():
        patterns = config.get("data_files", [])
        for each in patterns:
            assert list((DATASETS / name).glob(each["path"])), each


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_spaces(name):
    contents = metric_contents(name, "lab")
    told = SpaceCard(contents.files["README.md"].decode()).data
    assert told.sdk == "gradio"
    assert told.app_file in contents.files
    assert told.sdk_version


def test_the_real_hub_has_said_nothing_against_such_cards():
    """By the answers of its validator that people reported."""
    for name in packaged_dataset_names():
        assert [*answers(DatasetCard((DATASETS / name / "README.md").read_text(encoding="utf-8")).data.to_dict())] == []
    for name in METRIC_NAMES:
        assert [*answers(SpaceCard((METRICS / name / "README.md").read_text(encoding="utf-8")).data.to_dict())] == []


@pytest.mark.parametrize(
    "metadata",
    [
        "- no\n- mapping",
        "license: [unclosed",
        "model-index: a text",
        "model-index:\n- name: x\n  results:\n  - task: {type: t}",
        "model-index:\n- results: []",
    ],
)
def test_metadata_that_the_client_cannot_read_are_refused(metadata):
    contents = Contents("model", "lab/x", {"README.md": f"---\n{metadata}\n---\n# A model\n".encode()}, title="")
    with pytest.raises(UsageError, match=r"model lab/x: huggingface_hub does not take the metadata of README\.md"):
        plan(contents)


def test_letters_that_are_no_utf8_are_refused():
    contents = Contents("model", "lab/x", {"README.md": b"---\nlicense: \xff\n---\n"}, title="")
    with pytest.raises(UsageError, match="does not take the metadata"):
        plan(contents)


def test_what_a_model_card_says_of_results_is_read_back():
    """As a model's page reads `model-index`: task, dataset, and the figure under its name."""
    from huggingface_hub import EvalResult, ModelCardData

    result = EvalResult("text-generation", "lab/labe", "labe", "agency_gap", 3.5, metric_name="overall")
    written = ModelCardData(model_name="fair", eval_results=[result]).to_yaml()
    [found] = ModelCard(f"---\n{written}\n---\n").data.eval_results
    assert (found.dataset_type, found.metric_name, found.metric_value) == ("lab/labe", "overall", 3.5)
