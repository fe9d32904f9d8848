"""Large runs keep predictions in parts: a resumed one goes on behind them and ends in the same bytes."""

import pytest

from evenhand.errors import EvenhandError
from evenhand.flow import kept_predictions, same_run
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.kept_predictions import KeptPredictions
from evenhand.flow.store import Store
from evenhand.models.request import Reply
from tests.scripted_models import Scripted

ROWS, A_PART = 20, 7  # three predictions a row: parts end within rows, too
FILES = ("predictions.parquet", "results.json")


@pytest.fixture(scope="module", autouse=True)
def small_parts():
    """And no report, which is made of what was written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_predictions, "PREDICTIONS_A_PART", A_PART)
        patch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)
        yield


def answers(most=3 * ROWS):
    """A model of calls of three, that is interrupted after so many replies."""
    left = most

    def reply(request):
        nonlocal left
        left -= 1
        if left < 0:
            raise InterruptedError
        log_probs = ((-0.5,), (-1.5,)) if len(request.messages[-1].text) % 2 else ((-1.5,), (-0.5,))
        return Reply(finish_reason="choice", choice_log_probs=log_probs)

    return Scripted(reply, at_once=3)


def run(folder, model, limit=ROWS, **settings):
    """The run, and how many rows were done before it began."""
    begun = []
    evaluate(
        run_config("contact_hypothesis", "scripted", limit=limit, **settings),
        folder, model, lambda rows, step: begun.append(step.finished),
    )  # fmt: skip
    return begun[0]


def cut_off(folder, most):
    with pytest.raises(InterruptedError):
        run(folder, answers(most))
    return sorted((folder / ".predictions").glob("*"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(folder, answers())
    return [(folder / name).read_bytes() for name in FILES]


def same(folder, whole):
    assert not (folder / ".predictions").exists()
    return [(folder / name).read_bytes() for name in FILES] == whole


def test_a_resumed_run_goes_on_behind_its_parts(tmp_path, whole):
    """48 of 60 replies are 16 rows: 48 predictions, of which six parts of 7 hold 42, 14 rows. 12 replies are asked."""
    assert len(cut_off(tmp_path / "cut", 48)) == 6
    model = answers()
    assert run(tmp_path / "cut", model) == 14
    assert sum(map(len, model.calls)) == 12
    assert same(tmp_path / "cut", whole)


@pytest.mark.parametrize("most", [9, 24, 33, 57])
def test_wherever_it_was_cut_off(tmp_path, whole, most):
    """Parts may end within a row, whose other predictions are read again."""
    parts = cut_off(tmp_path / "cut", most)
    assert len(parts) == most // A_PART
    assert run(tmp_path / "cut", answers()) == len(parts) * A_PART // 3
    assert same(tmp_path / "cut", whole)


def test_parts_of_another_run_are_read_again(tmp_path, whole, monkeypatch):
    """Of other code, or a damaged one and those behind it; or where replies are gone."""
    cut_off(tmp_path / "code", 48)
    with monkeypatch.context() as patch:
        patch.setattr(same_run, "_code", lambda: {"evenhand": "mended"})
        assert run(tmp_path / "code", answers()) == 0
    parts = cut_off(tmp_path / "damaged", 48)
    parts[2].write_bytes(parts[2].read_bytes()[:-9])
    assert run(tmp_path / "damaged", answers()) == 2 * A_PART // 3
    parts = cut_off(tmp_path / "missing", 48)
    parts[0].unlink()
    assert run(tmp_path / "missing", answers()) == 0
    cut_off(tmp_path / "stored", 48)
    for path in (tmp_path / "stored").glob("store.sqlite*"):
        path.unlink()
    assert run(tmp_path / "stored", answers()) == 0
    assert all(same(tmp_path / name, whole) for name in ("code", "damaged", "missing", "stored"))


def test_what_failed_is_remembered_and_asked_again_where_it_was_forgotten(tmp_path):
    """The fifth request fails for good, which a run may bear or not."""

    def model(most, fails):
        scripted = answers(most)
        asked, reply = [], scripted.reply

        def failing(request):
            asked.append(request)
            answer = reply(request)
            return Reply.failure("refused", request) if fails and len(asked) == 5 else answer

        scripted.reply = failing
        return scripted

    with pytest.raises(InterruptedError):
        run(tmp_path / "borne", model(48, fails=True), max_failed=1.0)
    assert run(tmp_path / "borne", answers(), max_failed=1.0) == 14
    assert "1 request failed for good (refused: 1): unread" in (tmp_path / "borne" / "results.json").read_text()
    with pytest.raises(InterruptedError):
        run(tmp_path / "forgotten", model(48, fails=True), max_failed=1.0)
    with Store(tmp_path / "forgotten" / "store.sqlite", {"default": "scripted"}) as store:
        store.forget_failures()
    assert run(tmp_path / "forgotten", answers(), max_failed=1.0) == 0
    assert "failed for good" not in (tmp_path / "forgotten" / "results.json").read_text()


def test_where_other_code_takes_part_nothing_is_kept(tmp_path, whole, monkeypatch):
    monkeypatch.setattr("evenhand.flow.evaluation.same_run", lambda run: None)
    assert cut_off(tmp_path / "cut", 48) == []
    assert run(tmp_path / "cut", answers()) == 0
    assert same(tmp_path / "cut", whole)


def test_other_files_stay(tmp_path):
    """Only parts are removed, and a folder that can't be read as parts is no reason to end."""
    folder = tmp_path / ".predictions"
    folder.mkdir()
    (folder / "thesis.arrow").write_text("mine")
    (folder / "000000.arrow").write_text("no part")
    with Store(tmp_path / "store", {}) as store:
        KeptPredictions(folder, store, lambda: "this").remove()
    assert [path.name for path in folder.iterdir()] == ["thesis.arrow"]


def test_equal_ids_are_refused_as_in_a_small_run(tmp_path):
    with Store(tmp_path / "store", {}) as store:
        kept = KeptPredictions(tmp_path / "parts", store, lambda: "this")
        table = kept.table([[{"id": "a", "n": None}]] * 8 + [[{"id": "b", "n": 2}]], {})
    assert table.to_pydict() == {"id": ["a"] * 8 + ["b"], "n": [None] * 8 + [2]}
    from evenhand.flow.run_folder import RunFolder

    with pytest.raises(EvenhandError, match="have the id of another one"):
        RunFolder(tmp_path).write_table(table)
