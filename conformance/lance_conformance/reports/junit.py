"""JUnit view: a test suite per area and version, a test case per case."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree as ET

from lance_conformance.outcomes import Outcome
from lance_conformance.reports.jsonl import Run, standing
from lance_conformance.runner import CaseResult

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")
"""Characters that XML cannot hold."""


def render(run: Run) -> str:
    """Return the JUnit XML of a run."""
    name = run.claims.implementation["name"]
    root = ET.Element("testsuites", name=f"lance-conformance: {name}")
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
    return "/".join(result.case.id.split("/")[:2])


def _case(run: Run, result: CaseResult) -> ET.Element:
    element = ET.Element("testcase", name=result.case.id, classname=_area(result).replace("/", "."))
    properties = ET.SubElement(element, "properties")
    for clause in result.case.clauses:
        ET.SubElement(properties, "property", name="clause", value=clause)
    detail = _NOT_XML.sub("�", result.detail)
    message = f"{result.outcome}: {detail.splitlines()[0] if detail else result.case.title}"
    if result.outcome == Outcome.PASS:
        return element
    if result.outcome == Outcome.UNSUPPORTED:
        ET.SubElement(element, "skipped", message=message)
    elif standing(run, result) == "known":
        issue = run.reckoning.listed[result.case.id].issue
        ET.SubElement(element, "skipped", message=f"known: {message} ({issue})")
    else:
        tag = "error" if result.outcome == Outcome.INFRA else "failure"
        ET.SubElement(element, tag, message=message, type=str(result.outcome)).text = detail
    if result.stderr:
        ET.SubElement(element, "system-err").text = _NOT_XML.sub("�", result.stderr[-4096:])
    return element
