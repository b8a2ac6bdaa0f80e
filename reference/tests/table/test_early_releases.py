"""Tables of early releases that no later one may write."""

from __future__ import annotations

from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError, OperationRefused
from lanceref.proto import table_pb2
from lanceref.table.file_entries import (
    FIELD_TWICE,
    FileOfFragment,
    fields_held_twice,
    is_before,
    last_holders,
)
from lanceref.table.manifest import encode_manifest

B, Z = [0, 4, 8, 12], [0, 3, 6, 9]


def written_by(uri, release, edit):
    """Rewrite the latest manifest as that of a release, and after an edit."""
    manifest = pylanceref.dataset(uri)._snapshot.manifest
    message = manifest.message
    edit(message)
    message.writer_version.library, message.writer_version.version = "lance", release
    (path,) = Path(uri, "_versions").glob(f"{2**64 - 1 - manifest.version}.manifest")
    path.write_bytes(encode_manifest(message, manifest.transaction, [], manifest.dictionaries))


@pytest.fixture
def field_twice(tmp_path):
    """A table of 0.10.5 whose column b has the id of z, which was dropped before."""
    uri = str(tmp_path / "t")
    made = pylanceref.write_dataset(
        pa.table({"x": range(4)}), uri, data_storage_version="0.1", max_rows_per_file=2
    )
    for name, values in (("y", [1, 1, 1, 1]), ("z", Z)):
        made.add_columns(pa.table({name: pa.array(values, pa.int64())}).to_reader())
    made.drop_columns(["z"])
    made.add_columns(pa.table({"b": pa.array(B, pa.int64())}).to_reader())

    def edit(message):
        (field,) = [one for one in message.fields if one.name == "b"]
        last, field.id = field.id, 2
        for number, fragment in enumerate(message.fragments):
            held = pylanceref.dataset(uri, version=3)._snapshot.manifest.message.fragments[number]
            files = [*held.files]
            files += [file for file in fragment.files if last in file.fields]
            del fragment.files[:]
            fragment.files.extend(files)
            fragment.files[-1].fields[:] = [2]

    written_by(uri, "0.10.5", edit)
    return uri


def test_releases_are_compared_by_number():
    """Other libraries are not early, nor is who does not say."""

    def manifest(library, version):
        made = table_pb2.Manifest()
        made.writer_version.library, made.writer_version.version = library, version
        return made

    assert is_before(manifest("lance", "0.9.18"), FIELD_TWICE)
    assert not is_before(manifest("lance", "0.11.0"), FIELD_TWICE)
    assert not is_before(manifest("lance", "1.0.0-beta.1"), FIELD_TWICE)
    assert not is_before(manifest("other", "0.1.0"), FIELD_TWICE)
    assert not is_before(manifest("lance", "x.y"), FIELD_TWICE)
    assert not is_before(table_pb2.Manifest(), FIELD_TWICE)


def test_the_last_file_holds_a_field():
    """Other fields stay where they are."""
    files = [FileOfFragment("p", None, columns, 0, None) for columns in ({1: 0, 2: 1}, {2: 0})]

    assert [{1: 0}, {2: 0}] == [file.columns for file in last_holders(files)]


def test_a_field_in_two_files_is_read_from_the_last(field_twice):
    """And a validation tells of it; a later release is refused."""
    assert B == pylanceref.dataset(field_twice).to_table()["b"].to_pylist()
    assert "L.table.datafile.once" in [one.clause for one in lanceref.validate(field_twice)]
    written_by(field_twice, "0.11.0", lambda message: None)
    with pytest.raises(FormatError, match="twice"):
        pylanceref.dataset(field_twice)


@pytest.mark.parametrize("how", ["config", "delete", "append", "add", "drop", "index"])
def test_a_commit_gives_the_field_an_id_of_its_own(field_twice, how):
    """Whatever it does; the values stay."""
    dataset = pylanceref.dataset(field_twice)
    wanted = B
    if how == "config":
        dataset.update_config({"a": "b"})
    elif how == "delete":
        dataset.delete("b = 4")
        wanted = [0, 8, 12]
    elif how == "append":
        pylanceref.write_dataset(dataset.to_table().slice(1, 1), dataset, mode="append")
        wanted = [*B, 4]
    elif how == "add":
        dataset.add_columns({"n": "b + 1"})
    elif how == "drop":
        dataset.drop_columns(["y"])
    else:
        dataset.create_scalar_index("x", "BTREE")
    after = pylanceref.dataset(field_twice)

    assert wanted == after.to_table()["b"].to_pylist()
    assert not fields_held_twice(after._snapshot.manifest.message.fragments)
    assert [4] == after.to_table(filter="b = 4")["b"].to_pylist() or how in ("delete", "append")
    assert [] == [one.clause for one in lanceref.validate(field_twice, deep=True)]


def test_a_dropped_field_is_held_by_the_last_file_alone(field_twice):
    """It has no other id."""
    pylanceref.dataset(field_twice).drop_columns(["b"])
    message = pylanceref.dataset(field_twice)._snapshot.manifest.message

    assert not fields_held_twice(message.fragments)


def test_a_compaction_asks_for_another_commit_first(field_twice):
    """Its first commit would take the ids from the second."""
    with pytest.raises(OperationRefused, match="corrects its id"):
        pylanceref.dataset(field_twice).optimize.compact_files()
    pylanceref.dataset(field_twice).update_config({"a": "b"})
    pylanceref.dataset(field_twice).optimize.compact_files()

    assert B == pylanceref.dataset(field_twice).to_table()["b"].to_pylist()


@pytest.mark.oracle
def test_the_oracle_reads_the_first_file_until_a_commit(field_twice):
    """D.table.field-in-two-files: then it reads what we read, whoever made the commit."""
    import lance

    assert Z == lance.dataset(field_twice).to_table()["b"].to_pylist()
    pylanceref.dataset(field_twice).update_config({"a": "b"})
    assert B == lance.dataset(field_twice).to_table()["b"].to_pylist()


def test_fragments_of_one_id_are_read(tmp_path):
    """Of release 0.16, and no later one."""
    uri = str(tmp_path / "t")
    pylanceref.write_dataset(pa.table({"x": range(4)}), uri, max_rows_per_file=2)

    def edit(message):
        message.fragments[1].id = 0

    written_by(uri, "0.16.1", edit)
    assert [0, 1, 2, 3] == pylanceref.dataset(uri).to_table()["x"].to_pylist()
    assert "L.table.fragments.ids" in [one.clause for one in lanceref.validate(uri)]
    written_by(uri, "0.17.0", lambda message: None)
    with pytest.raises(FormatError, match="id used twice"):
        pylanceref.dataset(uri)
