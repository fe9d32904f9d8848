"""Which key goes to which server, what is warned about, and that no message holds a key."""

import logging
import os
import traceback
from urllib.parse import urlsplit

import pytest

from evenhand.errors import UsageError
from evenhand.models import api_keys
from evenhand.models.api_keys import Key, is_local, key_for
from evenhand.models.errors import ModelError
from evenhand.models.registry import options_by_model

SECRET = "sk-hidden/0123456789"
OPENAI = "https://api.openai.com/v1"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("EVENHAND_API_KEYS", "EVENHAND_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keys_file(monkeypatch, tmp_path):
    """keys_file(text) → the file that EVENHAND_API_KEYS names, readable by its owner alone."""

    def write(text):
        path = tmp_path / "keys"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o600)
        monkeypatch.setenv("EVENHAND_API_KEYS", str(path))
        return path

    return write


def secret_for(url, variable=None):
    return key_for(urlsplit(url), variable).secret


def error_of(url, variable=None):
    """Of a key that can't be had; nothing that is shown of it holds one."""
    with pytest.raises(ModelError) as error:
        secret_for(url, variable)
    assert "hidden" not in "".join(traceback.format_exception(error.value))
    return str(error.value)


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        (OPENAI, SECRET),
        ("https://API.OpenAI.com:443/v1", SECRET),
        ("http://api.openai.com/v1", ""),
        ("https://api.openai.com:8443/v1", ""),
        ("https://api.openai.com.elsewhere.example/v1", ""),
        ("https://elsewhere.example/api.openai.com/v1", ""),
        ("https://elsewhere.example/v1", ""),
        ("http://localhost:8000/v1", ""),
    ],
)
def test_openai_s_key_goes_to_openai_alone(monkeypatch, url, sent):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET + "\n")
    monkeypatch.setenv("EVENHAND_API_KEY", "of former versions")
    assert secret_for(url) == sent


def test_a_file_of_keys(keys_file):
    """The longer name wins; capitals don't count; a host that it does not name gets none."""
    keys_file(
        "\ufeff# of mine\r\n\r\nmine.example key-1\nMINE.example:8443\tkey-2  # the other one\n[::1]:8000 key-3\n"
        "127.0.0.1 key#4\napi.openai.com key-5\n"
    )
    sent = {
        "https://mine.example/v1": "key-1",
        "https://MINE.example:8443/v1": "key-2",
        "http://[::1]:8000/v1": "key-3",
        "http://[::1]:8001/v1": "",
        "http://127.0.0.1:9000/v1": "key#4",
        OPENAI: "key-5",
        "https://other.mine.example/v1": "",
        "https://mine.example.org/v1": "",
    }
    assert {url: secret_for(url) for url in sent} == sent


def test_openai_s_key_stands_beside_a_file_that_names_others(keys_file, monkeypatch):
    keys_file("mine.example key-1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert (secret_for(OPENAI), secret_for("https://mine.example/v1")) == (SECRET, "key-1")


@pytest.mark.parametrize(
    "line",
    [
        "hidden",
        "mine.example",
        "mine.example key hidden",
        "https://mine.example/v1 hidden",
        "me:hidden@mine.example hidden",
        "mine.example:port hidden",
        "::1 hidden",
        "mine.example hiddén",
    ],
)
def test_a_line_that_can_t_be_read_is_named_and_not_shown(keys_file, line):
    keys_file(f"# keys\none.example hidden-1\n{line}\n")
    assert "line 3 of the file that EVENHAND_API_KEYS names" in error_of("https://elsewhere.example/v1")


def test_a_file_that_is_none_of_keys(keys_file):
    keys_file(b"\xff\xfe hidden")
    assert "EVENHAND_API_KEYS names no readable file of keys" in error_of(OPENAI)


def test_a_file_s_name_may_be_a_key_and_is_not_shown(monkeypatch, tmp_path):
    fifo = tmp_path / "hidden"
    os.mkfifo(fifo)
    for name in (SECRET, "~hidden/keys", str(tmp_path), str(fifo)):
        monkeypatch.setenv("EVENHAND_API_KEYS", name)
        assert "EVENHAND_API_KEYS names no readable file of keys" in error_of(OPENAI)


def test_a_file_that_others_can_read_is_warned_about(keys_file, caplog):
    path = keys_file(f"mine.example {SECRET}")
    secret_for("https://mine.example/v1")
    assert caplog.messages == []
    path.chmod(0o640)
    secret_for("https://mine.example/v1")
    assert caplog.messages == [
        "the file that EVENHAND_API_KEYS names can be read by others than its owner: chmod 600 it"
    ]


def test_a_variable_comes_first(keys_file, monkeypatch):
    keys_file("api.openai.com key-1")
    monkeypatch.setenv("OPENAI_API_KEY", "key-2")
    monkeypatch.setenv("MINE", f" {SECRET}\n")
    assert secret_for(OPENAI, "MINE") == SECRET
    assert secret_for("https://elsewhere.example/v1", "MINE") == SECRET


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("ABSENT", "--api-key-env ABSENT: that environment variable is not set"),
        ("BLANK", "--api-key-env BLANK: that environment variable is not set, or blank"),
        ("sk-hidden", "--api-key-env: expected the name of an environment variable"),
        ("gsk_hidden", "--api-key-env: expected the name of an environment variable"),
        ("BROKEN", "the key in BROKEN has a space, a line break or a letter beyond ASCII"),
        ("SPOKEN", "the key in SPOKEN has a space, a line break or a letter beyond ASCII"),
    ],
)
def test_variables_that_hold_no_key(monkeypatch, variable, says):
    monkeypatch.setenv("BLANK", " \n")
    monkeypatch.setenv("BROKEN", "hidden\r\nHost: elsewhere.example")
    monkeypatch.setenv("SPOKEN", "hiddén")
    assert says in error_of(OPENAI, variable)


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://elsewhere.example/v1", True),
        ("http://10.0.0.7:8000/v1", True),
        ("http://localhost.elsewhere.example/v1", True),
        ("http://127.0.0.1.elsewhere.example/v1", True),
        ("https://elsewhere.example/v1", False),
        ("http://localhost:8000/v1", False),
        ("http://127.8.9.10/v1", False),
        ("http://[::1]:8000/v1", False),
    ],
)
def test_a_key_sent_in_plain_to_another_machine_is_warned_about(monkeypatch, caplog, url, warned):
    monkeypatch.setenv("MINE", SECRET)
    with caplog.at_level(logging.DEBUG):
        secret_for(url)
        assert caplog.messages == []  # no key, nothing to say
        secret_for(url, "MINE")
    assert [SECRET in message for message in caplog.messages] == [False] * warned
    assert all(f"the key in MINE goes to {urlsplit(url).hostname} unencrypted" in each for each in caplog.messages)


def test_this_machine():
    assert all(map(is_local, ("localhost", "127.0.0.1", "127.8.9.10", "::1", "0.0.0.0")))
    assert not any(map(is_local, ("", "127.1", "10.0.0.1", "localhost.example", "127.0.0.1.example")))


def test_a_key_shows_itself_nowhere():
    key = Key(SECRET, "MINE")
    assert SECRET not in f"{key} {key!r} {[key]}"
    assert key.masked(f"<{SECRET}> sk-hidden%2F0123456789 sk-hidden\\/0123456789") == "<[key]> [key] [key]"
    assert Key('sk-&"12345').masked('sk-&amp;&quot;12345 sk-&\\"12345') == "[key] [key]"
    assert Key().masked("anything") == "anything"
    assert (Key("x").masked("axe"), Key("x").masked_reply("axe")) == ("a[key]e", "axe")


def test_what_to_do_about_a_refusal(monkeypatch):
    assert api_keys.advise(Key(SECRET, "MINE")).startswith("does it accept the key in MINE? --api-key-env NAME")
    assert api_keys.advise(Key()).startswith("no key was sent: --api-key-env NAME names")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert api_keys.advise(Key()).endswith("(OPENAI_API_KEY goes to https://api.openai.com alone)")


def test_one_variable_is_for_one_host():
    one, other = "http://localhost:8000/v1#a", "http://LOCALHOST:8000/v1#b"
    options = {"api_key_env": "MINE", "timeout": "5"}
    assert options_by_model([one, other], options) == {one: options, other: options}
    with pytest.raises(UsageError, match="holds the key of one server, and 2 are asked; EVENHAND_API_KEYS"):
        options_by_model([one, "http://localhost:8001/v1"], options)


def test_each_model_has_the_options_of_its_backend():
    named = options_by_model(["embedded", "http://localhost/v1"], {"device-map": "cpu", "timeout": "5"})
    assert named == {"embedded": {"device-map": "cpu"}, "http://localhost/v1": {"timeout": "5"}}
    with pytest.raises(UsageError, match="unknown option of transformers 'timeout'"):
        options_by_model(["embedded", "stub:first"], {"timeout": "5"})
    with pytest.raises(UsageError, match=r"http: timeout must be .*, got -5.0"):
        options_by_model(["http://localhost/v1"], {"timeout": "-5"})
