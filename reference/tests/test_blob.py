"""Blobs as they are written and opened."""

import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.blobs.blob_reader import BlobRange
from lanceref.storage import BytesSource
from pylanceref.blob import Blob, BlobColumn, BlobFile, BlobType, blob_array, blob_field

DATA = bytes(range(100))


def _file(buffer_size: int = 16) -> BlobFile:
    """A blob of bytes 10 to 90 of DATA."""
    return BlobFile(BlobRange(BytesSource(DATA), 10, 80), buffer_size)


def test_a_blob_reads_like_a_file() -> None:
    """read, seek and tell count from the start of the blob."""
    file = _file()

    assert (file.size(), file.read(3), file.tell()) == (80, DATA[10:13], 3)
    assert file.seek(-2, io.SEEK_END) == 78
    assert (file.read(), file.read(5)) == (DATA[88:90], b"")
    assert file.seek(500) == 500
    assert file.read() == b""
    assert file.read_ranges([(0, 2), (79, 1), (80, 0)]) == [DATA[10:12], DATA[89:90], b""]
    assert repr(file) == "<BlobFile size=80>"


def test_ranges_lie_inside_of_a_blob() -> None:
    """Their ends are numbers, and none is after the end of the blob."""
    for ranges, error, text in (
        ([(0, 1), (2**64 - 1, 5)], ValueError, "request 1: .* overflowed"),
        ([(75, 6)], ValueError, "end 81 exceeds blob size 80"),
        ([(81, 0)], ValueError, "end 81 exceeds blob size 80"),
        ([(-1, 2)], OverflowError, "-1"),
    ):
        with pytest.raises(error, match=text):
            _file().read_ranges(ranges)


def test_a_file_refuses_what_it_cannot_do() -> None:
    """Positions below 0, ranges outside, odd buffer sizes and closed files raise ValueError."""
    file = _file()
    for call in (
        lambda: file.seek(-1),
        lambda: file.seek(0, 7),
        lambda: file.read_range(79, 2),
        lambda: _file(-1),
    ):
        with pytest.raises(ValueError, match=r"."):
            call()
    with pytest.raises(TypeError):
        _file(True)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read()


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.sampled_from(["read", "seek", "into"]), st.integers(0, 100))),
)
def test_any_calls_give_what_a_file_in_memory_gives(
    buffer_size: int, calls: list[tuple[str, int]]
) -> None:
    """Reading ahead changes no result."""
    ours, theirs = _file(buffer_size), io.BytesIO(DATA[10:90])
    for what, number in calls:
        if what == "into":
            mine, other = bytearray(number), bytearray(number)
            assert ours.readinto(mine) == theirs.readinto(other)
            assert mine == other
        else:
            assert getattr(ours, what)(number) == getattr(theirs, what)(number)
        assert ours.tell() == theirs.tell()


def test_arrays_are_built_from_bytes_uris_and_blobs() -> None:
    """Each value sets bytes or a URI; None is null."""
    array = blob_array([b"a", None, "file:///x", Blob.from_uri("u", 1, 2), Blob.empty()])

    assert array.storage.to_pylist() == [
        {"data": b"a", "uri": None, "position": None, "size": None},
        None,
        {"data": None, "uri": "file:///x", "position": None, "size": None},
        {"data": None, "uri": "u", "position": 1, "size": 2},
        {"data": b"", "uri": None, "position": None, "size": None},
    ]
    with pytest.raises(TypeError):
        blob_array([1])


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"data": b"", "uri": "x"},
        {"uri": ""},
        {"uri": "x", "position": 1},
        {"data": b"", "position": 1, "size": 1},
        {"uri": "x", "position": 1, "size": 0},
    ],
)
def test_a_blob_is_one_thing(values: dict) -> None:
    """Bytes and a URI exclude each other, and a range is whole and not empty."""
    with pytest.raises(ValueError, match=r"[Bb]lob"):
        Blob(**values)


def test_thresholds_are_metadata_of_the_field() -> None:
    """Each threshold has its key; numbers that mean nothing are refused."""
    field = blob_field("b", nullable=False, inline_size_threshold=0, dedicated_size_threshold=7)

    assert (field.type.extension_name, field.nullable) == ("lance.blob.v2", False)
    assert field.metadata == {
        b"lance-encoding:blob-inline-size-threshold": b"0",
        b"lance-encoding:blob-dedicated-size-threshold": b"7",
    }
    with pytest.raises(ValueError, match="positive"):
        blob_field("b", dedicated_size_threshold=0)
    with pytest.raises(OverflowError, match="unsigned 64-bit"):
        blob_field("b", pack_file_size_threshold=2**64)
    with pytest.raises(TypeError):
        blob_field("b", inline_size_threshold="1")  # type: ignore[arg-type]


def test_the_type_comes_back_from_its_storage() -> None:
    """Both storage forms are taken, no other."""
    two = pa.struct([("data", pa.large_binary()), ("uri", pa.utf8())])

    assert BlobType.__arrow_ext_deserialize__(two, b"").storage_type == two
    with pytest.raises(TypeError):
        BlobType.__arrow_ext_deserialize__(pa.int8(), b"")


def test_a_binary_column_opens_as_files() -> None:
    """Each value is a file, a null is None."""
    files = list(BlobColumn(pa.array([b"a", None])))

    assert files[0] is not None
    assert (files[0].read(), files[1]) == (b"a", None)
    with pytest.raises(ValueError, match="binary array"):
        BlobColumn(pa.array([1]))


@pytest.mark.oracle
def test_fields_and_arrays_are_the_oracles(tmp_path: Path) -> None:
    """What is built here has the storage and metadata of what the oracle builds."""
    from lance.blob import blob_array as theirs
    from lance.blob import blob_field as their_field

    assert blob_array([b"a", None, "u"]).storage.equals(theirs([b"a", None, "u"]).storage)
    ours, other = (
        blob_field("b", inline_size_threshold=3),
        their_field("b", inline_size_threshold=3),
    )
    assert ours.type.storage_type == other.type.storage_type
    assert ours.metadata == other.metadata
