"""Blobs of chosen rows."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.stored import materialised
from lanceref.core.errors import NotFound, RowDeleted
from pylanceref.dataset import LanceDataset, dataset, write_dataset
from pylanceref.file import LanceFileWriter
from pylanceref.metadata import DataFile
from pylanceref.operation import LanceOperation as Op

CASES = Path(__file__).parents[2] / "fixtures/table/any/blob"
SECOND = [b"abc", b"abcdef", b"0123456789abc", None, b"", b"ghijkl"]


def _read(blobs: list) -> list[bytes | None]:
    return [None if blob is None else blob.read() for blob in blobs]


def test_rows_are_chosen_by_position_address_and_id() -> None:
    """Any order and repeats; without stable ids an id is an address."""
    opened = dataset(materialised(CASES / "second-kind" / "dataset"))

    for how in ("indices", "addresses", "ids"):
        found = opened.take_blobs("b", **{how: [5, 0, 3, 5]})
        assert _read(found) == [SECOND[5], SECOND[0], None, SECOND[5]]
    assert opened.read_blobs("b", indices=[2, 4]) == [(2, SECOND[2]), (4, b"")]


def test_blobs_of_the_first_kind_open_too() -> None:
    """They lie in the data file."""
    opened = dataset(materialised(CASES / "first-kind" / "dataset"))

    assert _read(opened.take_blobs("b", indices=[0, 1, 2])) == [b"abc", None, b""]


def test_what_cannot_be_chosen_is_refused() -> None:
    """Two ways at once, unknown rows and columns, and columns that hold no blobs."""
    opened = dataset(materialised(CASES / "second-kind" / "dataset"))

    with pytest.raises(ValueError, match="Exactly one"):
        opened.take_blobs("b")
    for how in ("indices", "addresses", "ids"):
        with pytest.raises(NotFound):
            opened.take_blobs("b", **{how: [6]})
    with pytest.raises(NotFound):
        opened.take_blobs("c", indices=[0])
    plain = dataset(materialised(CASES.parent / "manifest" / "plain" / "dataset"))
    with pytest.raises(ValueError, match="not a blob column"):
        plain.take_blobs("a", indices=[0])


def _table(version: str, rng: random.Random, uri: str) -> pa.Table:
    """Blobs alone and in structs, of every kind the version has."""
    from pylanceref.blob import Blob, blob_array, blob_field

    def some(count: int) -> list[bytes | None]:
        return [rng.choice([None, b"", rng.randbytes(rng.randrange(99))]) for _ in range(count)]

    if version < "2.2":
        field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
        first: pa.Array = pa.array(some(60), field.type)
        second: pa.Array = pa.array(some(60), field.type)
    else:
        field = blob_field(
            "b",
            inline_size_threshold=10,
            dedicated_size_threshold=70,
            pack_file_size_threshold=200,
        )
        outside = [Blob.from_uri(uri, 5, 7), uri]
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
def test_tables_of_blobs_read_as_with_the_oracle(version: str, tmp_path: Path) -> None:
    """Descriptors, bytes, takes and opened blobs are the oracle's, nested ones too."""
    import lance

    rng = random.Random(7)
    (tmp_path / "outside").write_bytes(bytes(range(100)))
    table = _table(version, rng, f"file://{tmp_path}/outside")
    theirs = lance.write_dataset(
        table,
        f"{tmp_path}/t",
        data_storage_version=version,
        max_rows_per_file=40,
        allow_external_blob_outside_bases=True,
    )
    theirs.delete("s.k = 1 and _rowid % 7 = 3")
    theirs = lance.dataset(f"{tmp_path}/t")
    ours = dataset(f"{tmp_path}/t")

    assert ours.schema.equals(theirs.schema, check_metadata=True)
    for handling in (None, "all_binary", "all_descriptions"):
        found = ours.to_table(blob_handling=handling)
        wanted = theirs.to_table(blob_handling=handling)
        assert found.schema.equals(wanted.schema, check_metadata=True)
        assert found.equals(wanted)
    rows = [rng.randrange(theirs.count_rows()) for _ in range(20)]
    assert ours.take(rows).equals(theirs.take(rows))
    for column in ("b", "s.b"):
        assert _read(ours.take_blobs(column, indices=rows)) == _read(
            theirs.take_blobs(column, indices=rows)
        )
        assert ours.read_blobs(column, indices=sorted(set(rows))) == theirs.read_blobs(
            column, indices=sorted(set(rows))
        )


CALLS = {
    "blobs": lambda d: d.read_blobs("b", indices=[2, 0, 0], io_buffer_size=1, preserve_order=True),
    "blobs, no buffer": lambda d: d.read_blobs("b", indices=[0], io_buffer_size=0),
    "blobs, text": lambda d: d.read_blobs("b", indices=["x"]),
    "blobs, array": lambda d: d.read_blobs("b", ids=pa.array([1, 0], pa.int64())),
    "range": lambda d: d.take_blobs("b", [0])[0].read_range(2, 3),
    "negative range": lambda d: d.take_blobs("b", [0])[0].read_range(2, -3),
    "ranges past the end": lambda d: d.take_blobs("b", [0])[0].read_ranges([(0, 1), (11, 0)]),
    "read-only": lambda d: d.take_blobs("b", [0])[0].readinto(b"abc"),
    "half": lambda d: d.take_blobs("b", [0])[0].seek(1.5),
    "writable": lambda d: d.take_blobs("b", [0])[0].writable(),
    "no read-ahead": lambda d: d.take_blobs("b", [0], buffer_size=0)[0].read(4),
}


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_every_call_does_as_with_the_oracle(version: str, tmp_path: Path) -> None:
    """Same results, errors of the same class."""
    import lance

    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table([pa.array([b"0123456789", None, b""], field.type)], schema=pa.schema([field]))
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
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    rows = pa.table([pa.array([b"a", b"b"], pa.large_binary())], schema=pa.schema([field]))
    table = write_dataset(rows, tmp_path, enable_stable_row_ids=stable)
    table.delete("_rowaddr = 1")
    with pytest.raises(NotImplementedError, match="must not target deleted"):
        table.take_blobs("b", addresses=[0, 1])
    with pytest.raises(NotFound if stable else RowDeleted):
        table.take_blobs("b", ids=[0, 1])
    with pytest.raises(NotFound, match="no row with _rowaddr 5"):
        table.take_blobs("b", addresses=[5])


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_blobs_come_from_the_newest_overlay_of_their_row(tmp_path, version):
    """Others lie where they lay; a null in an overlay is one."""
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})

    def blobs(*values):
        return pa.table([pa.array(values, pa.large_binary())], schema=pa.schema([field]))

    table = write_dataset(blobs(b"a", b"b", b"c", b"d"), tmp_path, data_storage_version=version)
    (own,) = table.get_fragments()[0].metadata.files
    for name, offsets, values in (
        ("one", [1, 2], [b"first", b"other"]),
        ("two", [2, 3], [b"second", None]),
    ):
        path = tmp_path / "data" / f"{name}.lance"
        with LanceFileWriter(str(path), pa.schema([field]), version=version) as writer:
            writer.write_batch(blobs(*values))
        words = own.file_major_version, own.file_minor_version
        file = DataFile(path.name, own.fields, own.column_indices, *words, path.stat().st_size)
        group = Op.DataOverlayGroup(0, [Op.DataOverlayFile(file, offsets)])
        read = dataset(tmp_path).version
        LanceDataset.commit(tmp_path, Op.DataOverlay([group]), read_version=read)

    found = dataset(tmp_path)
    assert _read(found.take_blobs("b", indices=[3, 2, 1, 0])) == [None, b"second", b"first", b"a"]
    assert found.scanner(blob_handling="all_binary").to_table()["b"].to_pylist() == [
        b"a",
        b"first",
        b"second",
        None,
    ]
