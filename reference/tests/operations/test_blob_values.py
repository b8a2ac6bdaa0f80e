"""Blobs of a table and of a caller, under one type; and columns of them."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.operations.column_update import blobs_as_structs, has_blobs, plain
from pylanceref.operation import DatasetBasePath, LanceOperation

GIVEN = pa.struct([("data", pa.large_binary()), ("uri", pa.string())])


def _row(data: bytes | None) -> dict[str, object] | None:
    return None if data is None else {"data": data, "uri": None}


def test_bytes_become_rows_that_give_bytes():
    """A null stays one, at any depth below structs; other values stay."""
    held = pa.array([b"x", None, b""], pa.large_binary())
    deep = pa.StructArray.from_arrays([pa.array([1, 2, 3]), held], ["n", "b"])
    wanted = pa.struct([("b", GIVEN), ("n", pa.int64())])

    assert [_row(b"x"), None, _row(b"")] == blobs_as_structs(held, GIVEN).to_pylist()
    made = blobs_as_structs(deep, wanted)
    assert [1, 2, 3] == made.field(0).to_pylist()
    assert [_row(b"x"), None, _row(b"")] == made.field(1).to_pylist()
    assert has_blobs(deep.type, wanted) and has_blobs(held.type, GIVEN)
    assert not has_blobs(deep.type, deep.type) and not has_blobs(held.type, held.type)
    assert blobs_as_structs(held, pa.binary()) is held


def test_extension_types_are_left_out_at_any_depth():
    """Nulls of a struct stay, and so does a slice."""
    blobs = pylanceref.blob_array([b"a", b"b", None])
    deep = pa.StructArray.from_arrays([blobs], ["b"], mask=pa.array([False, True, False]))[1:]
    made = plain(deep)

    assert [None, {"b": None}] == made.to_pylist()
    assert pa.types.is_struct(made.type.field(0).type)


def _updated(dataset, right):
    fragment, fields = dataset.get_fragment(0).update_columns(right, left_on="id")
    update = LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
    after = pylanceref.LanceDataset.commit(dataset, update, read_version=dataset.version)
    return after.to_table(blob_handling="all_binary")


def test_blobs_of_some_rows_are_replaced(tmp_path):
    """The others keep their bytes, nulls stay null; in a struct too."""
    blobs = pylanceref.blob_array([b"one", b"two", b"", None])
    info = pa.StructArray.from_arrays(
        [pa.array(list("abcd")), blobs],
        fields=[pa.field("name", pa.string()), pylanceref.blob_field("blob")],
    )
    rows = pa.table({"id": [1, 2, 3, 4], "p": blobs, "info": info})
    dataset = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.2")
    right = pa.table({"id": [2], "p": pylanceref.blob_array([b"NEW"]), "info": info[:1]})
    after = _updated(dataset, right)

    assert [b"one", b"NEW", b"", None] == after["p"].to_pylist()
    deep = after["info"].combine_chunks()
    assert ["a", "a", "c", "d"] == deep.field("name").to_pylist()
    assert [b"one", b"one", b"", None] == deep.field("blob").to_pylist()


def test_uris_below_a_base_are_taken(tmp_path):
    """In new columns and in new values; elsewhere they are refused."""
    (tmp_path / "base").mkdir()
    inside, outside = tmp_path / "base" / "in.bin", tmp_path / "out.bin"
    inside.write_bytes(b"inside")
    outside.write_bytes(b"outside")
    bases = [DatasetBasePath(str(tmp_path / "base"), "b")]
    rows = pa.table({"id": [1, 2]})
    dataset = pylanceref.write_dataset(
        rows, tmp_path / "t", data_storage_version="2.2", initial_bases=bases
    )
    dataset.add_columns(pa.table({"p": pylanceref.blob_array([inside.as_uri(), b"y"])}))

    assert [b"inside", b"y"] == [one.read() for one in dataset.take_blobs("p", indices=[0, 1])]
    right = pa.table({"id": [2], "p": pylanceref.blob_array([inside.as_uri()])})
    assert [b"inside"] * 2 == _updated(dataset, right)["p"].to_pylist()
    right = pa.table({"id": [2], "p": pylanceref.blob_array([outside.as_uri()])})
    with pytest.raises(ValueError, match="outside registered external bases"):
        dataset.get_fragment(0).update_columns(right, left_on="id")


@pytest.mark.oracle
def test_the_oracle_reads_replaced_blobs(tmp_path):
    """The same bytes."""
    import lance

    rows = pa.table({"id": [1, 2], "p": pylanceref.blob_array([b"one", None])})
    dataset = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.2")
    right = pa.table({"id": [2], "p": pylanceref.blob_array([b"x" * 100_000])})
    after = _updated(dataset, right)

    assert after.equals(lance.dataset(tmp_path).to_table(blob_handling="all_binary"))
