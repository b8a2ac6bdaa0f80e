"""Full-text indices, checked."""

from __future__ import annotations

import lanceref
import pyarrow as pa
import pylanceref
import pytest

from ..tables import write
from .test_partition import rewritten

TEXTS = ["red fox", "red red dog", None, "cow"]


def found(dataset) -> list[str]:
    """Return the clauses that a deep look finds broken."""
    return [finding.clause for finding in lanceref.validate(dataset.uri, deep=True)]


@pytest.fixture
def dataset(tmp_path):
    """A table with an index over four texts, whose entry says no sizes."""
    return write(pa.table({"s": TEXTS}), tmp_path)


def checked(dataset, part: str = "", change=None) -> list[str]:
    """Write a part of an index anew, and return the clauses that are then found broken."""
    from lanceref.core.context import Context, Finding
    from lanceref.index.full_text.inverted import check

    dataset.create_scalar_index("s", "INVERTED", with_position=True)
    (segment,) = dataset._snapshot.indices.segments
    segment.entry.ClearField("files")
    findings: list[Finding] = []
    if change is not None:
        rewritten(segment, part, change)
    segment._opened.clear()
    object.__setattr__(segment, "ctx", Context("t", findings=findings))
    with segment.ctx.piece():
        check(segment)
    return [finding.clause for finding in findings]


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_what_we_write_is_whole(dataset, format_version):
    """In every format, and after rows were appended and merged."""
    dataset.create_scalar_index("s", "INVERTED", with_position=True, format_version=format_version)
    pylanceref.write_dataset(pa.table({"s": ["dog", "red"]}), dataset.uri, mode="append")
    grown = pylanceref.dataset(dataset.uri)
    grown.optimize.optimize_indices()

    assert [] == found(grown)


@pytest.mark.oracle
@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_what_the_oracle_writes_is_whole(tmp_path, format_version):
    """Built, merged with rows that were appended, and moved by a compaction."""
    import lance

    uri = str(tmp_path / "t")
    table = pa.table({"s": [f"word {n % 7} of{n % 3}" * (n % 4) for n in range(400)]})
    theirs = lance.write_dataset(table, uri, max_rows_per_file=150)
    theirs.create_scalar_index("s", "INVERTED", with_position=True, format_version=format_version)
    theirs.delete("s = ''")
    lance.write_dataset(table.slice(0, 20), uri, mode="append")
    theirs = lance.dataset(uri)
    theirs.optimize.optimize_indices()
    assert [] == found(pylanceref.dataset(uri))
    theirs.optimize.compact_files()

    assert [] == found(pylanceref.dataset(uri))


def _longer(table):
    return {"_impacts": pa.array([[*one, b"x"] for one in table["_impacts"].to_pylist()],
                                 pa.list_(pa.large_binary()))}  # fmt: skip


def _other(table):
    flipped = [[one[:-1] + b"\x55" for one in many] for many in table["_impacts"].to_pylist()]
    return {"_impacts": pa.array(flipped, pa.list_(pa.large_binary()))}


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (_longer, "L.index.fts.impacts.count"),
        (_other, "L.index.fts.impacts.pairs"),
    ],
)
def test_impacts_that_are_not_those_of_the_documents(dataset, change, clause):
    """Each token that has others is reported."""
    assert [clause] * 4 == checked(dataset, "invert", change)


def test_tokens_that_share_a_number(dataset):
    """Every number below that of the postings must be there once."""

    def listed(table):
        return {
            "_token_fst_bytes": None,
            "_token_next_id": None,
            "_token_total_length": None,
            "_token": pa.array(["cow", "dog", "fox", "red"]),
            "_token_id": pa.array([3, 2, 2, 0], pa.uint32()),
        }

    assert ["L.index.fts.tokens"] == checked(dataset, "tokens", listed)


def test_an_index_without_impacts(dataset):
    """Early releases wrote none: nothing is found."""
    assert [] == checked(dataset, "invert", lambda table: {"_impacts": None})
