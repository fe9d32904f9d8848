"""The command line, called in this process."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from evenhand.cli import main


@pytest.fixture
def evenhand(capsys):
    """evenhand("run", …) → its exit code, what it printed (out, err)."""

    def call(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:  # argparse
            code = exit_.code
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return call


@pytest.fixture
def run(evenhand, tmp_path):
    """run("stub:first", …) → the finished run: what was printed, its folder, results and predictions."""

    def call(model, *options, output="run", limit=60):
        folder = tmp_path / output
        arguments = ["contact_hypothesis", "--model", model, "--limit", limit, "--output", folder, *options]
        called = evenhand("run", *arguments)
        assert called.code == 0, called.err
        results = json.loads((folder / "results.json").read_text())
        return SimpleNamespace(
            folder=folder, out=called.out, err=called.err, results=results, metrics=results["metrics"],
            predictions=pd.read_parquet(folder / "predictions.parquet"),
        )  # fmt: skip

    return call
