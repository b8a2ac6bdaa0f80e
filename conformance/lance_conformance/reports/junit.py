"""JUnit view: a test suite per area and version, a test case per case."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import Outcome
from lance_conformance.reports.jsonl import MAX_STDERR, Run, result_status
from lance_conformance.reports.rerun import rerun_lines
from lance_conformance.untrusted_text import first_line, printable


def render(run: Run) -> str:
    """Return the JUnit XML of a run."""
    name = printable(run.claims.implementation["name"])
    root = ET.Element("testsuites", name=f"lance-conformance: {name}")
    properties = ET.SubElement(root, "properties")
    for title, part in run.numbers.items():
        ET.SubElement(properties, "property", name=title, value=f"{part.good} of {part.cases}")
    for area, results in groupby(run.results, key=_area):
        cases = [_case(run, result) for result in results]
        suite = ET.SubElement(root, "testsuite", name=area, tests=str(len(cases)))
        for tag, attribute in (
            ("failure", "failures"),
            ("error", "errors"),
            ("skipped", "skipped"),
        ):
            suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
        suite.extend(cases)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _area(result: CaseResult) -> str:
    return "/".join(printable(result.case.id).split("/")[:2])


def _case(run: Run, result: CaseResult) -> ET.Element:
    name = printable(result.case.id)
    element = ET.Element("testcase", name=name, classname=_area(result).replace("/", "."))
    properties = ET.SubElement(element, "properties")
    for clause in result.case.clauses:
        ET.SubElement(properties, "property", name="clause", value=printable(clause))
    detail = printable(result.detail)
    message = f"{result.outcome}: {first_line(detail) or printable(result.case.title)}"
    if result.outcome == Outcome.PASS:
        return element
    if result.outcome == Outcome.UNSUPPORTED:
        ET.SubElement(element, "skipped", message=message)
    elif result in run.triage.advised:
        ET.SubElement(element, "skipped", message=f"against advice: {message}")
    elif result_status(run, result) == "known":
        issue = printable(run.triage.listed[result.case.id].issue)
        ET.SubElement(element, "skipped", message=f"known: {message} ({issue})")
    else:
        tag = "error" if result.outcome == Outcome.INFRA else "failure"
        text = "\n".join([detail, *rerun_lines(run, result)]).lstrip()
        ET.SubElement(element, tag, message=message, type=str(result.outcome)).text = text
    if result.stderr:
        ET.SubElement(element, "system-err").text = printable(result.stderr[-MAX_STDERR:])
    return element
