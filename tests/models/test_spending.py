"""Limits on requests, tokens and cost of a server, and the pace at which it is asked."""

import json
import threading
import time
from contextlib import closing, suppress

import pytest

from evenhand.errors import UsageError
from evenhand.models.errors import LimitReached, ModelError
from evenhand.models.metered_server import Asker
from evenhand.models.openai_http import JsonServer, Retryable, Stopped
from evenhand.models.openai_server import OpenAIServer
from evenhand.models.request import Message, Request, Sampling
from evenhand.models.server_options import ServerOptions
from evenhand.models.spending import Pace, Price, Spending, Usage, find_price
from tests.hostile.faulty_server import HANGS_UP, Sent, completion, serving
from tests.models.scoring_server import Scoring

TABLE = "model,input,output,currency\ntiny,2.5,10,USD\nother,1,1,EUR\n"


class Clock:
    """Stands still but for those who wait: also the event that ends a wait."""

    def __init__(self):
        self.now, self.waited = 100.0, []
        self.meanwhile = None  # called in the next wait, at its end

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.waited.append(round(seconds, 6))
        self.now += seconds
        called, self.meanwhile = self.meanwhile, None
        if called:
            called()

    def is_set(self):
        return False


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(TABLE)
    return str(path)


def test_requests_are_spaced_evenly(clock):
    """120 a minute: the first at once, each further one half a second after the one before it."""
    pace = Pace(requests_a_minute=120, clock=clock)
    for _ in range(4):
        pace.wait(clock)
    assert clock.waited == [0.5, 0.5, 0.5]
    clock.now += 10  # what was not used is not saved up
    pace.wait(clock)
    pace.wait(clock)
    assert clock.waited == [0.5, 0.5, 0.5, 0.5]


def test_all_wait_as_long_as_the_server_asked(clock):
    """Ten seconds, though it was said while others waited for their turn."""
    pace = Pace(clock=clock)
    pace.wait(clock)
    pace.hold(10)
    pace.hold(3)
    pace.wait(clock)
    assert clock.waited == [10]
    slow = Pace(requests_a_minute=60, clock=clock)
    slow.wait(clock)
    clock.meanwhile = lambda: slow.hold(5)
    slow.wait(clock)  # a second for its turn, and then five
    assert clock.waited == [10, 1, 5]


def test_tokens_are_waited_for_after_they_were_spent(clock):
    """600 a minute, ten a second: after 25 tokens the next request waits two and a half seconds."""
    pace = Pace(tokens_a_minute=600, clock=clock)
    pace.wait(clock)
    pace.spent(25)
    pace.wait(clock)
    assert clock.waited == [2.5]
    pace.spent(5)
    pace.spent(5)
    clock.now += 0.25
    pace.wait(clock)
    assert clock.waited == [2.5, 0.75]


def test_both_paces_hold_and_neither_adds_to_the_other(clock):
    pace = Pace(60, 600, clock)  # a request a second
    for tokens in (5, 20, 0):
        pace.wait(clock)
        pace.spent(tokens)
    assert clock.waited == [1.0, 2.0]


def test_without_a_pace_nothing_waits(clock):
    pace = Pace(clock=clock)
    pace.wait(clock)
    pace.spent(10**9)
    pace.wait(clock)
    assert clock.waited == []


def test_a_price_is_of_a_million_tokens(prices):
    price = find_price("tiny", prices)
    assert price == Price(2.5, 10.0, "USD")
    assert price.cost(Usage(1_000_000, 100_000)) == 3.5


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("model,input,currency\ntiny,1,USD\n", "model, input, output, currency.*no such row"),
        ("model,input,output,currency\nother,1,1,USD\n", "one row for 'tiny'"),
        (TABLE + "tiny,1,1,USD\n", "one row for 'tiny'"),
        ("model,input,output,currency\ntiny,1,a lot,USD\n", "'1', 'a lot', 'USD'"),
        ("model,input,output,currency\ntiny,-1,1,USD\n", "0 or more, and a currency's name"),
        ("model,input,output,currency\ntiny,nan,1,USD\n", "0 or more, and a currency's name"),
        ("model,input,output,currency\ntiny,1,1,\n", "0 or more, and a currency's name"),
    ],
)
def test_tables_of_prices_that_are_refused(tmp_path, table, says):
    path = tmp_path / "prices.csv"
    path.write_text(table)
    with pytest.raises(ModelError, match=says):
        find_price("tiny", str(path))


def test_prices_in_json_and_none(tmp_path):
    path = tmp_path / "prices.json"
    path.write_text(json.dumps([{"model": "tiny", "input": 0.5, "output": 2, "currency": "EUR"}]))
    assert find_price("tiny", str(path)) == Price(0.5, 2.0, "EUR")
    with pytest.raises(UsageError, match="does not exist"):
        find_price("tiny", str(tmp_path / "none.csv"))


NEVER = threading.Event()


def test_what_is_under_way_is_held_at_its_most():
    """Of 100 tokens 40 are held, so that 70 more wait; when the 40 were 10, they go; then no more than 20 do."""
    spending = Spending(ServerOptions(max_total_tokens=100), None)
    spending.hold([Usage(30, 10)], NEVER)
    with pytest.raises(LimitReached):
        spending.hold([Usage(60, 10)], NEVER, patient=False)
    waits = threading.Thread(target=spending.hold, args=([Usage(60, 10)], NEVER))
    waits.start()
    assert waits.is_alive()
    spending.settle(Usage(30, 10), Usage(8, 2))
    waits.join(20)
    assert not waits.is_alive()
    spending.settle(Usage(60, 10), None)  # lost: reckoned at 70
    spending.hold([Usage(15, 5)], NEVER)
    spending.release([Usage(15, 5)])
    with pytest.raises(LimitReached) as raised:
        spending.hold([Usage(15, 6)], NEVER)
    for said in (
        "--max-total-tokens 100 ",
        "2 requests, 68 tokens read, 12 written (1 lost",
        "15 tokens read, 6 written",
    ):
        assert said in str(raised.value)


def test_whoever_waits_for_a_limit_can_be_stopped():
    spending, stop = Spending(ServerOptions(max_requests=1), None), threading.Event()
    spending.hold([Usage(1, 1)], stop)
    stop.set()
    with pytest.raises(Stopped):
        spending.hold([Usage(1, 1)], stop)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ({"messages": ["x" * 80], "max_tokens": 16}, Usage(116, 16)),  # bytes of its JSON
        ({"messages": ["ä"], "max_completion_tokens": 7}, Usage(52, 7)),  # as it is sent: \u00e4
        ({"prompt": (1, 2, 3), "max_tokens": 1}, Usage(3, 1)),
    ],
)
def test_the_most_that_a_request_may_take(body, most):
    spending = Spending(ServerOptions(), None)
    assert spending.most(body) == most
    spending.hold([Usage(3, 1)], NEVER)
    spending.settle(Usage(3, 1), Usage(900, 1))  # a template of its own, or pictures
    assert spending.most(body).read == (3 if "prompt" in body else 900)


def question(i):
    return Request((Message("user", f"question {i}"),), name=f"row {i}", sampling=Sampling(max_new_tokens=100))


def until_stopped(server, n=20, batch_size=1, **options):
    """The replies of n questions, and the error that ended them."""
    came = []

    def ask(model):
        for each in model.answer([question(i) for i in range(n)]):
            came.append(each)

    model = OpenAIServer(server.url, "tiny", batch_size=batch_size, options=ServerOptions(backoff=0.0, **options))
    with closing(model), pytest.raises(ModelError) as raised:
        ask(model)
    return came, str(raised.value)


def priced(body):
    """0.0025 and 0.001 USD: 0.0035."""
    return Sent(completion("yes", usage={"prompt_tokens": 1000, "completion_tokens": 100}))


LIMITS = [
    ({"max_requests": 5}, 5, "--max-requests 5 would be exceeded: this command took 5 requests, 5,000 tokens read"),
    ({"max_total_tokens": 4400}, 4, "--max-total-tokens 4,400 would be exceeded: this command took 4 requests"),
    ({"max_cost": 0.0139}, 3, "--max-cost 0.0139 would be exceeded: this command took 3 requests, 3,000 tokens r"),
    (
        {"max_cost": 0.014},
        4,
        "4,000 tokens read, 400 written, 0.014 USD; next: 1 requests, 1,000 tokens read, 100 written, 0.0035 USD",
    ),
]


@pytest.mark.parametrize(("options", "answered", "says"), LIMITS)
def test_a_limit_is_reached_and_never_passed(prices, options, answered, says):
    """What was answered comes before the error."""
    with serving() as start:
        server = start(priced)
        came, error = until_stopped(server, prices=prices, **options)
    assert (len(came), len(server.asked)) == (answered, answered)
    assert says in error


def test_many_at_once_send_no_more_than_they_may():
    with serving() as start:
        server = start(priced)
        came, _ = until_stopped(server, batch_size=16, max_requests=5)
    assert (len(came), len(server.asked)) == (5, 5)


def test_many_at_once_stay_below_what_they_may_cost(prices):
    """Each may cost 0.001 USD and some for its prompt, all of it for 100 tokens that it may write: of 0.0101 no more
    than ten are under way, though sixteen would fit if what they take were known."""
    at_once, most = [0], [0]
    lock = threading.Lock()

    def answer(body):
        with lock:
            at_once[0] += 1
            most[0] = max(most)
            most.append(at_once[0])
        time.sleep(0.01)
        with lock:
            at_once[0] -= 1
        return Sent(completion("yes", usage={"prompt_tokens": 20, "completion_tokens": 1}))

    with serving() as start:
        came, error = until_stopped(start(answer), 200, 16, prices=prices, max_cost=0.0101)
    assert max(most) <= 10
    # 20 and 1 tokens: 0.00006 each. The last one that is sent fits at its most.
    cost = 0.00006 * len(came)
    assert 0.0101 - 0.002 < cost <= 0.0101
    assert "--max-cost 0.0101 would be exceeded" in error


def test_attempts_that_failed_are_counted():
    """Every second one is: four requests for two answers."""
    left = [Sent({}, 503), priced({})] * 9
    with serving() as start:
        came, error = until_stopped(start(lambda body: left.pop(0)), max_requests=4)
    assert len(came) == 2
    assert "took 4 requests, 2,000 tokens read, 200 written; next" in error


def test_lost_answers_are_reckoned_at_their_most():
    """They may have been written, and charged: a connection that breaks, a page in place of an answer. A server that
    says that it is busy has written nothing."""
    left = [HANGS_UP, Sent(b"<html>"), Sent({}, 503), priced({})]
    with serving() as start:
        server = start(lambda body: left.pop(0))
        came, error = until_stopped(server, max_requests=4)
        most = len(json.dumps(server.asked[0]))
    assert len(came) == 1
    assert (
        f"took 4 requests, {1000 + 2 * most:,} tokens read, {100 + 2 * 100:,} written (2 lost or uncounted answers"
        in error
    )


def test_a_server_that_counts_no_tokens_is_reckoned():
    with serving() as start:
        came, error = until_stopped(start(), max_total_tokens=1000)
    assert 2 <= len(came) <= 5
    assert f"({len(came)} lost or uncounted answers at their most)" in error


def test_a_cost_needs_prices():
    with pytest.raises(ModelError, match="--max-cost needs --prices FILE"):
        OpenAIServer("http://127.0.0.1:9/v1", "tiny", options=ServerOptions(max_cost=1.0))


def test_scoring_is_counted_whole(tiny_llama, tokenizer):
    """A request whose options take several questions to the server is not begun where a limit would break it off."""
    served = Scoring(tiny_llama, tokenizer, ("token ids",))
    requests = [Request((Message("user", "Is it?"),), ("Likely", "Unlikely"), name=f"row {i}") for i in range(3)]
    with serving() as start:
        url = start(routes=served.routes).url
        with closing(OpenAIServer(url, "tiny", batch_size=1)) as model:
            assert "choose" in model.can
            tried = model.spending.requests
            assert len(list(model.answer(requests))) == 3
            each = (model.spending.requests - tried) // 3
        assert each > 1
        options = ServerOptions(max_requests=tried + 2 * each - 1)
        came = []
        with closing(OpenAIServer(url, "tiny", batch_size=1, options=options)) as model:
            assert "choose" in model.can
            with pytest.raises(LimitReached, match=rf"next: {each} requests"):
                came.extend(model.answer(requests))
            assert model.spending.requests == tried + each
        too_few = OpenAIServer(url, "tiny", options=ServerOptions(max_requests=1))
        with closing(too_few), pytest.raises(LimitReached):
            too_few.can  # noqa: B018 - it asks


def test_a_limit_that_ends_one_request_ends_no_other_that_runs(tiny_llama, tokenizer):
    """Of two requests that take all that is left, one fails once, and can't be sent again: the other is answered."""
    served = Scoring(tiny_llama, tokenizer, ("token ids",))
    first, failed, both = threading.Lock(), threading.Event(), threading.Barrier(2)

    def complete(body):
        if not began.is_set() or failed.is_set():
            return served.complete(body)
        both.wait(30)
        if first.acquire(blocking=False):
            return Sent({"error": "busy"}, 503, {"Retry-After": "0"})
        time.sleep(0.5)
        failed.set()
        return served.complete(body)

    began = threading.Event()
    requests = [Request((Message("user", "Is it?"),), ("Likely", "Unlikely"), name=f"row {i}") for i in range(3)]
    with serving() as start:
        url = start(routes=served.routes | {"/v1/completions": complete}).url
        with closing(OpenAIServer(url, "tiny", batch_size=1)) as model:
            assert "choose" in model.can
            tried = model.spending.requests
            assert len(list(model.answer(requests[:1]))) == 1
            each = model.spending.requests - tried
        options = ServerOptions(max_requests=tried + 2 * each)
        came = []
        with closing(OpenAIServer(url, "tiny", batch_size=2, options=options)) as model:
            assert "choose" in model.can
            began.set()
            with pytest.raises(LimitReached):
                came.extend(model.answer(requests))
    assert len(came) == 1


def test_nobody_asks_before_the_time_that_the_server_named(clock):
    """Busy for 7 seconds: the next request, whoever's it is, waits for them; a page of errors asks nobody to wait."""
    left = [Sent({}, 503, {"Retry-After": "7"}), Sent(b"<html>", 502), priced({})]
    pace = Pace(clock=clock)
    with serving() as start, closing(JsonServer(start(lambda body: left.pop(0)).url)) as server:
        ask = Asker(server, Spending(ServerOptions(), None), pace, stop=clock)
        for waited in ([], [7], [7]):
            with suppress(Retryable):
                ask._attempt("/chat/completions", {})
            assert clock.waited == waited
    assert left == []


def test_waiting_ends_when_the_call_does():
    """A pace of one a minute: the second request waits, and the call that is closed waits for nothing."""
    with serving() as start:
        server = start(priced)
        with closing(OpenAIServer(server.url, "tiny", options=ServerOptions(requests_per_minute=1))) as model:
            coming = model.answer([question(0), question(1)])
            assert next(coming)[1].text == "yes"
            workers = [thread for thread in threading.enumerate() if "(work)" in thread.name]
            coming.close()
            for thread in workers:
                thread.join(20)
            assert not any(thread.is_alive() for thread in workers)
        assert len(server.asked) == 1
