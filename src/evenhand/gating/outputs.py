"""What a gate leaves for CI: JUnit's XML, and a summary in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from evenhand.gating.commands import MADE_BY
from evenhand.gating.gate import Gate
from evenhand.report.markdown import markdown, plain
from evenhand.terminal import shown


def junit(gate: Gate) -> str:
    """A test suite a benchmark, a test case a figure. What is no pass is a failure, of which the type says why."""
    cases = [(each.name, each.figure, each.verdict, each.why) for each in gate.judgements]
    if gate.lacks_utility:
        why = "no figure of use was compared, and the policy demands one"
        cases.append(("utility", "compared at all", "not enough evidence", why))
    suites = ElementTree.Element("testsuites", {"name": MADE_BY} | _count([verdict for _, _, verdict, _ in cases]))
    for name in dict.fromkeys(name for name, *_ in cases):
        of_suite = [rest for each, *rest in cases if each == name]
        counts = _count([verdict for _, verdict, _ in of_suite])
        suite = ElementTree.SubElement(suites, "testsuite", {"name": shown(name)} | counts)
        for figure, verdict, why in of_suite:
            case = ElementTree.SubElement(suite, "testcase", {"classname": shown(name), "name": shown(figure)})
            if verdict != "pass":
                ElementTree.SubElement(case, "failure", {"type": verdict, "message": shown(f"{verdict}: {why}")})
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _count(verdicts: Sequence[str]) -> dict[str, str]:
    return {"tests": str(len(verdicts)), "failures": str(sum(each != "pass" for each in verdicts))}


def summary(gate: Gate) -> str:
    """A part of a page: the verdict, each figure, and what to do. Names are shown as text, whatever they hold."""
    first, *others = gate.sentences
    lines = [*others, *(f"Read with care: {warning}." for warning in gate.warnings)]
    head, items = f"<!-- {MADE_BY} -->\n## Bias gate: {gate.verdict}", "\n".join(f"- {plain(line)}" for line in lines)
    return "\n\n".join(filter(None, (head, plain(first), markdown(gate.table), items))) + "\n"
