"""Where rows went that a compaction moved."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, Place
from lanceref.index.fragment_reuse import NAME, read_reuse
from lanceref.index.row_set import encode_treemap
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails as Details
from pyroaring import BitMap

CTX, PLACE = Context("reuse"), Place("reuse", 0)
KEPT = [0, 2, 3, 1 << 32, 1 << 32 | 1, 1 << 32 | 2]
"""Rows that are left of fragments 0 (4 rows) and 1 (3 rows)."""


def content(*, rows=6, kept=KEPT) -> Details.InlineContent:
    """Return one version that moves them to fragment 5."""
    found = Details.InlineContent()
    group = found.versions.add(dataset_version=3).groups.add()
    group.changed_row_addrs = encode_treemap(np.array(kept, np.uint64), runs=True)
    group.old_fragments.add(id=0, physical_rows=4, num_deleted_rows=1)
    group.old_fragments.add(id=1, physical_rows=3)
    group.new_fragments.add(id=5, physical_rows=rows)
    return found


def reuse(details: Details, outside: bytes = b""):
    """Read the details of an index."""
    entry = table_pb2.IndexMetadata(name=NAME)
    entry.index_details.value = details.SerializeToString()
    segment = SimpleNamespace(entry=entry, place=PLACE, bytes_of=lambda path: outside)
    return read_reuse([segment], CTX)


def test_a_worked_example():
    """Rows of fragments 0 and 1 are found in fragment 5, others where they were."""
    found = reuse(Details(inline=content()))
    kept, now = found(np.array([0, 1, 3, 1 << 32 | 2, 7 << 32], np.uint64))
    assert kept.tolist() == [True, False, True, True, True]
    assert now.tolist() == [5 << 32, 5 << 32 | 2, 5 << 32 | 5, 7 << 32]
    assert found.covered(BitMap([0, 1, 7])) == BitMap([5, 7])
    assert found.covered(BitMap([0, 7])) == BitMap([0, 7])
    assert found.covered(BitMap([5])) == BitMap([5])


def test_versions_follow_each_other():
    """Oldest first, whatever their order in the message."""
    both = Details.InlineContent()
    group = both.versions.add(dataset_version=9).groups.add()
    group.changed_row_addrs = encode_treemap(np.array([5 << 32 | 5], np.uint64), runs=True)
    group.old_fragments.add(id=5, physical_rows=6)
    group.new_fragments.add(id=8, physical_rows=1)
    both.versions.extend(content().versions)
    found = reuse(Details(inline=both))
    kept, now = found(np.array([0, 1 << 32 | 2], np.uint64))
    assert (kept.tolist(), now.tolist()) == ([False, True], [8 << 32])
    assert found.covered(BitMap([0, 1])) == BitMap([8])


def test_an_external_file():
    """It holds the same message; too few bytes are refused."""
    data = content().SerializeToString()
    details = Details()
    details.external.path, details.external.size = "details.binpb", len(data)
    assert reuse(details, data).covered(BitMap([0, 1])) == BitMap([5])
    with pytest.raises(FormatError) as caught:
        reuse(details, data[:-1])
    assert caught.value.clause == "L.index.reuse.external"


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (content(rows=5), "L.index.reuse.rows"),
        (content(kept=[*KEPT, 2 << 32]), "L.index.reuse.fragments"),
    ],
)
def test_counts_that_do_not_fit_are_refused(broken, clause):
    """Rows would be found where others are."""
    with pytest.raises(FormatError) as caught:
        reuse(Details(inline=broken))
    assert caught.value.clause == clause


@pytest.mark.oracle
def test_indices_stay_usable_after_compactions_of_the_oracle(tmp_path):
    """Twice deferred, with deletions between, then brought up to date by us."""
    import lance
    from lance.indices import IndexConfig

    rows = 600
    table = pa.table(
        {
            "i": [n * 7 % 50 for n in range(rows)],
            "s": [f"w{n % 9}" for n in range(rows)],
            "l": [[f"{n % 5}"] for n in range(rows)],
            "z": range(rows),
            "b": [f"k{n}" for n in range(rows)],
        }
    )
    path = str(tmp_path / "t")
    theirs = lance.write_dataset(table, path, max_rows_per_file=50)
    theirs.create_scalar_index("i", "BTREE")
    theirs.create_scalar_index("s", "BITMAP")
    theirs.create_scalar_index("l", "LABEL_LIST")
    theirs.create_scalar_index("z", IndexConfig("zonemap", {"rows_per_zone": 7}))
    bloom = {"number_of_items": 7, "probability": 0.01}
    theirs.create_scalar_index("b", IndexConfig("bloomfilter", bloom))

    def check():
        opened = pylanceref.dataset(path)
        for condition in (
            "i = 3",
            "s = 'w3'",
            "not array_has(l, '3')",
            "z between 100 and 120",
            "b = 'k33'",
        ):
            assert "ScalarIndexQuery" in opened.scanner(filter=condition).explain_plan()
            found = opened.to_table(filter=condition)
            assert found == opened.to_table(filter=condition, use_scalar_index=False), condition

    theirs.delete("z % 7 = 0")
    theirs.optimize.compact_files(target_rows_per_fragment=150, defer_index_remap=True)
    check()
    theirs.delete("z = 5")
    check()
    theirs.insert(table.slice(0, 50))
    theirs.delete("z % 11 = 0")
    theirs.optimize.compact_files(target_rows_per_fragment=400, defer_index_remap=True)
    check()
    theirs.insert(table.slice(0, 5))
    own = pylanceref.dataset(path)
    own.optimize.optimize_indices()
    check()
