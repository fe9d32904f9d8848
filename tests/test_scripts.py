"""Scripts answer --help, and their options are spelt once and read as the command line's are."""

import argparse
import ast

import pytest

from evenhand.command_line import ScriptHelp, whole


def test_every_script_reads_its_command_line(root):
    """Else --help would begin to work. Modules that scripts share begin nothing."""
    scripts = [path for path in sorted((root / "scripts").glob("*.py")) if "__main__" in path.read_text("utf-8")]
    assert len(scripts) > 10
    for path in scripts:
        called = {
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
        }
        assert called & {"parse_args", "parse", "run_bench", "generate_rows"}, path


@pytest.mark.parametrize("came", ["²", "٣", "1e3", "-5", "0", "", "1_000"])
def test_numbers_of_scripts(came, capsys):
    parser = argparse.ArgumentParser(formatter_class=ScriptHelp)
    parser.add_argument("--rows", type=whole(), default=12, help="to score, 100 %%")
    assert "to score, 100 % (default: 12)" in parser.format_help()
    assert parser.parse_args(["--rows", "7"]).rows == 7
    with pytest.raises(SystemExit):
        parser.parse_args([f"--rows={came}"])
    assert f"argument --rows: must be a whole number of 1 or more, got {came!r}" in capsys.readouterr().err


def test_an_option_of_one_letter_is_spelt_once(evenhand):
    told = evenhand("annotate", "export", "--help")
    assert "--n N" in told.out
    assert "-n N," not in told.out
    refused = evenhand("annotate", "export", "labe", "--scheme", "agency", "--output", "sheet.csv", "-n", "5")
    assert (refused.code, "unrecognized arguments: -n 5" in refused.err) == (2, True)
