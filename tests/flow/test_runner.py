"""The runner: right replies to right episodes, nothing asked twice, the same batches however often interrupted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError
from evenhand.flow.runner import Runner, Step, Tolerance
from evenhand.flow.store import Store
from evenhand.models.protocol import kind_of
from evenhand.models.request import Message, Reply, Request, Sampling


class Echo:
    """Answers with what it was asked; remembers every batch. Fails after `calls` batches, where given."""

    can = frozenset({"generate", "choose"})
    whole_calls = True

    def __init__(self, identity="echo", at_once=3, calls=None, texts_at_once=None):
        self.identity = self.name = identity
        self.sizes = {"choose": at_once, "generate": texts_at_once or at_once}
        self.calls = calls
        self.batches = []

    def at_once(self, kind):
        return self.sizes[kind]

    def answer(self, requests, on_tokens):
        if self.calls is not None and len(self.batches) == self.calls:
            raise InterruptedError("killed")
        kind = kind_of(requests[0])
        self.batches.append([(kind, request.messages[-1].text) for request in requests])
        for place, request in reversed(list(enumerate(requests))):  # in any order
            text = f"{self.identity} {kind} {request.messages[-1].text}"
            on_tokens(len(text.split()))
            yield place, Reply(text, "choice" if kind == "choose" else "stop")

    def close(self):
        raise AssertionError("whoever made a model closes it")


def request(text, **fields):
    return Request((Message("user", text),), **fields)


def talk(row, turns):
    """An episode of several steps, whose every step depends on the replies before it."""
    heard = ""
    for step, width in enumerate(turns):
        requests = [request(f"row {row} step {step} number {i} after {heard}") for i in range(width)]
        replies = yield requests
        assert [reply.text for reply in replies] == [f"echo generate {each.messages[0].text}" for each in requests]
        heard = str(len(replies))
    return [{"id": f"{row}", "heard": heard, "turns": len(turns)}]


def play(path, shapes, **echo):
    model = Echo(**echo)
    with Store(path, {"default": model.identity}) as store:
        runner = Runner({"default": model}, store)
        try:
            return list(runner.run(talk(row, turns) for row, turns in enumerate(shapes))), model.batches
        except InterruptedError:
            return None, model.batches


shapes = st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=30)


@settings(max_examples=40, deadline=None)
@given(shapes=shapes, at_once=st.integers(1, 7), patience=st.integers(1, 4))
def test_an_interrupted_run_asks_the_same_batches_and_nothing_twice(tmp_path_factory, shapes, at_once, patience):
    folder = tmp_path_factory.mktemp("stores")
    whole, batches = play(folder / "whole.sqlite", shapes, at_once=at_once)
    done, resumed = None, []
    while done is None:
        done, some = play(folder / "killed.sqlite", shapes, at_once=at_once, calls=patience)
        resumed += some
    assert done == whole
    assert resumed == batches
    asked = [each for batch in batches for each in batch]
    assert len(asked) == len(set(asked)) == sum(sum(turns) for turns in shapes)
    assert [each["id"] for [each] in whole] == [str(row) for row in range(len(shapes))]


def test_requests_with_many_choices_fill_a_batch_sooner(tmp_path):
    """Of two choices, as many as a call takes; of six, a third of them; one that is larger than a call, alone."""

    def ask(number, letters):
        yield [request(f"{number} {letter}", choices=tuple(letters)) for letter in "xyzuvw"]
        return []

    sizes = {}
    for letters in ("ab", "abcdef", "abcdefghijklmnop"):
        model = Echo(at_once=6)
        with Store(tmp_path / f"{letters}.sqlite", {"default": model.identity}) as store:
            list(Runner({"default": model}, store).run(ask(number, letters) for number in range(2)))
        sizes[len(letters)] = [len(batch) for batch in model.batches]
    assert sizes == {2: [6, 6], 6: [2] * 6, 16: [1] * 12}


def test_what_few_episodes_ask_waits_for_others(tmp_path):
    """Ten episodes choose, then write, three or six at once: three texts alone, half a call, wait for three more."""

    def ask(number):
        yield [request(f"{number} chooses", choices=("a", "b"))]
        yield [request(f"{number} writes")]
        return []

    model = Echo(at_once=3, texts_at_once=6)
    with Store(tmp_path / "store.sqlite", {"default": model.identity}) as store:
        list(Runner({"default": model}, store).run(ask(number) for number in range(10)))
    assert [f"{batch[0][0]} {len(batch)}" for batch in model.batches] == [
        *("choose 3", "choose 3", "generate 6"),
        *("choose 3", "generate 3"),
        *("choose 1", "generate 1"),
    ]


def test_batches_are_full_while_any_episode_is_ready(tmp_path):
    """Rows in order, and no batch smaller than it could be."""
    _, batches = play(tmp_path / "store.sqlite", [[1]] * 10, at_once=4)
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert batches[0][0][1].startswith("row 0 ")


def test_a_finished_run_asks_nothing(tmp_path):
    first, _ = play(tmp_path / "store.sqlite", [[2, 1], [1]])
    second, batches = play(tmp_path / "store.sqlite", [[2, 1], [1]])
    assert second == first
    assert batches == []


def test_equal_requests_are_asked_once(tmp_path):
    def same():
        replies = yield [request("the same")]
        return [{"text": replies[0].text}]

    model = Echo()
    with Store(tmp_path / "store.sqlite", {"default": "echo"}) as store:
        predictions = list(Runner({"default": model}, store).run(same() for _ in range(5)))
    assert model.batches == [[("generate", "the same")]]
    assert predictions == [[{"text": "echo generate the same"}]] * 5


def test_requests_reach_the_agent_they_name_and_the_right_method(tmp_path):
    def ensemble():
        replies = yield [
            request("a", agent="one"),
            request("b", agent="two", choices=("x", "y")),
            request("c", agent="one"),
        ]
        return [{"text": " | ".join(reply.text for reply in replies)}]

    agents = {"one": Echo("first"), "two": Echo("second")}
    with Store(tmp_path / "store.sqlite", {"one": "first", "two": "second"}) as store:
        predictions = list(Runner(agents, store).run([ensemble()]))
    assert predictions == [[{"text": "first generate a | second choose b | first generate c"}]]


def test_the_window_holds_few_episodes_at_a_time(tmp_path):
    """However many rows there are, only some have begun."""
    begun = []

    def row(number):
        begun.append(number)
        yield [request(f"{number}")]
        return []

    model = Echo(at_once=2, calls=1)
    with Store(tmp_path / "store.sqlite", {"default": "echo"}) as store:
        try:
            list(Runner({"default": model}, store).run(row(i) for i in range(100_000)))
        except InterruptedError:
            assert len(begun) < 50
        else:
            raise AssertionError("the model was to fail")


def test_predictions_arrive_while_later_rows_are_still_asked(tmp_path):
    model = Echo(at_once=2)
    with Store(tmp_path / "store.sqlite", {"default": "echo"}) as store:
        arriving = Runner({"default": model}, store).run(talk(row, [1]) for row in range(1000))
        assert next(arriving)[0]["id"] == "0"
        assert len(model.batches) == 1


def test_progress_counts_rows_replies_and_tokens(tmp_path):
    """Four rows of two requests; an answer has two words more than its eight-word question."""
    seen = []
    with Store(tmp_path / "store.sqlite", {"default": "echo"}) as store:
        list(Runner({"default": Echo()}, store, seen.append).run(talk(row, [2]) for row in range(4)))
    assert [sum(getattr(step, name) for step in seen) for name in ("finished", "replied", "tokens")] == [4, 8, 8 * 9]
    assert all(isinstance(step, Step) for step in seen)


class OneByOne(Echo):
    """A server: each reply is there for itself. Dies after so many."""

    whole_calls = False

    def __init__(self, replies):
        super().__init__(at_once=10)
        self.left = replies

    def answer(self, requests, on_tokens):
        for each in super().answer(requests, on_tokens):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield each


@pytest.mark.parametrize("replies", [0, 1, 7, 13])
def test_a_reply_that_came_by_itself_is_stored_at_once(tmp_path, replies):
    """Whatever ends a call: what a server has answered is never asked again."""
    path = tmp_path / "store.sqlite"
    with Store(path, {"default": "echo"}) as store:
        with pytest.raises(KeyboardInterrupt):
            list(Runner({"default": OneByOne(replies)}, store).run(talk(row, [2]) for row in range(10)))
        assert len(store) == replies
        after = OneByOne(1000)
        assert len(list(Runner({"default": after}, store).run(talk(row, [2]) for row in range(10)))) == 10
        assert sum(map(len, after.batches)) == 20 - replies


class Picky(Echo):
    """Some prompts are beyond it, for good."""

    def __init__(self, beyond):
        super().__init__(at_once=4)
        self.beyond = beyond

    def answer(self, requests, on_tokens):
        for place, reply in super().answer(requests, on_tokens):
            too_long = requests[place].messages[-1].text in self.beyond
            yield place, Reply.failure("context_exceeded", requests[place]) if too_long else reply


def failing(folder, which, tolerance, requests=1):
    """(predictions, failures) of 20 rows, each of so many requests, of which some fail."""

    def row(number):
        replies = yield [request(f"row {number}" + "!" * k) for k in range(requests)]
        reply = replies[0]
        return [{"read": None if reply.failed else reply.text, "finish_reason": reply.finish_reason}]

    with Store(folder / "store.sqlite", {"default": "echo"}) as store:
        runner = Runner({"default": Picky({f"row {i}" for i in which})}, store, tolerance=tolerance)
        predictions = [each for some in runner.run(row(number) for number in range(20)) for each in some]
        return predictions, dict(runner.failures)


def test_a_request_that_fails_for_good_is_unread_with_its_reason(tmp_path):
    for _ in range(2):  # the second time out of the store
        predictions, failures = failing(tmp_path, range(2), Tolerance(0.1, 20))
        assert failures == {"context_exceeded": 2}
        assert [each["read"] for each in predictions[:2]] == [None, None]
        assert {each["finish_reason"] for each in predictions[:2]} == {"context_exceeded"}
        assert all(each["finish_reason"] == "stop" for each in predictions[2:])


def test_too_many_failures_end_a_run(tmp_path):
    with pytest.raises(
        EvenhandError, match=r"3 requests failed for good \(context exceeded: 3\), more than --max-failed"
    ):
        failing(tmp_path, range(3), Tolerance(0.1, 20))
    assert failing(tmp_path, range(3), Tolerance(0.15, 20))[1] == {"context_exceeded": 3}


@pytest.mark.parametrize("which", [range(4), range(16, 20)], ids=["first", "last"])
def test_failures_are_a_share_of_all_requests_wherever_they_stand(tmp_path, which):
    """Of 60 requests four fail: 6.7 percent, though they may be all of the first batch."""
    assert failing(tmp_path, which, Tolerance(0.07, 20), requests=3)[1] == {"context_exceeded": 4}
    with pytest.raises(EvenhandError, match="4 requests failed"):
        failing(tmp_path, which, Tolerance(0.06, 20), requests=3)


def test_a_stricter_bound_holds_for_what_is_stored_too(tmp_path):
    failing(tmp_path, range(3), Tolerance(0.15, 20))
    with pytest.raises(EvenhandError, match="3 requests failed"):
        failing(tmp_path, range(3), Tolerance(0.1, 20))


def test_a_request_that_rows_share_fails_once(tmp_path):
    for _ in range(2):

        def row(number):
            yield [request("the same" if number % 2 else f"row {number}")]
            return [{"read": number}]

        with Store(tmp_path / "store.sqlite", {"default": "echo"}) as store:
            runner = Runner({"default": Picky({"the same"})}, store, tolerance=Tolerance(0.1, 20))
            assert len(list(runner.run(row(number) for number in range(20)))) == 20
            assert runner.failures == {"context_exceeded": 1}


def test_what_failed_too_often_is_asked_again_once_it_is_mended(tmp_path):
    with pytest.raises(EvenhandError, match=r"what failed is asked again"):
        failing(tmp_path, range(3), Tolerance(0.1, 20))
    predictions, failures = failing(tmp_path, [], Tolerance(0.1, 20))
    assert failures == {}
    assert all(each["read"] for each in predictions)


def test_sampled_requests_of_other_seeds_are_other_requests(tmp_path):
    def draw(seed):
        replies = yield [request("the same", seed=seed, sampling=Sampling(temperature=1.0))]
        return [{"text": replies[0].text}]

    model = Echo()
    with Store(tmp_path / "store.sqlite", {"default": "echo"}) as store:
        list(Runner({"default": model}, store).run(draw(seed) for seed in (1, 2, 1)))
    assert len(model.batches[0]) == 2
