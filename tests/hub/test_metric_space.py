"""What a metric's Space holds stands alone: `evaluate` loads it, its page scores, its card is true and valid."""

import re
import subprocess
import sys

import evaluate
import huggingface_hub
import pytest
from huggingface_hub import SpaceCard

from evenhand import __version__
from evenhand.hub.contents import content
from evenhand.hub.packaged import metric_contents
from evenhand.hub.refusals import refuse
from evenhand.library import METRICS, load_metric, metric_names

every_metric = pytest.mark.parametrize("name", metric_names())


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """space("contact_bias") → the folder of that Space."""
    made = {}

    def call(name):
        if name not in made:
            contents = metric_contents(name, "lab")
            refuse([contents])
            made[name] = tmp_path_factory.mktemp("space") / name
            for path, file in contents.files.items():
                (made[name] / path).parent.mkdir(parents=True, exist_ok=True)
                (made[name] / path).write_bytes(content(file))
        return made[name]

    return call


@every_metric
def test_the_front_matter_is_a_spaces(space, name):
    data = SpaceCard.load(space(name) / "README.md").data
    assert (data.sdk, data.app_file) == ("gradio", "app.py")
    assert data.sdk_version in (space(name) / "requirements.txt").read_text()
    assert (space(name) / data.app_file).is_file()
    assert {"title", "emoji", "license"} <= data.to_dict().keys()


@every_metric
def test_the_card_says_what_one_must_know(space, name):
    text = SpaceCard.load(space(name) / "README.md").text
    for said in (
        "| range |",
        "| optimum |",
        "| direction |",
        f'evaluate.load("lab/{name}")',
        "### Values from popular papers",
        "## Limitations and bias",
        "### Example",
        "computed when this card was made",
    ):
        assert said in text, said
    assert f'evaluate.load("{name}")' not in text


@every_metric
def test_the_cards_example_gives_what_the_card_says(space, name, monkeypatch):
    """Its code, run as it stands; only the address is the folder's."""
    folder = space(name)
    text = SpaceCard.load(folder / "README.md").text.split("### Example")[1]
    [code] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    packaged = load_metric(name)
    monkeypatch.setattr(evaluate, "load", {f"lab/{name}": packaged}.get)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda repo_id, file, repo_type: folder / file)
    found = {}
    exec(code, found)
    rows = re.findall(r"^\| ([^|]+) \| ([-\d.]+)[^|]* \| ([-\d.]+) to ([-\d.]+) \|", text, flags=re.MULTILINE)
    assert rows
    for figure, value, low, high in rows:
        path = figure.replace(" ", "_").split(",_")
        assert at(found["result"], path) == pytest.approx(float(value), abs=0.051)
        assert at(found["result"]["intervals"], path) == pytest.approx([float(low), float(high)], abs=0.051)


def at(nested, path):
    for key in path:
        nested = nested[key]
    return nested


PAGE = """
import sys
sys.path = ["."] + [path for path in sys.path if path]
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
import evaluate
from pathlib import Path
from evenhand.hub.apps.scoring import MetricPage
import evenhand, evenhand.hub.apps.page
page = MetricPage.of(evaluate.load("./contact_bias.py", keep_in_memory=True), Path("."))
shown = page.pasted(page.about.table)
print(Path(evenhand.__file__).resolve().parent == Path("evenhand").resolve(), "biased percentage" in shown)
print([name for name in sys.modules if name.startswith("evenhand.") and "hub" not in name])
"""


@pytest.mark.slow
def test_the_page_runs_on_what_travels_along(space):
    """In a fresh process that finds no other evenhand, in the Space's folder."""
    ran = subprocess.run(
        [sys.executable, "-c", PAGE], cwd=space("contact_bias"), capture_output=True, text=True, check=False
    )
    alone, modules = ran.stdout.splitlines()[-2:] if ran.returncode == 0 else (ran.stderr, "")
    assert alone == "True True"
    assert "evenhand.flow" not in modules


def test_a_version_is_its_code():
    contents = metric_contents("contact_bias", "lab")
    assert contents.tag == f"v{__version__}"
    assert {"contact_bias.py", "scores.py"} <= set(contents.fixed)
    assert not {"app.py", "README.md"} & set(contents.fixed)
    own = {path.name for path in (METRICS / "contact_bias").iterdir() if path.is_file()}
    assert own <= contents.files.keys()
