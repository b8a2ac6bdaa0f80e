"""JSON columns of data files, checked."""

from pathlib import Path

import pytest
from lanceref.core.context import Context
from lanceref.file_0_1.check import check_file
from lanceref.storage import BytesSource

RAW = Path(__file__).parents[3] / "fixtures/file/2.0/json/raw/data.lance"


def _findings(data: bytes) -> list[str]:
    ctx = Context("data.lance", findings=[])
    check_file(BytesSource(data), ctx)
    assert ctx.findings is not None
    return [finding.clause for finding in ctx.findings]


def test_sound_documents_give_no_finding() -> None:
    """A file of sound documents is sound."""
    assert _findings(RAW.read_bytes()) == []


@pytest.mark.parametrize(
    ("was", "now", "clause"),
    [
        ("80000003", "80000013", "L.json.entries"),
        ("616278", "626178", "L.json.key-order"),
        ("50012c", "500007", "L.json.number-width"),
    ],
)
def test_a_document_that_breaks_a_clause_is_found(was: str, now: str, clause: str) -> None:
    """Documents are looked into though a file reader gives them as they are."""
    damaged = RAW.read_bytes().replace(bytes.fromhex(was), bytes.fromhex(now), 1)

    assert _findings(damaged) == [clause]
