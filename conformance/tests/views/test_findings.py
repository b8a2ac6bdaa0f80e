"""Views of findings: text, JSON and JUnit say the same."""

import json
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pylanceref
import pytest
from lance_conformance.views import findings as view
from lance_conformance.views.findings import to_json, to_junit, to_text
from lanceref.core.context import Finding
from lanceref_spark.validation import Checked, Report, Unit

BAD = Finding("L.a.b", "must", "f.lance", 7, 4, "<x>", "y & z", "f.lance at byte 7: bad")
ODD = Finding("L.a.c", "should", "f.lance", 9, 1, "1", "2", "f.lance at byte 9: odd")


def test_text_tells_every_fact():
    """Level, clause, place, found and wanted, then the count."""
    lines = list(to_text("f.lance", [BAD, ODD]))

    assert "MUST   L.a.b" == lines[0]
    assert "       f.lance at byte 7, 4 bytes" == lines[1]
    assert ["       found  <x>", "       wanted y & z"] == lines[2:4]
    assert "f.lance: 1 must, 1 should, 0 note" == lines[-1]


def test_a_clean_file_is_said_to_be_clean():
    """One line."""
    assert ["f.lance: clean"] == list(to_text("f.lance", []))


def test_json_holds_all_fields():
    """A finding comes back from its JSON."""
    told = json.loads(to_json("f.lance", [BAD, ODD]))

    assert [BAD, ODD] == [Finding(**finding) for finding in told["findings"]]


def test_junit_fails_for_must_only():
    """One failure, one output, and text is escaped."""
    suite = ElementTree.fromstring(to_junit("f.lance", [BAD, ODD]))

    assert ("2", "1") == (suite.get("tests"), suite.get("failures"))
    assert ["L.a.b"] == [case.get("name") for case in suite if case.find("failure") is not None]
    assert "f.lance@7" == suite[0].get("classname")


def test_junit_of_a_clean_file_passes_one_test():
    """A report without tests would count as nothing done."""
    suite = ElementTree.fromstring(to_junit("f.lance", []))

    assert ("1", "0", "clean") == (suite.get("tests"), suite.get("failures"), suite[0].get("name"))


def test_a_table_has_a_row_for_each_finding_and_each_clean_unit(tmp_path):
    """What was looked at without a finding differs from what was not looked at."""
    found = Checked(Unit("fragments", (0, 1)), (BAD,))
    report = Report(3, (Checked(Unit("table"), ()), found))
    rows = view.to_table("t.lance", report).to_pylist()
    assert [(row["unit"], row["clause"]) for row in rows] == [
        ("table", None),
        ("fragments", BAD.clause),
    ]
    assert (rows[1]["version"], rows[1]["fragments"], rows[1]["offset"]) == (3, [0, 1], 7)


@pytest.mark.parametrize("suffix", view.TABLES)
def test_tables_are_written_by_suffix(tmp_path, suffix):
    """As a Lance table, as Parquet and as JSON lines: the same rows."""
    report = Report(None, (Checked(Unit("file"), (BAD,)),))
    output = tmp_path / f"found{suffix}"
    view.write_table("f.lance", report, output)
    if suffix == ".lance":
        rows = pylanceref.dataset(str(output)).to_table().to_pylist()
    elif suffix == ".parquet":
        rows = pq.read_table(output).to_pylist()
    else:
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert rows == view.to_table("f.lance", report).to_pylist()
