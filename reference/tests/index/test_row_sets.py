"""Sets of rows, and where rows went that a compaction moved."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, OutOfRange, Place
from lanceref.fast import row_sets
from lanceref.index import bloom
from lanceref.index.fragment_reuse import read_reuse
from lanceref.index.index_type import Spans
from lanceref.index.row_set import RowSet, encode_sets, encode_treemap, parse_treemap
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails as Details
from lanceref.transactions.index_entries import bring_forward
from lanceref.transactions.manifest_builder import REUSE_INDEX
from pyroaring import BitMap

keys = st.lists(st.integers(0, 3 << 32 | 70_000), max_size=50)


def parse(data: bytes) -> RowSet:
    """Parse a set."""
    return RowSet.parse(Cursor(memoryview(data), 0, Context("set")))


def of(*values: int) -> RowSet:
    """Return a set of single keys."""
    return RowSet.of(np.array(values, np.uint64))


def test_size_0_is_a_whole_fragment():
    """A fragment that is in the set as a whole stays whole, though a single row of it is too."""
    rows = RowSet(of(7, 1 << 32 | 3).keys, frozenset({1}))
    data = RowSet.encode(rows)
    assert data.endswith(b"\1\0\0\0\0\0\0\0")
    assert (parse(data).whole, parse(data).offsets(1, 3).tolist()) == ({1}, [0, 1, 2])
    assert parse(data).among(np.array([1 << 32, 7, 8], np.uint64)).tolist() == [0, 1]


@given(st.lists(keys.filter(len), max_size=9))
@example([list(range(5000)), [1]])
def test_every_set_is_parsed_as_it_was_written(sets):
    """Keys come back ascending and once; the fast form writes the same bytes."""
    values = np.array([key for own in sets for key in own], np.uint64)
    starts = np.cumsum([0, *map(len, sets)])[:-1]
    data = encode_sets.plain(values, starts)
    assert data.equals(row_sets.encode_sets(values, starts))
    read = [parse(one).keys.tolist() for one in data.to_pylist()]
    assert read == [sorted({*own}) for own in sets]


@given(keys, keys, st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_union_and_intersection_are_those_of_sets(one, other, whole_one, whole_other):
    """Whole fragments count as all of their rows."""
    left = RowSet(of(*one).keys, frozenset(whole_one))
    right = RowSet(of(*other).keys, frozenset(whole_other))
    asked = np.array([*one, *other, *(number << 32 | 1 for number in range(4))], np.uint64)
    every = (left, right, RowSet.union([left, right]), RowSet.intersection([left, right]))
    one_in, other_in, either, both = (set(rows.among(asked).tolist()) for rows in every)
    assert (either, both) == (one_in | other_in, one_in & other_in)


@given(keys, st.booleans())
def test_every_treemap_is_parsed_as_it_was_written(values, runs):
    """With and without run containers."""
    ordered = np.array(sorted(set(values)), np.uint64)
    data = encode_treemap(ordered, runs=runs)
    assert parse_treemap(Cursor(memoryview(data), 0, Context("map"))).tolist() == ordered.tolist()
    for broken, clause in ((data + b"\0", "end"), (b"\xff" * 8 + data[8:], "count")):
        with pytest.raises(FormatError) as caught:
            parse_treemap(Cursor(memoryview(broken), 0, Context("map")))
        assert caught.value.clause == f"L.index.treemap.{clause}"


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
    entry = table_pb2.IndexMetadata(name=REUSE_INDEX)
    entry.index_details.value = details.SerializeToString()
    return read_reuse([SimpleNamespace(entry=entry, place=PLACE, bytes_of=lambda _: outside)], CTX)


def test_a_worked_move():
    """Rows of fragments 0 and 1 are found in fragment 5, others where they were."""
    found = reuse(Details(inline=content()))
    kept, now = found(np.array([0, 1, 3, 1 << 32 | 2, 7 << 32], np.uint64))
    assert kept.tolist() == [True, False, True, True, True]
    assert now.tolist() == [5 << 32, 5 << 32 | 2, 5 << 32 | 5, 7 << 32]
    assert found.covered(BitMap([0, 1, 7])) == BitMap([5, 7])
    assert all(found.covered(BitMap(own)) == BitMap(own) for own in ([0, 7], [5]))


@pytest.mark.parametrize("number", [2**32, 2**64 - 1])
@pytest.mark.parametrize("name", ["id", "physical_rows"])
@pytest.mark.parametrize("side", ["old_fragments", "new_fragments"])
def test_numbers_of_a_fragment_that_no_address_holds_are_refused(side, name, number):
    """By an index that is read, and by a commit that brings its entries forward."""
    details = Details(inline=content())
    setattr(getattr(details.inline.versions[0].groups[0], side)[0], name, number)
    with pytest.raises(OutOfRange, match="32 bits"):
        reuse(details)

    entry = table_pb2.IndexMetadata(name=REUSE_INDEX)
    entry.index_details.value = details.SerializeToString()
    with pytest.raises(OutOfRange, match="32 bits"):
        bring_forward([entry])


def test_runs_and_sizes():
    """A run has the rows that are there; Bloom filters have sizes."""
    spans = Spans(np.array([1, 0, 2]), np.array([3, 0, 5]), np.array([2**32, 1, 0]))
    keys = np.array([0, 1, 2**32, 2**32 + 3, 2**32 + 9, 2**33 + 5, 2**33 + 6], np.uint64)
    assert [0, 2**32 + 3, 2**32 + 9] == spans.among(keys).tolist()
    assert bloom.size_for(8192, 0.00057) == 32768
    assert bloom.size_for(500, 0.01) == 1024
    assert bloom.size_for(1, 0.9) == 32


@given(st.lists(st.text(), min_size=1, max_size=50))
def test_what_was_put_in_is_found(words):
    """Never a false negative; an empty filter holds nothing."""
    hashes = bloom.hash_values(pa.array(words))
    filters = np.stack([bloom.fill(hashes, 64), np.zeros((2, 8), np.uint32)])
    for value in hashes:
        assert bloom.may_hold(filters, value).tolist() == [True, False]


@given(st.data(), st.integers(0, bloom.MOST_BYTES))
def test_as_the_library_hashes_one_at_a_time(data, width):
    """Of every width, whatever the bytes."""
    rows = data.draw(st.lists(st.binary(min_size=width, max_size=width), min_size=1, max_size=8))

    found = bloom.hash_rows(np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width))

    assert [xxhash.xxh64_intdigest(row) for row in rows] == found.tolist()


@given(st.lists(st.binary(max_size=2 * bloom.MOST_BYTES)), st.sampled_from([0, 42]))
def test_pieces_of_any_size_are_hashed(pieces, seed):
    """Also empty ones, and those that are longer than rows may be."""
    data = np.frombuffer(b"".join(pieces), np.uint8)
    sizes = np.array([len(piece) for piece in pieces], np.int64)

    found = bloom.hash_slices(data, np.cumsum(sizes) - sizes, sizes, seed)

    assert [xxhash.xxh64_intdigest(piece, seed) for piece in pieces] == found.tolist()
