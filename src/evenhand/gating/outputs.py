"""What a gate leaves for CI: JUnit's XML, and a summary in Markdown."""

from __future__ import annotations

from xml.etree import ElementTree

from evenhand.gating.gate import Gate
from evenhand.gating.judgement import Judgement
from evenhand.report.markdown import markdown
from evenhand.terminal import shown

MADE_BY = "evenhand gate"
_OWN = ("worse", "not enough evidence")


def junit(gate: Gate) -> str:
    """A test suite a benchmark, a test case a figure. What is no pass is a failure, of which the type says why."""
    suites = ElementTree.Element("testsuites", {"name": MADE_BY} | _counts(list(gate.judgements), gate.lacks_utility))
    for name in dict.fromkeys(each.name for each in gate.judgements):
        judged = [each for each in gate.judgements if each.name == name]
        suite = ElementTree.SubElement(suites, "testsuite", {"name": shown(name)} | _counts(judged))
        for each in judged:
            case = ElementTree.SubElement(suite, "testcase", {"classname": shown(name), "name": shown(each.figure)})
            if each.verdict in _OWN:
                _failure(case, each.verdict, each.why)
    if gate.lacks_utility:
        suite = ElementTree.SubElement(suites, "testsuite", {"name": "utility", "tests": "1", "failures": "1"})
        case = ElementTree.SubElement(suite, "testcase", {"classname": "utility", "name": "compared at all"})
        _failure(case, "not enough evidence", "no figure of use was compared, and the policy demands one")
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _failure(case: ElementTree.Element, kind: str, why: str) -> None:
    ElementTree.SubElement(case, "failure", {"type": kind, "message": shown(f"{kind}: {why}")})


def _counts(judged: list[Judgement], one_more: bool = False) -> dict[str, str]:
    failures = sum(each.verdict in _OWN for each in judged)
    return {"tests": str(len(judged) + one_more), "failures": str(failures + one_more)}


def summary(gate: Gate) -> str:
    """A page's part: the verdict, each figure, and what to do. Names are text, whatever they hold."""
    lines = [f"- {_plain(sentence)}" for sentence in gate.sentences[1:]]
    lines += [f"- Read with care: {_plain(warning)}." for warning in gate.warnings]
    parts = [f"## Bias gate: {gate.verdict}", _plain(gate.sentences[0]), markdown(gate.table), "\n".join(lines)]
    return f"<!-- {MADE_BY} -->\n" + "\n\n".join(filter(None, parts)) + "\n"


def _plain(text: str) -> str:
    """Without what Markdown or HTML would take for an order."""
    told = shown(" ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
    for character in "\\`*_[]|#!":
        told = told.replace(character, f"\\{character}")
    return told
