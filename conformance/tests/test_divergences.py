"""Divergences: entries, rows and kinds of the page."""

from lance_conformance import divergences, register

PAGE = """# Divergences

## D.a.one

| field | |
|---|---|
| kind | defect: data loss |
| component | writer |

Rows are lost.
They were there.

## D.b.two

| field | |
|---|---|
| kind | erratum |

Written: four. It is five.
"""


def test_an_entry_has_rows_and_text():
    """A table of fields, then prose; the severity belongs to defects."""
    one, two = divergences.parse(PAGE)

    assert ("D.a.one", 3, "a-one.py") == (one.id, one.line, one.script)
    assert {"kind": "defect: data loss", "component": "writer"} == one.rows
    assert "Rows are lost.\nThey were there." == one.text
    assert ["data loss", ""] == [one.severity, two.severity]


def test_every_entry_has_a_kind():
    """The page of this repository, and the divergences that clauses name."""
    entries = divergences.load()

    assert {entry.kind for entry in entries.values()} <= set(divergences.KINDS)
    named = {one for clause in register.load().values() for one in clause.divergences}
    assert named <= set(entries)
