"""The table of a matrix."""

from __future__ import annotations

from lance_conformance.campaigns.matrix.judging import DIFFERS, READ, READS, SAME, Verdict
from lance_conformance.campaigns.matrix.report import show


def test_cells_count_and_differences_are_named(capsys):
    """One row for each release and format; reasons are grouped."""
    show(
        [
            Verdict("1.0", READS, "2.0", "type:a", SAME),
            Verdict("1.0", READS, "2.0", "type:b", DIFFERS, ("3 rows: expected 4",)),
            Verdict("1.0", READS, "2.0", "type:c", DIFFERS, ("4 rows: expected 5",)),
            Verdict("1.0", READ, "2.0", "type:a", SAME),
        ]
    )
    lines = capsys.readouterr().out.splitlines()

    assert ["1.0", "2.0", "1/0/0/2", "-", "1/0/0/0", "-"] == lines[1].replace(" / ", "/").split()
    assert "differs 2: N rows: expected N" in lines
    assert "    1.0 2.0 type:b, 1.0 2.0 type:c" in lines
