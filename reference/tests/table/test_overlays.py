"""Overlay entries of a manifest: which rows of which fields they cover."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError
from lanceref.file.schema import LanceSchema
from lanceref.proto import table_pb2
from lanceref.table.file_entries import (
    offsets_below,
    overlaid_since,
    parse_coverage,
    parse_overlays,
)
from pyroaring import BitMap

CTX = Context("manifest")
PLACE = CTX.at(0, 9)


def entry(*bitmaps, fields=(0, 1), version=2, words=(2, 1)):
    """Return an overlay with a set for each field, or one for all."""
    made = table_pb2.DataOverlayFile(committed_version=version)
    file = made.data_file
    file.path, file.fields[:], file.column_indices[:] = "x", fields, range(len(fields))
    file.file_major_version, file.file_minor_version = words
    if words == (0, 2):
        del file.column_indices[:]
    if len(bitmaps) == 1:
        made.shared_offset_bitmap = bitmaps[0]
    else:
        made.field_coverage.offset_bitmaps.extend(bitmaps)
    return made


def bits(*offsets):
    """Return the bytes of a set of offsets."""
    return BitMap(offsets).serialize()


def parse(*entries, rows=10, ctx=CTX):
    """Parse the overlays of a fragment."""
    message = table_pb2.DataFragment(physical_rows=rows, overlays=entries)
    known = {one.id: one for one in LanceSchema(()).fields}
    return parse_overlays(message, known, set(), ctx, PLACE)


def test_a_set_is_for_all_fields_or_for_each():
    """A replaced field, -2, is covered by nothing."""
    both = parse_coverage(entry(bits(1, 3)), CTX, PLACE)
    assert {0: BitMap([1, 3]), 1: BitMap([1, 3])} == both
    each = parse_coverage(entry(bits(1), bits(0, 2), fields=(-2, 5)), CTX, PLACE)
    assert {5: BitMap([0, 2])} == each


def test_offsets_beyond_the_rows_take_no_memory():
    """130 containers, runs of every value they can hold, stand for 8 million offsets."""
    held = BitMap(range(130 * 2**16))
    held.run_optimize()
    tracemalloc.start()
    covered = parse_coverage(entry(held.serialize()), CTX, PLACE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert held == covered[0] and peak < 2**22
    assert [0, 1, 2] == offsets_below(3, covered[0]).tolist()
    assert [4] == offsets_below(9, BitMap([4])).tolist()


@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        (entry(bits(1), bits(2), fields=(0, 1, 2)), "L.table.overlay.coverage"),
        (entry(b""), "L.table.overlay.bitmap"),
        (entry(b"\0" * 8), "L.table.overlay.bitmap"),
        (entry(bits(1), words=(0, 2)), "L.table.overlay.version"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, clause):
    """By its clause and with the place of the manifest."""
    with pytest.raises(FormatError) as caught:
        parse(wrong)

    assert (clause, PLACE.offset) == (caught.value.clause, caught.value.place.offset)


@pytest.mark.parametrize(
    ("entries", "clause"),
    [
        ([entry(bits(10))], "L.table.overlay.range"),
        ([entry(bits(1), version=3), entry(bits(1), version=2)], "L.table.overlay.order"),
        ([entry(bits(1), bits(2), bits(3))], "L.table.overlay.coverage"),
    ],
)
def test_what_readers_pass_over_is_found(entries, clause):
    """A validation tells of it."""
    findings = []
    parse(*entries, ctx=Context("manifest", findings=findings))

    assert [clause] == [one.clause for one in findings]


def test_the_highest_version_is_the_newest():
    """Of one version it is the last in the list."""
    entries = [entry(bits(1), version=3), entry(bits(2), version=2), entry(bits(4), version=3)]

    assert [2, 1, 4] == [int(one.coverage[0][0]) for one in parse(*entries)]


def test_indices_do_not_know_of_later_overlays_of_their_fields():
    """Those of other fields, and older ones, change nothing."""
    fragments = [
        table_pb2.DataFragment(id=7, overlays=[entry(bits(1), version=5)]),
        table_pb2.DataFragment(id=8, overlays=[entry(bits(1), version=4)]),
        table_pb2.DataFragment(id=9, overlays=[entry(bits(1), fields=(2, 3), version=9)]),
    ]
    index = table_pb2.IndexMetadata(fields=[1], dataset_version=4)

    assert {7} == overlaid_since(fragments, index)


@given(st.sets(st.integers(0, 2**32 - 1), max_size=40))
def test_offsets_are_those_that_were_written(offsets):
    """Ascending."""
    found = parse_coverage(entry(bits(*offsets), fields=(3,)), CTX, PLACE)[3]

    assert BitMap(offsets) == found


@given(st.binary(max_size=60))
def test_any_bytes_are_offsets_or_refused(data):
    """Nothing else than an error of ours escapes."""
    try:
        found = parse_coverage(entry(data, fields=(0,)), CTX, PLACE)[0]
    except LanceError:
        return
    assert np.all(found[1:] > found[:-1])
