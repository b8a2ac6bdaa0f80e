"""Views of findings: text, JSON and JUnit say the same."""

import json
from xml.etree import ElementTree

from lance_conformance.views.findings import to_json, to_junit, to_text
from lanceref.context import Finding

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
