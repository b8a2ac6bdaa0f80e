"""Views of findings: what `validate` prints, as text, JSON or JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from xml.etree import ElementTree

from lanceref.context import Finding


def to_text(path: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a paragraph per finding and a closing count."""
    for finding in findings:
        yield f"{finding.severity.upper():<6} {finding.clause}"
        yield f"       {finding.file} at byte {finding.offset}, {finding.size} bytes"
        yield f"       found  {finding.found}"
        yield f"       wanted {finding.wanted}"
    counts = dict.fromkeys(("must", "should", "note"), 0)
    for finding in findings:
        counts[finding.severity] += 1
    told = ", ".join(f"{count} {level}" for level, count in counts.items())
    yield f"{path}: {'clean' if not findings else told}"


def to_json(path: str, findings: Sequence[Finding]) -> str:
    """Return one JSON object with all findings."""
    return json.dumps({"path": path, "findings": [asdict(f) for f in findings]}, indent=1)


def to_junit(path: str, findings: Sequence[Finding]) -> str:
    """Return a JUnit test suite with a failed test per finding of MUST level."""
    failures = [f for f in findings if f.severity == "must"]
    suite = ElementTree.Element(
        "testsuite",
        name=path,
        tests=str(max(1, len(findings))),
        failures=str(len(failures)),
    )
    for finding in findings:
        case = ElementTree.SubElement(
            suite, "testcase", name=finding.clause, classname=f"{finding.file}@{finding.offset}"
        )
        tag = "failure" if finding.severity == "must" else "system-out"
        ElementTree.SubElement(case, tag).text = finding.message
    if not findings:
        ElementTree.SubElement(suite, "testcase", name="clean", classname=path)
    return ElementTree.tostring(suite, encoding="unicode")
