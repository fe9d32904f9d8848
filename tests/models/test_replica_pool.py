"""Replicas of a model, here all in this process: the same calls and answers as of one, whoever dies."""

import logging
import os
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.flow.runner import Runner
from evenhand.flow.store import Store
from evenhand.models.errors import ModelError
from evenhand.models.protocol import replies
from evenhand.models.registry import Loading
from evenhand.models.replica import ModelSpec, Replica
from evenhand.models.replica_pool import MOST_DEATHS, Died, ReplicaPool, ReplicatedModel
from evenhand.models.request import Message, Request
from tests.scripted_models import Scripted

AT_ONCE = 4


@dataclass(frozen=True)
class Echo(ModelSpec):
    """A model that repeats the last word of a question; its calls are written down in `asked`, a list of texts each."""

    whole: bool = True
    asked: list = field(default_factory=list, compare=False)
    identities: tuple[str, ...] = ("echo",)  # of those that are loaded, one after the other

    def load(self):
        def reply(request):
            text = request.messages[0].text
            self.asked[-1].append(text)
            return text.split()[-1]

        model = Scripted(reply, at_once=AT_ONCE, whole_calls=self.whole)
        model.identity = self.identities[min(self.loaded, len(self.identities) - 1)]
        object.__setattr__(self, "loaded", self.loaded + 1)
        answer = model.answer

        def answered(requests, on_tokens):
            self.asked.append([])
            yield from answer(requests, on_tokens)

        model.answer = answered
        return model

    loaded = 0


class Copy:
    """Dies when it is about to give what `dies` says of it: (its number, how often it gave something)."""

    def __init__(self, number, dies):
        self.replica = Replica(os.getcwd())
        logging.getLogger("evenhand").handlers.clear()  # the process is not its own
        self.number, self.dies = number, dies
        self.given, self.ended = 0, False

    def items(self, stream):
        for item in stream:
            if self.dies(self.number, self.given, item):
                raise Died("killed by a test")
            self.given += 1
            yield item

    def describe(self, spec):
        return self.items(self.replica.describe(spec))

    def answer(self, spec, identity, requests):
        return self.items(self.replica.answer(spec, identity, requests))


class Here:
    """Whichever is ready first is drawn."""

    def __init__(self, dies=lambda number, given, item: False, seed=0):
        self.dies, self.random = dies, random.Random(seed)
        self.copies = []

    def start(self):
        self.copies.append(Copy(len(self.copies), self.dies))
        return self.copies[-1]

    def ready(self, streams, seconds):
        return self.random.choice(streams)

    def item(self, stream):
        return next(stream, None)

    def end(self, idle, busy):
        for copy in (*idle, *busy):
            copy.ended = True

    def waiting_for(self):
        return "nothing"


def model_of(host, spec, replicas=2):
    pool = ReplicaPool(host, replicas)
    return ReplicatedModel(pool, spec, pool.describe(spec))


def questions(n):
    return [Request((Message("user", f"say {i}"),), name=f"q{i}") for i in range(n)]


def texts(answered):
    return [reply.text for reply in answered]


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 60), replicas=st.integers(1, 4), seed=st.integers(0, 99))
def test_calls_are_those_of_one_model(n, replicas, seed):
    """Four requests each, in order, as the runner would ask one model alone."""
    spec = Echo("echo")
    model = model_of(Here(seed=seed), spec, replicas)
    assert model.at_once("generate") == AT_ONCE * replicas * 4
    assert texts(replies(model, questions(n))) == [str(i) for i in range(n)]
    expected = [[f"say {i}" for i in range(start, min(start + AT_ONCE, n))] for start in range(0, n, AT_ONCE)]
    assert sorted(spec.asked) == sorted(expected)


@settings(deadline=None, max_examples=40)
@given(n=st.integers(9, 60), seed=st.integers(0, 99), whole=st.booleans())
def test_of_those_that_die_what_is_open_is_asked_again(n, seed, whole):
    """The first two die before they give a second answer: nothing is lost, and only that is asked twice."""
    spec = Echo("echo", whole=whole)
    host = Here(lambda number, given, item: number < 2 and given == 2, seed)
    model = model_of(host, spec, 2)
    assert texts(replies(model, questions(n))) == [str(i) for i in range(n)]
    dead = sum(copy.given == 2 for copy in host.copies[:2])  # others never came so far
    asked = sorted(text for call in spec.asked for text in call)
    assert len(asked) - len(set(asked)) <= AT_ONCE * dead
    assert all(call in spec.asked for call in [[f"say {i}" for i in range(AT_ONCE)]])


def test_replies_that_came_one_by_one_are_not_asked_again(monkeypatch):
    """A replica gives two replies, each by itself, and dies: the other two of its call are asked of the next."""
    monkeypatch.setattr("evenhand.models.replica.SECONDS", -1.0)
    spec = Echo("echo", whole=False)
    model = model_of(Here(lambda number, given, item: number == 0 and given == 3), spec, 1)
    assert texts(replies(model, questions(4))) == list("0123")
    assert spec.asked == [["say 0", "say 1", "say 2"], ["say 2", "say 3"]]


def test_requests_over_which_every_replica_dies_end_the_run():
    """Others are answered: no place is at fault."""

    def dies(number, given, item):
        return getattr(item, "replies", None) and any(reply.text == "5" for reply in item.replies.values())

    with pytest.raises(ModelError, match=r"3 replicas died over the same requests \(q4, q5, q6 …\).*killed by a test"):
        replies(model_of(Here(dies), Echo("echo"), 4), questions(40))


def test_a_place_where_replicas_die_is_given_up(caplog):
    """The first that starts, and each in its place, dies at once; the other answers everything."""
    host = Here()
    model = model_of(host, Echo("echo"), 2)
    bad = host.copies[0]
    host.dies = lambda number, given, item: number >= 2
    bad.dies = lambda number, given, item: True
    assert texts(replies(model, questions(30))) == [str(i) for i in range(30)]
    assert len(host.copies) <= 2 + MOST_DEATHS - 1
    if len(host.copies) == 4:
        assert "3 replicas died in one place, which is given up" in caplog.text


def test_where_all_die_again_and_again_it_ends():
    with pytest.raises(ModelError, match=r"die again and again.*--batch-size.*the same command goes on"):
        model_of(Here(lambda number, given, item: True), Echo("echo"), 2)


def test_replicas_that_loaded_something_else_are_refused():
    """Two machines, two versions of a folder."""
    for seed in range(5):
        spec = Echo("echo", identities=("echo 1", "echo 2"))
        with pytest.raises(ModelError, match=r"replicas differ: echo \d was loaded on .*--dtype"):
            replies(model_of(Here(seed=seed), spec, 2), questions(40))


def test_what_a_replica_can_not_load_is_said_as_here():
    with pytest.raises(ModelError, match=r"unknown stub 'furst'; accepted: stub:first"):
        model_of(Here(), ModelSpec("stub:furst"))


def test_a_call_that_ends_early_leaves_nothing_under_way():
    host = Here()
    model = model_of(host, Echo("echo"), 2)
    stream = model.answer(questions(40))
    next(stream)
    stream.close()
    assert any(copy.ended for copy in host.copies)
    assert texts(replies(model, questions(9))) == [str(i) for i in range(9)]


def test_two_models_share_their_replicas():
    host = Here()
    pool = ReplicaPool(host, 2)
    specs = [Echo("one"), Echo("two", Loading(batch_size=3))]
    models = [ReplicatedModel(pool, spec, pool.describe(spec)) for spec in specs]
    for model in (*models, *models):
        assert texts(replies(model, questions(20))) == [str(i) for i in range(20)]
    assert len(host.copies) == 2
    pool.close()
    assert all(copy.ended for copy in host.copies)
    with pytest.raises(ModelError, match="have ended"):
        replies(models[0], questions(1))


def test_warnings_are_repeated_here(caplog):
    class Warning(Echo):
        def load(self):
            model = super().load()
            answer = model.answer

            def answered(requests, on_tokens):
                on_tokens(7)
                yield from answer(requests, on_tokens)

            model.answer = answered
            return model

    host = Here()
    model = model_of(host, Warning("echo"), 1)
    host.copies[0].replica._warnings.append("q1 is not answered")
    counted = []
    replies(model, questions(2), counted.append)
    assert counted == [7]
    assert "q1 is not answered" in caplog.text


def test_a_run_stores_the_same_with_replicas_and_without(tmp_path):
    """And one that was killed between two calls goes on with one model alone, which is asked the other calls."""

    def row(number):
        yield [question] if (question := questions(30)[number]) else []
        return [{"id": str(number)}]

    def run(model, path, stop=None):
        with Store(path, {"default": "echo"}) as store:

            def progress(step):
                if stop is not None and len(store) >= stop:
                    raise InterruptedError

            try:
                list(Runner({"default": model}, store, progress).run(map(row, range(30))))
            except InterruptedError:
                return len(store)
            keys = [each.digest("echo") for each in questions(30)]
            return store.get(keys)

    alone, spec = Echo("echo"), Echo("echo")
    expected = run(alone.load(), tmp_path / "alone.sqlite")
    assert len(expected) == 30
    assert run(model_of(Here(), spec, 3), tmp_path / "replicas.sqlite") == expected
    assert sorted(spec.asked) == sorted(alone.asked)

    begun, rest = Echo("echo"), Echo("echo")
    assert run(model_of(Here(seed=2), begun, 3), tmp_path / "killed.sqlite", stop=9) == 12  # whole calls of four
    assert run(rest.load(), tmp_path / "killed.sqlite") == expected
    assert sum(map(len, rest.asked)) == 18
    assert all(call in alone.asked for call in rest.asked)
