"""Finished runs of mllm_stereotypes, each made once for all tests of this folder."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import datasets
import pandas as pd
import pytest

import evenhand
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.mllm_stereotypes.options import OF_PERSONAS, PAPER_ROWS
from evenhand.benchmarks.mllm_stereotypes.persona_images import name_folder
from evenhand.figure import FigureRow
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.findings import Findings
from evenhand.report.pages import write_report


@dataclass(frozen=True)
class Made:
    """A finished run. Look at it, or copy it, and leave it as it is."""

    folder: Path

    @cached_property
    def results(self) -> Results:
        return RunFolder(self.folder).read_results()

    def row(self, figure: str, **groups: str) -> FigureRow:
        """A figure of its only configuration."""
        [config] = self.predictions["config"].unique()
        return self.results.figures.row(figure, config=config, **groups)

    def value(self, figure: str, **groups: str) -> float:
        return self.row(figure, **groups).value

    @cached_property
    def predictions(self) -> pd.DataFrame:
        return RunFolder(self.folder).read_predictions()

    @cached_property
    def found(self) -> Findings:
        benchmark = get_benchmark("mllm_stereotypes")
        return benchmark.findings(benchmark.prepare(self.predictions), self.results)

    @cached_property
    def page(self) -> str:
        """Its report, whose drawings take longer than all the rest: written when it is asked for."""
        write_report(RunFolder(self.folder))
        return RunFolder(self.folder).report.read_text()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """A folder for --images, as a painter would leave it: four pictures of each trait."""
    folder = tmp_path_factory.mktemp("pictures")
    drawn = evenhand.load_dataset("mllm_stereotypes", "persona_images", split="test")
    drawn = drawn.filter(lambda variant: int(variant) <= 4, input_columns="variant")
    for row in drawn.cast_column("image", datasets.Image(decode=False)):
        path = folder / name_folder(row["instance"]) / f"{row['variant']}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(row["image"]["bytes"])
    return str(folder)


@pytest.fixture
def as_published(pictures, monkeypatch):
    """Options of a run by the authors' protocol; four pictures a trait are taken for the paper's 200."""
    for config in OF_PERSONAS:
        monkeypatch.setitem(PAPER_ROWS, config, 14 * 4)
    return {"source": "official", "images": pictures}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """made("stub:left", faces="rehearsal", …) → a finished run; made(model, …): of a model with an identity."""
    runs = {}

    def call(model, **options):
        stub, name = (None, model) if isinstance(model, str) else (model, model.identity)
        key = (name, *sorted(options.items()))
        if key not in runs:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)
                config = run_config("mllm_stereotypes", name, **options)
                runs[key] = Made(evaluate(config, tmp_path_factory.mktemp("made") / "run", stub).path)
        return runs[key]

    return call
