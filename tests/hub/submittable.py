"""Runs that could be submitted: small ones of a stub, whose files then say that a model of the Hub ran them all.

A whole run takes hours; what is looked at here is only what is made of its files.
"""

import json
import shutil

import pandas as pd

from tests.edited_runs import write_predictions

MODEL, COMMIT = "lab/small-model", "0123456789abcdef0123456789abcdef01234567"
IDENTITY = f"{MODEL}@{COMMIT} float32"


def whole(source, folder, **changes):
    """A copy of a run, of MODEL, without a limit. changes: of results.json, by dotted names ("config.limit")."""
    shutil.copytree(source, folder)
    told = {"model": MODEL, "model_name": MODEL, "model_identity": IDENTITY, "agents": {"default": IDENTITY}}
    told |= {"config.limit": None, "config.model": MODEL, "differs": []} | changes
    change(folder, **told)
    return folder


def change(folder, **changes):
    """Of results.json; of the configuration in config.json, too."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    for dotted, value in changes.items():
        *outer, name = dotted.split(".")
        place = results
        for part in outer:
            place = place[part]
        place[name] = value
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(results["config"]), encoding="utf-8")


def change_figure(folder, figure, groups=(), **values):
    """Of one row of the table in results.json; groups: {column: value}, of just this row."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    wanted = {"figure": figure, **dict(groups)}
    [row] = [each for each in results["figures"] if {**each, **wanted} == each and _columns(each) == {*dict(groups)}]
    row |= values
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")


def _columns(row):
    return {name for name in row if name in ("scale", "contact", "axis", "scenario", "principle", "action")}


def add_warning(folder, code, **groups):
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    change(folder, warnings=[*results["warnings"], {"code": code, "text": f"It is {code}.", "groups": groups}])


def change_predictions(folder, **columns):
    """Whole columns, to one value each."""
    write_predictions(folder, pd.read_parquet(folder / "predictions.parquet").assign(**columns))


def files(folder):
    """{path in it: its text}"""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
