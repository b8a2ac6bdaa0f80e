"""Views of findings of `validate`: text, JSON, JUnit XML, and a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pylanceref
from lanceref.core.context import Finding
from lanceref_spark.validation import Checked, Report

from lance_conformance.untrusted_text import printable


def to_text(path: str, report: Report) -> Iterator[str]:
    """Yield a paragraph per finding and a closing count, with the version of a table."""
    findings = report.findings
    for finding in findings:
        yield f"{finding.severity.upper():<6} {finding.clause}"
        yield f"       {printable(finding.file)} at byte {finding.offset}, {finding.size} bytes"
        yield f"       found  {printable(str(finding.found))}"
        yield f"       wanted {printable(str(finding.wanted))}"
    counts = dict.fromkeys(("must", "should", "note"), 0)
    for finding in findings:
        counts[finding.severity] += 1
    totals = ", ".join(f"{count} {level}" for level, count in counts.items())
    version = f" (version {report.version})" if report.version else ""
    yield f"{printable(path)}{version}: {'clean' if not findings else totals}"


def to_json(path: str, findings: Sequence[Finding]) -> str:
    """Return one JSON object with all findings."""
    return json.dumps({"path": path, "findings": [asdict(f) for f in findings]}, indent=1)


def to_junit(path: str, findings: Sequence[Finding]) -> str:
    """Return a JUnit test suite with a failed test per finding of MUST level."""
    failures = [f for f in findings if f.severity == "must"]
    suite = ElementTree.Element(
        "testsuite",
        name=printable(path),
        tests=str(max(1, len(findings))),
        failures=str(len(failures)),
    )
    for finding in findings:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=finding.clause,
            classname=printable(f"{finding.file}@{finding.offset}"),
        )
        tag = "failure" if finding.severity == "must" else "system-out"
        ElementTree.SubElement(case, tag).text = printable(finding.message)
    if not findings:
        ElementTree.SubElement(suite, "testcase", name="clean", classname=printable(path))
    return ElementTree.tostring(suite, encoding="unicode")


SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("version", pa.int64()),
        ("unit", pa.string()),
        ("fragments", pa.list_(pa.int64())),
        ("segment", pa.int64()),
        ("clause", pa.string()),
        ("severity", pa.string()),
        ("file", pa.string()),
        ("offset", pa.int64()),
        ("size", pa.int64()),
        ("found", pa.string()),
        ("wanted", pa.string()),
        ("message", pa.string()),
    ]
)
"""Columns of the table: a row for each finding, or one without a clause for a clean unit."""


def to_table(path: str, report: Report) -> pa.Table:
    """Return the table of validated units and their findings."""
    rows = [row for one in report.checked for row in _rows(path, report.version, one)]
    return pa.Table.from_pylist(rows, SCHEMA)


def _rows(path: str, version: int | None, checked: Checked) -> Iterator[dict[str, object]]:
    unit = checked.unit
    where: dict[str, object] = {
        "path": path,
        "version": version,
        "unit": unit.kind,
        "fragments": list(unit.fragments),
        "segment": unit.segment if unit.kind in ("segment", "rows") else None,
    }
    for finding in checked.findings:
        yield where | asdict(finding)
    if not checked.findings:
        yield where


def write_table(path: str, report: Report, output: Path) -> None:
    """Write the table of a report in the format that the suffix of `output` names."""
    TABLES[output.suffix](to_table(path, report), output)


def _write_lance(table: pa.Table, output: Path) -> None:
    pylanceref.write_dataset(table, output, mode="overwrite")


def _write_lines(table: pa.Table, output: Path) -> None:
    output.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), "utf-8")


TABLES: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".lance": _write_lance,
    ".parquet": pq.write_table,
    ".jsonl": _write_lines,
}
"""Writer of each suffix."""
