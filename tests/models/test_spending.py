"""Limits on requests, tokens and cost of a server, and the pace at which it is asked."""

import json
import threading
from contextlib import closing

import pytest

from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.openai_server import OpenAIServer
from evenhand.models.pace import Pace
from evenhand.models.request import Message, Request
from evenhand.models.server_options import ServerOptions
from evenhand.models.spending import LimitReached, Price, Spending, Usage, price_of
from tests.hostile.faulty_server import Sent, completion, serving
from tests.models.scoring_server import Scoring

TABLE = "model,input,output,currency\ntiny,2.5,10,USD\nother,1,1,EUR\n"


class Clock:
    """Stands still but for those who wait: also the event that ends a wait."""

    def __init__(self):
        self.now, self.waited = 100.0, []

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.waited.append(round(seconds, 6))
        self.now += seconds


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
    price = price_of("tiny", prices)
    assert price == Price(2.5, 10.0, "USD")
    assert price.of(1_000_000, 100_000) == 3.5


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("model,input,currency\ntiny,1,USD\n", "has no column output; accepted: model, input, output, currency"),
        ("model,input,output,currency\nother,1,1,USD\n", "has no rows of 'tiny'; give it one"),
        (TABLE + "tiny,1,1,USD\n", "has 2 rows of 'tiny'; give it one"),
        ("model,input,output,currency\ntiny,1,a lot,USD\n", "'1', 'a lot', 'USD' came for 'tiny'; two numbers"),
        ("model,input,output,currency\ntiny,-1,1,USD\n", "two numbers of 0 or more and a currency's name"),
        ("model,input,output,currency\ntiny,nan,1,USD\n", "two numbers of 0 or more"),
        ("model,input,output,currency\ntiny,1,1,\n", "two numbers of 0 or more and a currency's name"),
    ],
)
def test_tables_of_prices_that_are_refused(tmp_path, table, says):
    path = tmp_path / "prices.csv"
    path.write_text(table)
    with pytest.raises(ModelError, match=says):
        price_of("tiny", str(path))


def test_prices_in_json_and_none(tmp_path):
    path = tmp_path / "prices.json"
    path.write_text(json.dumps([{"model": "tiny", "input": 0.5, "output": 2, "currency": "EUR"}]))
    assert price_of("tiny", str(path)) == Price(0.5, 2.0, "EUR")
    with pytest.raises(UsageError, match="does not exist"):
        price_of("tiny", str(tmp_path / "none.csv"))


def test_a_limit_counts_what_is_under_way():
    """40 tokens each, of 100: the second may be sent, and the third would exceed the limit, answered or not."""
    spending = Spending(ServerOptions(max_total_tokens=100), None)
    for _ in range(2):
        spending.check()
        spending.begin()
        spending.end(Usage(30, 10))
    with pytest.raises(LimitReached, match=r"--max-total-tokens 100 is reached \(2 requests, 60 tokens read, 20 writ"):
        spending.check()
    other = Spending(ServerOptions(max_total_tokens=100), None)
    other.begin()
    other.begin()
    other.end(Usage(30, 10))
    with pytest.raises(LimitReached):
        other.check()


def question(i):
    return Request((Message("user", f"question {i}"),), name=f"row {i}")


def until_stopped(server, n=20, **options):
    """The replies of n questions, and the error that ended them."""
    came = []
    model = OpenAIServer(server.url, "tiny", batch_size=1, options=ServerOptions(backoff=0.0, **options))
    with closing(model), pytest.raises(ModelError) as raised:
        for each in model.answer([question(i) for i in range(n)]):
            came.append(each)
    return came, str(raised.value)


def priced(body):
    return Sent(completion("yes", usage={"prompt_tokens": 1000, "completion_tokens": 100}))


@pytest.mark.parametrize(
    ("options", "answered", "says"),
    [
        ({"max_requests": 5}, 5, "--max-requests 5 is reached (5 requests, 5,000 tokens read, 500 written"),
        ({"max_total_tokens": 4400}, 4, "--max-total-tokens 4,400 is reached (4 requests, 4,000 tokens read"),
        # 0.0025 and 0.001: 0.0035 each
        ({"max_cost": 0.011}, 3, "--max-cost 0.011 USD is reached (3 requests, 3,000 tokens read, 300 written, 0.0105"),
    ],
)
def test_a_limit_ends_a_call_and_keeps_what_was_answered(prices, options, answered, says):
    with serving() as start:
        server = start(priced)
        came, error = until_stopped(server, prices=prices, **options)
        assert (len(came), len(server.asked)) == (answered, answered)
        assert says in error
        assert "the same command with a larger --" in error


def test_attempts_that_failed_are_counted():
    """Every second one is: four requests for two answers."""
    left = [Sent({}, 503), priced({})] * 9
    with serving() as start:
        came, error = until_stopped(start(lambda body: left.pop(0)), max_requests=4)
    assert len(came) == 2
    assert "(4 requests, 2,000 tokens read" in error


def test_a_server_that_counts_no_tokens_keeps_no_limit_of_them():
    with serving() as start:
        came, error = until_stopped(start(), max_total_tokens=100)
    assert came == []
    assert "does not say how many tokens its answers take (usage)" in error


def test_a_cost_needs_prices():
    with pytest.raises(ModelError, match="--max-cost needs --prices FILE"):
        OpenAIServer("http://127.0.0.1:9/v1", "tiny", options=ServerOptions(max_cost=1.0))


def test_scoring_is_counted_whole(tiny_llama, tokenizer):
    """A request whose options take several questions to the server is not broken off: the next one is."""
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
        options = ServerOptions(max_requests=tried + each + 1)
        came = []
        with closing(OpenAIServer(url, "tiny", batch_size=1, options=options)) as model:
            assert "choose" in model.can
            with pytest.raises(LimitReached):
                for reply in model.answer(requests):
                    came.append(reply)
            assert len(came) == 2
            assert model.spending.requests == tried + 2 * each


def test_waiting_ends_when_the_call_does():
    """A pace of one a minute: the second request waits, and the call that is closed waits for nothing."""
    with serving() as start:
        server = start(priced)
        with closing(OpenAIServer(server.url, "tiny", options=ServerOptions(requests_per_minute=1))) as model:
            coming = model.answer([question(0), question(1)])
            assert next(coming)[1].text == "yes"
            workers = [thread for thread in threading.enumerate() if "(_work)" in thread.name]
            coming.close()
            for thread in workers:
                thread.join(20)
            assert not any(thread.is_alive() for thread in workers)
        assert len(server.asked) == 1
