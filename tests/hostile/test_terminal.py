"""Texts of models, files, people and servers reach a terminal as texts: nothing in them is obeyed."""

import io
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import cli
from evenhand.cli import main
from evenhand.errors import EvenhandError
from evenhand.report.tables import Cell, Table, print_table
from evenhand.terminal import ShownFormatter, Terminal, shown

CONTROLS = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))]
DIRECTIONS = [*"\u061c\u200e\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
ORDERS = [
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "[red]x[/red]",
    "[link=http://evil]y[/link]",
    ":bomb:",
]


def written(*printed):
    """What a terminal gets, without colours."""
    file = io.StringIO()
    terminal = Terminal(file=file, width=200)
    for each in printed:
        terminal.print(each, soft_wrap=True)
    return file.getvalue()


@pytest.mark.parametrize("order", ORDERS)
def test_orders_are_shown(order):
    text = written(f"Report: {order}")
    assert not {*CONTROLS, *DIRECTIONS} & {*text}
    assert text == f"Report: {shown(order)}\n".replace("␇", "")  # rich leaves a bell out
    if order.isprintable():
        assert shown(order) == order


@settings(deadline=None)
@given(st.text(st.sampled_from([*CONTROLS, *DIRECTIONS, *"ab[]/=:\ud800\u2028"])))
def test_nothing_that_is_obeyed_passes(text):
    table = Table(text, (text, text), ((Cell(text), Cell(text, published=True)),), text)
    file = io.StringIO()
    print_table(table, Terminal(file=file, width=100))
    assert not {*CONTROLS, *DIRECTIONS, "\ud800"} & {*file.getvalue()}
    assert len(shown(text)) == len(text)


def test_no_line_is_a_command_to_a_ci():
    for command in ("::error::x", "::set-output name=a::b", "::add-mask::x", "::stop-commands::token"):
        text = written(f"Model: lab/x\n{command}")
        assert not any(line.startswith("::") for line in text.splitlines())
    assert shown("tests/a.py::test_b and std::string") == "tests/a.py::test_b and std::string"


def test_ordinary_texts_of_all_scripts_are_left_alone():
    text = "Zoë, 山田, مريم, 👩‍🚀, a\tb\nc"
    assert shown(text) == text


def test_errors_names_of_files_and_logs(capsys, monkeypatch, tmp_path):
    """By the command line: an error, an argument that argparse repeats, and a log line with a server's words."""

    def failing(arguments, console):
        logging.getLogger("evenhand.models.failures").warning("a server said %s", "\x1b[2Jhello\x07")
        raise EvenhandError("a model's name is \x1b]0;owned\x07[red]\u202e")

    monkeypatch.setitem(
        cli.COMMANDS, "list", type("Failing", (), {"tells": False, "__call__": lambda self, *given: failing(*given)})()
    )
    assert main(["list"]) == cli.FAILED
    with pytest.raises(SystemExit):
        main(["report", "a", "\x1b[2J"])
    assert main(["report", str(tmp_path / "\x1b[2J")]) == cli.WRONG_USAGE
    printed = capsys.readouterr()
    assert "[red]" in printed.err
    assert not {*CONTROLS, *DIRECTIONS} & {*printed.out, *printed.err}


def test_log_lines():
    record = logging.LogRecord("evenhand", logging.WARNING, "", 0, "said %s", ("\x1b[2J",), None)
    assert ShownFormatter().format(record) == "said ␛[2J"
