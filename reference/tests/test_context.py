"""Context: the same parser reads, explains and validates."""

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.core.limits import Limits
from lanceref.core.spans import SpanRecorder


def _error(ctx: Context) -> CorruptPage:
    return CorruptPage("L.page.x", ctx.at(8, 2), found=1, wanted=2)


def test_refuse_stops_a_reader():
    """Without findings a refusal is raised."""
    ctx = Context("f")

    with pytest.raises(CorruptPage):
        ctx.refuse(_error(ctx))


def test_refuse_is_recorded_when_validating():
    """With findings a refusal becomes one of them, complete, and parsing goes on."""
    ctx = Context("f", findings=[])
    ctx.refuse(_error(ctx))
    (finding,) = ctx.findings

    assert ("L.page.x", "must", "f", 8, 2, "1", "2") == (
        finding.clause,
        finding.severity,
        finding.file,
        finding.offset,
        finding.size,
        finding.found,
        finding.wanted,
    )


def test_lint_does_not_stop_a_reader():
    """A writer clause is reported to validators only."""
    reading, validating = Context("f"), Context("f", findings=[])
    for ctx in (reading, validating):
        ctx.lint("L.file.padding.value", ctx.at(0), found="00", wanted="48", severity="should")

    assert ["should"] == [finding.severity for finding in validating.findings]


def test_a_piece_ends_at_its_error_and_the_next_one_runs():
    """When validating, an error inside a piece is a finding and what follows the piece runs."""
    ctx, reached = Context("f", findings=[]), []
    with ctx.piece():
        raise _error(ctx)
    reached.append("next piece")

    assert ["L.page.x"] == [finding.clause for finding in ctx.findings]
    assert ["next piece"] == reached


def test_a_piece_does_not_hide_an_error_from_a_reader():
    """When reading, a piece raises what its block raises."""
    ctx = Context("f")

    with pytest.raises(CorruptPage), ctx.piece():
        raise _error(ctx)


def test_a_piece_does_not_hide_bugs():
    """An error that is not about bytes passes through a piece even when validating."""
    ctx = Context("f", findings=[])

    with pytest.raises(IndexError), ctx.piece():
        raise IndexError


def test_another_stage_shares_the_collectors():
    """Spans and findings of all stages meet in the same collectors."""
    ctx = Context("f", spans=SpanRecorder(), findings=[])
    later = ctx.during("decode")
    later.leaf(0, 1, "a", "u8")

    assert "decode" == later.at(0).stage
    assert ctx.findings is later.findings
    assert ["a"] == [leaf.name for leaf in ctx.spans.root.leaves()]


def test_findings_are_bounded_but_no_clause_is_lost():
    """After as many findings as the limits allow, the first of each clause is kept."""
    ctx = Context("f", findings=[], limits=Limits(findings=3))
    for clause in ["L.page.x"] * 5 + ["L.page.y"] * 2:
        ctx.lint(clause, ctx.at(0), found=1, wanted=2)

    assert ["L.page.x"] * 4 + ["L.page.y"] == [finding.clause for finding in ctx.findings]
