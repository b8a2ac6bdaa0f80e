"""Row ids and row versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError
from lanceref.proto import rowids_pb2 as pb
from lanceref.table.row_ids import decode_row_ids, decode_versions

CTX = Context("m.manifest")
PLACE = CTX.at(76, 121)


def _ids(data: bytes | pb.RowIdSequence, rows: int) -> list[int]:
    held = data if isinstance(data, bytes) else data.SerializeToString()
    return decode_row_ids(held, rows, CTX, PLACE).at(np.arange(rows)).tolist()


def _versions(data: bytes, rows: int) -> list[int]:
    return decode_versions(data, rows, CTX, PLACE).at(np.arange(rows)).tolist()


def _words(width: int, *values: int) -> bytes:
    return np.array(values, f"<u{width}").tobytes()


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        ("0a040a021064", [*range(100)]),
        ("0a070a05086410c801", [*range(100, 200)]),
        ("0a091a07080510081a01050a080a06089601109701", [5, 7, 150]),
        ("0a10220e0a0c08091208000001000200bf00", [9, 10, 11, 200]),
    ],
    ids=["range", "range from 100", "bitmap and range", "sorted array"],
)
def test_the_worked_sequences_read_as_written(data, ids):
    """What the oracle wrote."""
    assert ids == _ids(bytes.fromhex(data), len(ids))


@pytest.mark.parametrize(
    ("segment", "ids"),
    [
        (
            {"range_with_holes": {"start": 2, "end": 7, "holes": {"u16_array": _U16}}},
            [2, 4, 6],
        )
        for _U16 in [{"base": 3, "offsets": _words(2, 0, 2)}]
    ]
    + [
        ({"array": {"u64_array": {"values": _words(8, 9, 2**64 - 1, 0)}}}, [9, 2**64 - 1, 0]),
        ({"array": {"u32_array": {"base": 2**40, "offsets": _words(4, 7, 0)}}}, [2**40 + 7, 2**40]),
        ({"range": {"start": 2**64 - 2, "end": 2**64 - 1}}, [2**64 - 2]),
        ({"range": {}}, []),
        ({"array": {"u64_array": {}}}, []),
    ],
    ids=["holes", "u64 array", "u32 array", "last range", "no range", "no array"],
)
def test_segments_the_oracle_seldom_writes(segment, ids):
    """Worked by hand."""
    assert ids == _ids(pb.RowIdSequence(segments=[segment]), len(ids))


@pytest.mark.parametrize(
    ("data", "versions"),
    [
        ("0a080a040a0210641001", [1] * 100),
        ("0a080a040a02100210010a0a0a060a04080210031002", [1, 1, 2]),
    ],
    ids=["one run", "two runs"],
)
def test_the_worked_versions_read_as_written(data, versions):
    """Run after run, as many rows as a span has values."""
    assert versions == _versions(bytes.fromhex(data), len(versions))


def test_spans_of_versions_only_count():
    """After a compaction spans repeat: rows are not looked up by their values."""
    run = {"span": {"range": {"start": 1, "end": 3}}}
    sequence = pb.RowDatasetVersionSequence(runs=[{**run, "version": 5}, {**run, "version": 4}])

    assert [5, 5, 4, 4] == _versions(sequence.SerializeToString(), 4)


@st.composite
def _segments(draw):
    """A segment of one of the five kinds, and its ids."""
    arm = draw(st.sampled_from(["range", "holes", "bitmap", "sorted_array", "array"]))
    start, size = draw(st.integers(0, 2**63)), draw(st.integers(0, 60))
    present = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    ids = [start + i for i, here in enumerate(present) if here]
    gone = [start + i for i, here in enumerate(present) if not here]
    spanned = {"start": start, "end": start + size}
    if arm == "range":
        return {"range": spanned}, [start + i for i in range(size)]
    if arm == "holes":
        return {"range_with_holes": {**spanned, "holes": _array(draw, gone)}}, ids
    if arm == "bitmap":
        packed = np.packbits(np.array(present, np.bool_), bitorder="little").tobytes()
        return {"range_with_bitmap": {**spanned, "bitmap": packed}}, ids
    if arm == "array":
        ids = draw(st.permutations(ids))
    return {arm: _array(draw, ids)}, ids


def _array(draw, values: list[int]) -> dict[str, object]:
    width = draw(st.sampled_from([2, 4, 8]))
    if width == 8:
        return {"u64_array": {"values": _words(8, *values)}}
    base = min(values, default=0)
    offsets = _words(width, *(value - base for value in values))
    return {f"u{8 * width}_array": {"base": base, "offsets": offsets}}


@given(st.lists(_segments(), max_size=6), st.data())
def test_any_segments_read_back(segments, data):
    """All rows, and any ascending choice of them with repetitions."""
    sequence = pb.RowIdSequence(segments=[segment for segment, _ in segments])
    ids = [value for _, part in segments for value in part]
    rows = st.lists(st.integers(0, max(0, len(ids) - 1)), max_size=20 if ids else 0)
    chosen = sorted(data.draw(rows))
    decoded = decode_row_ids(sequence.SerializeToString(), len(ids), CTX, PLACE)

    assert ids == _ids(sequence, len(ids))
    assert [ids[row] for row in chosen] == decoded.at(np.array(chosen, np.int64)).tolist()


def test_a_range_is_never_expanded():
    """A fragment of 2**31 rows costs nothing until rows are asked for."""
    sequence = pb.RowIdSequence(segments=[{"range": {"start": 5, "end": 5 + 2**31}}])
    decoded = decode_row_ids(sequence.SerializeToString(), 2**31, CTX, PLACE)

    assert [5, 2**31 + 4] == decoded.at(np.array([0, 2**31 - 1])).tolist()


HOLES = {"u16_array": {"base": 0, "offsets": _words(2, 1)}}


@pytest.mark.parametrize(
    ("segment", "rows", "clause"),
    [
        ({"range": {"end": 9}}, 10, "length"),
        ({"range": {"end": 11}}, 10, "length"),
        ({"range": {"end": 2**64 - 1}}, 10, "length"),
        ({"range": {"start": 5, "end": 4}}, 0, "range"),
        ({}, 0, "segment"),
        ({"range_with_holes": {"start": 2, "end": 9, "holes": HOLES}}, 6, "holes"),
        (
            {
                "range_with_holes": {
                    "end": 9,
                    "holes": {"u16_array": {"offsets": _words(2, 2, 1)}},
                }
            },
            7,
            "holes",
        ),
        ({"range_with_bitmap": {"end": 9, "bitmap": b"\xff"}}, 8, "bitmap"),
        ({"range_with_bitmap": {"end": 4, "bitmap": b"\x1f"}}, 5, "bitmap"),
        ({"range_with_bitmap": {"end": 8, "bitmap": b"\x01\x00"}}, 1, "bitmap"),
        ({"array": {}}, 0, "array"),
        ({"array": {"u16_array": {"offsets": b"\x01"}}}, 0, "array-width"),
        ({"array": {"u64_array": {"values": bytes(9)}}}, 1, "array-width"),
        ({"sorted_array": {"u16_array": {"offsets": _words(2, 3, 3)}}}, 2, "sorted"),
        (
            {"array": {"u16_array": {"base": 2**64 - 1, "offsets": _words(2, 1)}}},
            1,
            "overflow",
        ),
    ],
)
def test_a_broken_sequence_is_refused(segment, rows, clause):
    """Each rule has its clause; the place is that of the manifest."""
    with pytest.raises(FormatError) as caught:
        _ids(pb.RowIdSequence(segments=[segment]), rows)

    assert f"L.table.row-ids.{clause}" == caught.value.clause
    assert PLACE == caught.value.place


def test_versions_cover_every_row():
    """Neither shorter nor absurdly longer runs are expanded."""
    for end in (2, 4, 2**64 - 1):
        run = {"span": {"range": {"end": end}}, "version": 1}
        data = pb.RowDatasetVersionSequence(runs=[run]).SerializeToString()
        with pytest.raises(FormatError) as caught:
            _versions(data, 3)
        assert "L.table.row-ids.length" == caught.value.clause


def test_bytes_that_are_no_message_are_refused():
    """Cut in the middle."""
    with pytest.raises(LanceError) as caught:
        _ids(b"\x0a\x04\x0a", 1)

    assert "L.table.row-ids.message" == caught.value.clause


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_damage_never_escapes(mask):
    """Every byte of the worked sequences flipped: ids or a FormatError."""
    for text, rows in (("0a091a07080510081a01050a080a06089601109701", 3), ("0a040a021064", 100)):
        for at in range(len(text) // 2):
            data = bytearray.fromhex(text)
            data[at] ^= mask
            try:
                assert rows == len(_ids(bytes(data), rows))
            except LanceError as error:
                assert error.clause.startswith("L.table.row-ids.")


def _ranges(*ends):
    segments = [pb.U64Segment(range={"start": start, "end": end}) for start, end in ends]
    return pb.RowIdSequence(segments=segments).SerializeToString()


def test_ids_come_by_segments_and_rising_ranges_are_one():
    """Of ranges that fall each is a part of its own, and so is any other segment."""
    rising = decode_row_ids(_ranges((3, 5), (8, 9)), 3, CTX, PLACE)
    falling = decode_row_ids(_ranges((8, 9), (3, 5)), 3, CTX, PLACE)

    assert [[3, 8]] == [part.tolist() for part in rising.parts(np.array([0, 2]))]
    assert [[8], [4]] == [part.tolist() for part in falling.parts(np.array([0, 2]))]
    assert [[], [3, 4]] == [part.tolist() for part in falling.parts(np.array([1, 2]))]


def test_runs_keep_what_is_left_of_their_spans():
    """Two runs of three rows, versions 7 and 8; rows 1 and 3 are asked for."""
    runs = [
        {"span": {"range": {"start": 10 * n, "end": 10 * n + 3}}, "version": 7 + n} for n in (0, 1)
    ]
    data = pb.RowDatasetVersionSequence(runs=runs).SerializeToString()
    versions = decode_versions(data, 6, CTX, PLACE)

    found = versions.runs(np.array([1, 3]))
    assert [([1], 7), ([10], 8)] == [(one.span.tolist(), one.version) for one in found]
