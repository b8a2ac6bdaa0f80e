"""Tables of early releases: what they left out or wrote wrong is read, and corrected by commits."""

from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, OperationRefused
from lanceref.storage import LocalStore
from lanceref.table.file_entries import fields_held_twice
from lanceref.table.manifest import encode_manifest, open_manifest
from pylanceref.dataset import dataset, write_dataset

from tests.table import manifests
from tests.transactions import versions

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


@pytest.mark.parametrize("how", ["config", "delete", "append", "add", "drop", "index"])
def test_a_commit_gives_the_field_an_id_of_its_own(field_twice, how):
    """Any commit corrects the ids, and the values stay."""
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
    """A dropped field loses its columns in all files but the last."""
    pylanceref.dataset(field_twice).drop_columns(["b"])
    message = pylanceref.dataset(field_twice)._snapshot.manifest.message

    assert not fields_held_twice(message.fragments)


def test_a_compaction_asks_for_another_commit_first(field_twice):
    """A compaction is refused, since its first commit would invalidate its second."""
    with pytest.raises(OperationRefused, match="corrects its id"):
        pylanceref.dataset(field_twice).optimize.compact_files()
    pylanceref.dataset(field_twice).update_config({"a": "b"})
    pylanceref.dataset(field_twice).optimize.compact_files()

    assert B == pylanceref.dataset(field_twice).to_table()["b"].to_pylist()


@pytest.mark.oracle
def test_the_oracle_reads_the_first_file_until_a_commit(field_twice):
    """D.table.field-in-two-files: after our commit the oracle reads what we read."""
    import lance

    assert Z == lance.dataset(field_twice).to_table()["b"].to_pylist()
    pylanceref.dataset(field_twice).update_config({"a": "b"})
    assert B == lance.dataset(field_twice).to_table()["b"].to_pylist()


def test_fragments_of_one_id_are_read(tmp_path):
    """Duplicate fragment ids of release 0.16 are read, and of later ones refused."""
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


ROWS = pa.table({"a": range(10)})


class _Early(versions.SizedPast):
    """A past of files that have ten rows, of which 3 and 4 are deleted."""

    def num_rows(self, before, fragment):
        return 10

    def deleted(self, before, fragment):
        return np.array([3, 4])


EDIT = {"config_updates": {"update_entries": [{"key": "k", "value": "v"}]}}


def test_a_version_that_is_not_that_of_the_files_is_corrected():
    """A stated 0.1 above files of 2.0 is corrected by the next commit."""
    files = versions.files(0, 1, 2) | {"file_major_version": 0, "file_minor_version": 3}
    stated = {"file_format": "lance", "version": "0.1"}
    before = versions.table(
        0, fragments=[manifests.fragment(0, files)], max_fragment_id=None, data_format=stated
    )
    after = versions.after(before, past=_Early(), update_config=EDIT)

    assert "0.1" == before.storage_version
    assert "2.0" == after.storage_version


@pytest.mark.parametrize("old", ["2.0", "2.2"])
def test_an_overwrite_or_restore_brings_its_own_format(tmp_path, old):
    """Overwrite and restore change between 0.1 and 2.x, also without rows."""
    path = str(tmp_path / "t")
    write_dataset(ROWS, path, data_storage_version=old)
    write_dataset(ROWS, path, mode="overwrite", data_storage_version="0.1")
    assert "0.1" == dataset(path).data_storage_version
    dataset(path, 1).restore()
    assert old == dataset(path).data_storage_version
    dataset(path, 2).restore()
    assert "0.1" == dataset(path).data_storage_version
    write_dataset(ROWS, path, mode="append")
    assert 2 * ROWS.num_rows == dataset(path).count_rows()
    write_dataset(ROWS.slice(0, 0), path, mode="overwrite", data_storage_version=old)
    write_dataset(ROWS.slice(0, 0), path, mode="overwrite", data_storage_version="0.1")
    assert "0.1" == dataset(path).data_storage_version


def _without(path, strip):
    """Write two fragments, delete two rows, and strip the latest manifest."""
    made = write_dataset(ROWS, path, max_rows_per_file=6)
    made.delete("a in (1, 8)")
    name = LocalStore(path)
    found = sorted(name.list("_versions"))[0]
    manifest = open_manifest(name.open(f"_versions/{found}"), Context(found))
    for fragment in manifest.message.fragments:
        strip(fragment)
    data = encode_manifest(manifest.message, manifest.transaction, [], {})
    (path / "_versions" / found).write_bytes(data)


def _strip(fragment):
    fragment.physical_rows = 0
    fragment.deletion_file.num_deleted_rows = 0
    for file in fragment.files:
        file.file_size_bytes = 0


def test_rows_are_read_where_the_counts_are_missing(tmp_path):
    """Counts, rows and filters come from the files, and an append states the counts."""
    _without(tmp_path, _strip)
    found = dataset(tmp_path)

    assert [0, 2, 3, 4, 5, 6, 7, 9] == found.to_table()["a"].to_pylist()
    assert (8, 3) == (found.count_rows(), found.count_rows("a < 4"))
    write_dataset(ROWS, tmp_path, mode="append")
    stated = [one.metadata for one in dataset(tmp_path).get_fragments()]
    assert [(6, 1), (4, 1), (10, 0)] == [(one.physical_rows, one.num_deletions) for one in stated]
    assert all(file.file_size_bytes for one in stated for file in one.files)
