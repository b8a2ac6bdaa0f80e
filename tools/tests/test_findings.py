"""Findings: order, text, exit code."""

from findings import Finding, conclude


def test_findings_are_printed_in_the_order_of_the_files(capsys):
    """Path, then line; the exit code is 1."""
    code = conclude(
        "x", [Finding("b", 0, "whole"), Finding("a", 10, "ten"), Finding("a", 9, "nine")]
    )

    assert 1 == code
    assert ["a:9: nine", "a:10: ten", "b: whole", "x: 3 findings"] == (
        capsys.readouterr().out.splitlines()
    )


def test_nothing_found_ends_with_zero(capsys):
    """Without findings the exit code is 0 and the summary says so."""
    assert 0 == conclude("x", [])
    assert "x: no findings\n" == capsys.readouterr().out
