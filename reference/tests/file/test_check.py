"""Whole files, checked."""

from itertools import pairwise

from lanceref.context import Context
from lanceref.file.check import check_file
from lanceref.spans import SpanRecorder, uncovered
from lanceref.storage import BytesSource

from .files import WORKED_FILE


def _check(data: bytes):
    findings, recorder = [], SpanRecorder()
    ctx = Context("f", spans=recorder, findings=findings)
    opened = check_file(BytesSource(data, "f"), ctx)
    return opened, findings, recorder.finish(len(data))


def test_the_worked_file_is_clean_and_owned():
    """No finding, no byte without an owner, no byte with two."""
    _, findings, root = _check(WORKED_FILE)
    leaves = sorted(root.leaves(), key=lambda leaf: leaf.start)

    assert [] == findings
    assert [] == uncovered(root)
    assert all(a.end <= b.start for a, b in pairwise(leaves))


def test_padding_that_is_not_h_is_reported():
    """Zeros between the buffers break a writer clause."""
    _, findings, _ = _check(WORKED_FILE[:1] + bytes(63) + WORKED_FILE[64:])

    assert [("L.file.padding.value", 1, 63)] == [(f.clause, f.offset, f.size) for f in findings]


def test_a_file_that_cannot_be_opened_has_one_finding():
    """Nothing after the footer can be trusted."""
    opened, findings, _ = _check(WORKED_FILE[:-1] + b"X")

    assert opened is None
    assert ["L.file.footer.magic"] == [finding.clause for finding in findings]


def test_a_broken_page_does_not_hide_the_padding():
    """Findings are all of them, not the first."""
    wrong = WORKED_FILE.replace(bytes.fromhex("1202010c"), bytes.fromhex("1202010b"))
    _, findings, _ = _check(wrong[:1] + bytes(63) + wrong[64:])

    assert {"L.array.flat.size", "L.file.padding.value"} <= {f.clause for f in findings}
