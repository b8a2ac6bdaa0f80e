"""Searches for texts alike."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.indices import IndexConfig
from pylanceref.query import MinHashQuery

from ..index.minhash.texts import alike, make
from ..index.tables import write

TEXT = "the quick brown fox jumps over the lazy dog and some more words so that rows are alike {}"
TEXTS = [TEXT.format(number) for number in range(30)]


def test_the_nearest_come_first(tmp_path):
    """Those as near by their row; as many as the limit says after the offset, ten without one."""
    dataset = make(TEXTS, tmp_path)
    every = alike(dataset, TEXTS[3], limit=100)
    assert every[0] == (3, 0.0)
    assert every == sorted(every, key=lambda one: one[::-1])
    assert len(every) > 12
    assert alike(dataset, TEXTS[3]) == every[:10]
    assert alike(dataset, TEXTS[3], offset=2) == every[2:12]
    assert alike(dataset, TEXTS[3], limit=4, offset=1) == every[1:5]


def test_rows_that_no_segment_covers_are_read(tmp_path):
    """Unless the search is to be fast."""
    dataset = make(TEXTS[:10], tmp_path)
    dataset.insert(pa.table({"s": TEXTS[3:4], "i": [77]}))
    assert alike(dataset, TEXTS[3], limit=2) == [(3, 0.0), (77, 0.0)]
    assert alike(dataset, TEXTS[3], limit=2, fast_search=True)[1][0] != 77
    plan = dataset.scanner(nearest=MinHashQuery("x", "s")).explain_plan()
    assert "MinHashSearch: column=s, limit=10, segments=1" in plan
    assert "MinHashFlatSearch" in plan


def test_rows_that_are_gone_or_do_not_pass_are_not_found(tmp_path):
    """A filter before finds as many as are asked for, one after leaves some out."""
    dataset = make(TEXTS, tmp_path)
    every = [row for row, _ in alike(dataset, TEXTS[3], limit=100)]
    before = alike(dataset, TEXTS[3], limit=5, filter="i % 2 = 0", prefilter=True)
    assert [row for row, _ in before] == [row for row in every if row % 2 == 0][:5]
    behind = alike(dataset, TEXTS[3], limit=5, filter="i % 2 = 0")
    assert [row for row, _ in behind] == [row for row in every[:5] if row % 2 == 0]
    dataset.delete("i = 3")
    assert [row for row, _ in alike(dataset, TEXTS[3], limit=100)] == every[1:]


def test_some_fragments_only(tmp_path):
    """Those of the scan."""
    dataset = make(TEXTS, tmp_path, max_rows_per_file=10)
    query = MinHashQuery(TEXTS[3], "s")
    scan = dataset.scanner(nearest=query, limit=99, fragments=dataset.get_fragments()[1:2])
    assert set(scan.to_table()["i"].to_pylist()) <= set(range(10, 20))


def test_a_text_without_tokens_is_like_none(tmp_path):
    """Neither of those covered nor of others."""
    dataset = make(TEXTS, tmp_path)
    dataset.insert(pa.table({"s": ["..."], "i": [1]}))
    assert alike(dataset, "...") == []


def test_a_column_needs_an_index(tmp_path):
    """One that covers something."""
    dataset = write(pa.table({"s": TEXTS}), tmp_path)
    with pytest.raises(QueryRefused, match="No MinHash LSH index found for column s"):
        dataset.to_table(nearest=MinHashQuery("x", "s"))
    dataset.create_scalar_index("s", "MINHASHLSH", train=False)
    with pytest.raises(QueryRefused, match="No MinHash LSH index found for column s"):
        dataset.to_table(nearest=MinHashQuery("x", "s"))
    with pytest.raises(QueryRefused, match="deleted rows in a search"):
        dataset.to_table(
            nearest=MinHashQuery("x", "s"), include_deleted_rows=True, with_row_id=True
        )


def test_only_pages_of_its_bands_are_read(tmp_path):
    """And the signatures of the rows there; the column is not."""
    texts = [f"{number} and {number * 7} and {number * 13} words" * 3 for number in range(20_000)]
    dataset = write(pa.table({"s": texts}), tmp_path)
    dataset.create_scalar_index("s", IndexConfig("minhashlsh", {"shingle_size": 1}))
    opened = pylanceref.dataset(dataset.uri)
    opened.io_stats_incremental()
    query = MinHashQuery(texts[17], "s")
    found = opened.to_table(nearest=query, columns=[], with_row_id=True, limit=1)
    assert found["_rowid"].to_pylist() == [17]
    (segment,) = dataset._snapshot.indices.segments
    whole = sum(file.size_bytes for file in segment.entry.files)
    assert opened.io_stats_incremental().read_bytes * 3 < whole


def emptied(root, *, whole: bool) -> str:
    """Write two fragments, an index over the first or both, and delete what it covers."""
    table = pa.table({"i": range(8), "s": ["red fox", "brown cow"] * 4})
    dataset = pylanceref.write_dataset(table, root / "t", max_rows_per_file=4)
    dataset.create_scalar_index("s", "MINHASHLSH")
    if not whole:
        dataset.insert(table)
    dataset.delete("_rowoffset < 8")
    return dataset.uri


@pytest.mark.parametrize("whole", [False, True])
def test_an_index_of_fragments_that_are_gone_is_none(whole, tmp_path):
    """Whether others are left or not: nobody says how rows are signed."""
    path = emptied(tmp_path, whole=whole)
    with pytest.raises(ValueError, match="No MinHash LSH index found"):
        pylanceref.dataset(path).to_table(nearest=MinHashQuery("red fox", "s"))


@pytest.mark.oracle
@pytest.mark.parametrize("whole", [False, True])
def test_the_oracle_finds_no_such_index(whole, tmp_path):
    """It raises the same."""
    import lance

    path = emptied(tmp_path, whole=whole)
    with pytest.raises(ValueError, match="No MinHash LSH index found"):
        lance.dataset(path).to_table(nearest=lance.query.MinHashQuery("red fox", "s"))
