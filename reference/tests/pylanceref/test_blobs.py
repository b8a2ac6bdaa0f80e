"""Blobs as they are written, opened and taken."""

import io
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_conformance.suite.case_storage import materialise
from lanceref.blobs.descriptors import BlobRange
from lanceref.core.errors import NotFound, RowDeleted
from lanceref.storage import BytesSource
from pylanceref.blob import Blob, BlobColumn, BlobFile, blob_array, blob_field
from pylanceref.dataset import LanceDataset, dataset, write_dataset
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

DATA = bytes(range(100))
FIRST_KIND = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})


def _file() -> BlobFile:
    """A blob of bytes 10 to 90 of DATA."""
    return BlobFile(BlobRange(BytesSource(DATA), 10, 80))


@given(
    st.integers(1, 30),
    st.lists(
        st.tuples(st.sampled_from(["read", "seek", "into", "end", "rest"]), st.integers(0, 500))
    ),
)
def test_any_calls_give_what_a_file_in_memory_gives(buffer_bytes, calls):
    """Reading ahead changes no result of any sequence of calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pylanceref.blob.BUFFER_BYTES", buffer_bytes)
        ours, theirs = _file(), io.BytesIO(DATA[10:90])
    for what, number in calls:
        if what == "into":
            mine, other = bytearray(number), bytearray(number)
            assert ours.readinto(mine) == theirs.readinto(other)
            assert mine == other
        elif what == "end":
            back = -(number % 81), io.SEEK_END
            assert ours.seek(*back) == theirs.seek(*back)
        elif what == "rest":
            assert ours.read() == theirs.read()
        else:
            assert getattr(ours, what)(number) == getattr(theirs, what)(number)
        assert ours.tell() == theirs.tell()


def test_arrays_are_built_from_bytes_uris_and_blobs():
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
def test_a_blob_is_one_thing(values):
    """Bytes and a URI exclude each other, and a range is whole and not empty."""
    with pytest.raises(ValueError, match=r"[Bb]lob"):
        Blob(**values)


def test_thresholds_are_metadata_of_the_field():
    """Each threshold has its key; numbers that mean nothing are refused."""
    field = blob_field("b", nullable=False, inline_size_threshold=0, dedicated_size_threshold=7)

    assert (field.type.extension_name, field.nullable) == ("lance.blob.v2", False)
    assert field.metadata == {
        b"lance-encoding:blob-inline-size-threshold": b"0",
        b"lance-encoding:blob-dedicated-size-threshold": b"7",
    }
    with pytest.raises(ValueError, match="positive"):
        blob_field("b", dedicated_size_threshold=0)
    with pytest.raises(OverflowError, match="pack_file_size_threshold must fit"):
        blob_field("b", pack_file_size_threshold=2**64)
    with pytest.raises(TypeError):
        blob_field("b", inline_size_threshold="1")  # type: ignore[arg-type]


@pytest.mark.oracle
def test_fields_and_arrays_are_the_oracles(tmp_path):
    """What is built here has the storage and metadata of what the oracle builds."""
    from lance.blob import blob_array as theirs
    from lance.blob import blob_field as their_field

    assert blob_array([b"a", None, "u"]).storage.equals(theirs([b"a", None, "u"]).storage)
    ours, other = (make("b", inline_size_threshold=3) for make in (blob_field, their_field))
    assert ours.type.storage_type == other.type.storage_type
    assert ours.metadata == other.metadata


CASES = Path(__file__).parents[3] / "fixtures/table/any/blob"
SECOND = [b"abc", b"abcdef", b"0123456789abc", None, b"", b"ghijkl"]


def _rows(*values: bytes | None) -> pa.Table:
    return pa.table([pa.array(values, FIRST_KIND.type)], pa.schema([FIRST_KIND]))


def _read(blobs: list) -> list[bytes | None]:
    return [None if blob is None else blob.read() for blob in blobs]


def test_rows_are_chosen_by_position_address_and_id():
    """Any order and repeats; without stable ids an id is an address."""
    opened = dataset(materialise(CASES / "second-kind" / "dataset"))

    for how in ("indices", "addresses", "ids"):
        found = opened.take_blobs("b", **{how: [5, 0, 3, 5]})
        assert _read(found) == [SECOND[5], SECOND[0], None, SECOND[5]]


def test_tables_of_0_1_have_the_bytes_of_blobs(tmp_path):
    """Descriptions, and files of them, there are none; the oracle panics."""
    table = write_dataset(_rows(b"abc", b"", b"d"), tmp_path, data_storage_version="0.1")
    assert table.to_table(filter="b is not null")["b"].to_pylist() == [b"abc", b"d"]
    assert table.take([2, 0])["b"].to_pylist() == [b"d", b"abc"]
    with pytest.raises(ValueError, match="not a blob column"):
        table.take_blobs("b", indices=[0])


def _opened(value: object) -> object:
    """A value of a data frame, with bytes in place of files at any depth."""
    if isinstance(value, dict):
        return {name: _opened(one) for name, one in value.items()}
    return value.read() if isinstance(value, io.IOBase) else value


def _table(version: str, rng: random.Random, uri: str) -> pa.Table:
    """Blobs alone and in structs, of every kind the version has."""

    def some(count: int) -> list[bytes | None]:
        return [rng.choice([None, b"", rng.randbytes(rng.randrange(99))]) for _ in range(count)]

    if version < "2.2":
        field = FIRST_KIND
        first: pa.Array = pa.array(some(60), field.type)
        second: pa.Array = pa.array(some(60), field.type)
    else:
        field = blob_field(
            "b", inline_size_threshold=10, dedicated_size_threshold=70, pack_file_size_threshold=200
        )
        outside = [Blob(uri=uri, position=5, size=7), uri]
        first = blob_array([rng.choice([one, *outside]) for one in some(60)])
        second = blob_array(some(60))
    struct = pa.field("s", pa.struct([field, pa.field("k", pa.int8())]))
    mask = pa.array([version > "2.0" and rng.random() < 0.3 for _ in range(60)])
    structs = pa.StructArray.from_arrays(
        [second, pa.array([1] * 60, pa.int8())], fields=list(struct.type), mask=mask
    )
    return pa.table([first, structs], schema=pa.schema([field, struct]))


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_tables_of_blobs_read_as_with_the_oracle(version, tmp_path):
    """Descriptors, bytes, takes and opened blobs are the oracle's, nested ones too."""
    import lance

    rng = random.Random(7)
    (tmp_path / "outside").write_bytes(bytes(range(100)))
    table = _table(version, rng, f"file://{tmp_path}/outside")
    given = {"max_rows_per_file": 40, "allow_external_blob_outside_bases": True}
    theirs = lance.write_dataset(table, f"{tmp_path}/t", data_storage_version=version, **given)
    theirs.delete("s.k = 1 and _rowid % 7 = 3")
    theirs = lance.dataset(f"{tmp_path}/t")
    ours = dataset(f"{tmp_path}/t")

    assert ours.schema.equals(theirs.schema, check_metadata=True)
    for handling in (None, "all_binary", "all_descriptions"):
        found = ours.to_table(blob_handling=handling)
        wanted = theirs.to_table(blob_handling=handling)
        assert found.schema.equals(wanted.schema, check_metadata=True)
        assert found.equals(wanted)
    for given in ({"blob_mode": "lazy"}, {"blob_mode": "bytes"}, {"columns": {"x": "s"}}):
        found, wanted = (one.to_pandas(**given) for one in (ours, theirs))
        assert found.map(_opened).to_dict("list") == wanted.map(_opened).to_dict("list")
    assert ours.to_pandas(blob_mode="descriptions").equals(ours.to_table().to_pandas())
    rows = [rng.randrange(theirs.count_rows()) for _ in range(20)]
    assert ours.take(rows).equals(theirs.take(rows))
    for column in ("b", "s.b"):
        found, wanted = (one.take_blobs(column, indices=rows) for one in (ours, theirs))
        assert _read(found) == _read(wanted)
        assert ours.read_blobs(column, indices=rows) == theirs.read_blobs(column, indices=rows)


def _frame(rows, column: str, **given) -> list:
    return list(map(_opened, rows.to_pandas(**given)[column]))


CALLS = {
    "text": lambda d: d.take_blobs("b", indices=["x"]),
    "array": lambda d: [one and one.read() for one in d.take_blobs("b", pa.array([1, 0]))],
    "bytes": lambda d: d.read_blobs("b", addresses=[1, 0, 1], preserve_order=True),
    "buffer": lambda d: d.read_blobs("b", indices=[0], io_buffer_size=0),
    "frame": lambda d: _frame(d.scanner(columns={"x": "b"}, limit=2), "x"),
    "frame of a fragment": lambda d: _frame(d.get_fragments()[0], "b", filter="b is null"),
    "frame of bytes": lambda d: _frame(d, "b", columns=["b"], blob_mode="bytes"),
    "mode": lambda d: d.to_pandas(blob_mode="inline"),
    "ranges": lambda d: d.read_blob_ranges("b", [(0, 2, 3), (1, 0, 1)], selector="indices"),
    "range": lambda d: d.take_blobs("b", [0])[0].read_range(2, 3),
    "negative range": lambda d: d.take_blobs("b", [0])[0].read_range(2, -3),
    "range past the end": lambda d: d.take_blobs("b", [0])[0].read_range(11, 0),
    "read-only": lambda d: d.take_blobs("b", [0])[0].readinto(b"abc"),
    "half": lambda d: d.take_blobs("b", [0])[0].seek(1.5),
    "writable": lambda d: d.take_blobs("b", [0])[0].writable(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_every_call_does_as_with_the_oracle(version, tmp_path):
    """Same results, errors of the same class."""
    import lance

    table = _rows(b"0123456789", None, b"")
    lance.write_dataset(table, str(tmp_path), data_storage_version=version)
    theirs, ours = lance.dataset(str(tmp_path)), dataset(tmp_path)
    for name, call in CALLS.items():
        try:
            expected = call(theirs)
        except (LookupError, OSError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                call(ours)
        else:
            assert call(ours) == expected, name


@pytest.mark.parametrize("stable", [False, True])
def test_deleted_rows_have_no_blobs(tmp_path, stable):
    """By address that is an error; a stable id or an unknown address is of no row."""
    table = write_dataset(_rows(b"a", b"b"), tmp_path, enable_stable_row_ids=stable)
    table.delete("_rowaddr = 1")
    with pytest.raises(NotImplementedError, match="must not target deleted rows: 1 of 2 are"):
        table.take_blobs("b", addresses=[0, 1])
    with pytest.raises(NotFound if stable else RowDeleted):
        table.take_blobs("b", ids=[0, 1])
    with pytest.raises(NotFound, match="no row 5"):
        table.take_blobs("b", addresses=[5])


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_blobs_come_from_the_newest_overlay_of_their_row(tmp_path, version):
    """Others lie where they lay; a null in an overlay is one."""
    table = write_dataset(_rows(b"a", b"b", b"c", b"d"), tmp_path, data_storage_version=version)
    (own,) = table.get_fragments()[0].metadata.files
    over = {"one": ([1, 2], [b"first", b"other"]), "two": ([2, 3], [b"second", None])}
    for name, (offsets, values) in over.items():
        path = tmp_path / "data" / f"{name}.lance"
        with LanceFileWriter(str(path), version=version) as writer:
            writer.write_batch(_rows(*values))
        words = own.file_major_version, own.file_minor_version
        file = DataFile(path.name, own.fields, own.column_indices, *words, path.stat().st_size)
        group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, offsets)])
        read = dataset(tmp_path).version
        LanceDataset.commit(tmp_path, Op.DataOverlay([group]), read_version=read)

    found = dataset(tmp_path)
    assert _read(found.take_blobs("b", indices=[3, 2, 1, 0])) == [None, b"second", b"first", b"a"]
    values = found.scanner(blob_handling="all_binary").to_table()["b"].to_pylist()
    assert values == [b"a", b"first", b"second", None]


def test_a_file_refuses_what_it_cannot_do():
    """Positions below 0, ranges outside and closed files raise ValueError, as other columns."""
    file = _file()
    assert (file.read_range(0, 2), file.read_range(79, 1)) == (DATA[10:12], DATA[89:90])
    assert (file.size(), repr(file)) == (80, "<BlobFile size=80>")
    for call in (lambda: file.seek(-1), lambda: file.seek(0, 7), lambda: file.read_range(79, 2)):
        with pytest.raises(ValueError, match=r"."):
            call()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read()
    value, null = BlobColumn(pa.array([b"a", None]))
    assert value is not None
    assert (value.read(), null) == (b"a", None)
    with pytest.raises(ValueError, match="binary array"):
        BlobColumn(pa.array([1]))
