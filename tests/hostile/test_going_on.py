"""How fast and how patiently is no part of what a run is: it goes on with other batches, patience or another device."""

import contextlib
import logging
import sqlite3

import pandas as pd
import pytest

from evenhand.errors import UsageError
from evenhand.flow.configuration import deciding, differences, run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.run_folder import RunFolder
from evenhand.models.openai_server import OpenAIServer
from evenhand.models.registry import load_model
from evenhand.models.server_options import ServerOptions
from evenhand.options import fields_of
from evenhand.tools.generation.agency_pairs import PairGeneration

NAME = "contact_hypothesis"
FILES = ("config.json", "predictions.parquet", "results.json", "report.html")


def apart(model, one, other):
    """What keeps a run with these settings from going on with those."""
    records = [run_config(NAME, model, **each).to_json() for each in (one, other)]
    config = run_config(NAME, model, **other)
    return differences(*(deciding(config, record) for record in records))


def pairs(**options):
    return {"model_options": tuple(options.items())}


@pytest.mark.parametrize(
    ("model", "one", "other"),
    [
        ("stub:first", {"batch_size": 2}, {"batch_size": 5, "max_failed": 0.5}),
        ("http://127.0.0.1:9/v1#m", pairs(timeout="5"), pairs(timeout="60", attempts="2", backoff="0")),
        ("http://127.0.0.1:9/v1#m", {}, pairs(attempts="1")),
        ("some/model", pairs(device_map="cpu", scoring="padded"), pairs(**{"device-map": "auto", "scoring": "padded"})),
    ],
)
def test_what_decides_nothing(model, one, other):
    assert apart(model, one, other) == apart(model, other, one) == []


@pytest.mark.parametrize(
    ("model", "one", "other", "told"),
    [
        ("stub:first", {"seed": 1}, {"seed": 2, "batch_size": 3}, "seed: 1, not 2"),
        ("stub:first", {"order": "paper"}, {"order": "balanced"}, "options.order"),
        ("some/model", pairs(scoring="padded"), pairs(scoring="auto"), "model_options"),
        ("some/model", pairs(base="a", device_map="cpu"), pairs(base="b"), "model_options"),
        ("nosuch:model", pairs(timeout="5"), pairs(timeout="6"), "model_options"),
    ],
)
def test_what_decides(model, one, other, told):
    [difference] = apart(model, one, other)
    assert told in difference


def test_the_incidental_options():
    """Each is declared beside the option itself."""
    from evenhand.flow.configuration import RunConfig
    from evenhand.models.transformers_backend import TransformersOptions

    found = {
        kind.__name__: {each.name for each in fields_of(kind) if each.incidental}
        for kind in (RunConfig, PairGeneration, ServerOptions, TransformersOptions)
    }
    assert found["RunConfig"] == found["PairGeneration"] == {"batch_size", "max_failed"}
    assert {"timeout", "attempts", "backoff"} <= found["ServerOptions"]
    assert found["TransformersOptions"] == {"device_map", "prompt_memory"}


def test_generated_data_goes_on_likewise(tmp_path):
    with RunFolder.begin(tmp_path, PairGeneration(batch_size=2)):
        pass
    with RunFolder.begin(tmp_path, PairGeneration(batch_size=9, max_failed=1.0)) as folder:
        assert folder.begun()["batch_size"] == 2
    other = RunFolder.begin(tmp_path, PairGeneration(seed=9))
    with pytest.raises(UsageError, match=r"other settings \(seed: 0, not 9\)"), other:
        pytest.fail("begun")


def test_no_store_depends_on_them(tiny_checkpoint):
    """What stands for a model in stores says nothing of batches, patience or device."""
    loaded = [
        load_model(str(tiny_checkpoint), dtype="float32", batch_size=2),
        load_model(str(tiny_checkpoint), dtype="float32", batch_size=9, options={"device_map": "cpu"}),
    ]
    assert loaded[0].identity == loaded[1].identity
    servers = [
        OpenAIServer("http://127.0.0.1:9/v1", "m", batch_size=size, options=ServerOptions(timeout=size, attempts=size))
        for size in (1, 7)
    ]
    assert servers[0].identity == servers[1].identity


def half_forgotten(folder):
    """As if the run had been cut off in its middle."""
    with contextlib.closing(sqlite3.connect(folder / "store.sqlite")) as connection:
        keys = [key for [key] in connection.execute("SELECT key FROM replies ORDER BY key")]
        connection.executemany("DELETE FROM replies WHERE key = ?", [[key] for key in keys[::2]])
        connection.commit()
    for name in FILES[1:]:
        (folder / name).unlink()


def config(checkpoint, dtype, batch_size, **more):
    return run_config(NAME, str(checkpoint), limit=5, dtype=dtype, batch_size=batch_size, **more)


def test_other_batches_write_the_same_texts(tiny_checkpoint, tmp_path, caplog):
    """In float32, to the byte, in all that a run leaves; its configuration stays that with which it was begun."""
    sampling = {"protocol": "generate", "temperature": 1.0, "max_new_tokens": 4}
    folder = evaluate(config(tiny_checkpoint, "float32", 2, **sampling), tmp_path / "run").path
    whole = {name: (folder / name).read_bytes() for name in FILES}
    half_forgotten(folder)
    evaluate(config(tiny_checkpoint, "float32", 7, **sampling), folder)
    for name, content in whole.items():
        assert (folder / name).read_bytes() == content, name
    assert not caplog.records


def test_other_batches_score_choices_alike(tiny_checkpoint, tmp_path):
    """In float32, but for the last bits of probabilities, which are sums in another order."""
    folder = evaluate(config(tiny_checkpoint, "float32", 2), tmp_path / "run")
    whole = folder.read_predictions()
    half_forgotten(folder.path)
    evaluate(config(tiny_checkpoint, "float32", 7), folder.path)
    pd.testing.assert_frame_equal(folder.read_predictions(), whole, rtol=1e-5)


def test_in_16_bits_near_ties_are_told_of(tiny_checkpoint, tmp_path, caplog):
    """Where something is still to be asked, and other batches ask it."""
    caplog.set_level(logging.WARNING, logger="evenhand")
    folder = evaluate(config(tiny_checkpoint, "bfloat16", 2), tmp_path / "run").path
    evaluate(config(tiny_checkpoint, "bfloat16", 7), folder)
    assert "16 bits" not in caplog.text
    half_forgotten(folder)
    evaluate(config(tiny_checkpoint, "bfloat16", 7), folder)
    assert "The run was begun with batch_size: 2, not 7." in caplog.text
    assert "another may be taken than without this change" in caplog.text
