"""What a commit completes of the manifest before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.storage import LocalStore
from lanceref.table.manifest import encode_manifest, open_manifest
from pylanceref.dataset import dataset, write_dataset

from tests.table import manifests
from tests.transactions import versions

ROWS = pa.table({"a": range(10)})


class _Early(versions.SizedPast):
    """A past of files that have ten rows, of which 3 and 4 are deleted."""

    def num_rows(self, before, fragment):
        return 10

    def deleted(self, before, fragment):
        return np.array([3, 4])


def test_what_early_manifests_leave_out_is_stated():
    """Size, rows, deleted rows and format of a fragment that the operation does not touch."""
    file = {"path": "f.lance", "fields": [0, 1, 2]}
    early = {"id": 0, "files": [file], "deletion_file": {"id": 7, "read_version": 2}}
    after = versions.after(
        versions.table(0, fragments=[early], max_fragment_id=None, data_format=None),
        past=_Early(),
        update_config={"config_updates": {"update_entries": [{"key": "k", "value": "v"}]}},
    ).message

    (fragment,) = after.fragments
    assert (10, 2) == (fragment.physical_rows, fragment.deletion_file.num_deleted_rows)
    assert [1000] == [one.file_size_bytes for one in fragment.files]
    assert ("lance", "0.1") == (after.data_format.file_format, after.data_format.version)


EDIT = {"config_updates": {"update_entries": [{"key": "k", "value": "v"}]}}


def test_rows_that_left_out_deleted_ones_are_counted_again():
    """Before writers named themselves, 90 could stand for 100 rows of which 10 are deleted."""
    deletion = {"id": 7, "read_version": 2, "num_deleted_rows": 2}
    early = {"id": 0, "files": [{"path": "f.lance", "fields": [0, 1, 2]}], "physical_rows": 8}
    before = versions.table(
        0,
        fragments=[{**early, "deletion_file": deletion}],
        max_fragment_id=None,
        data_format=None,
        writer_version=None,
    )
    (fragment,) = versions.after(before, past=_Early(), update_config=EDIT).message.fragments

    assert (10, 2) == (fragment.physical_rows, fragment.deletion_file.num_deleted_rows)


def test_a_version_that_is_not_that_of_the_files_is_corrected():
    """Release 0.16 stated 0.1 above files of 2.0; the next version states 2.0 and its flag."""
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
    """From 2.x to 0.1 and back, also where nothing is written."""
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


def test_the_old_flag_stands_for_2_0():
    """A manifest without format and with reader flag 4 is of 2.0."""
    fragment = manifests.fragment(0, versions.files(0, 1, 2) | {"file_minor_version": 0})
    before = versions.table(
        0, fragments=[fragment], max_fragment_id=0, reader_feature_flags=4, data_format=None
    )
    edit = {"config_updates": {"update_entries": [{"key": "k", "value": "v"}]}}
    after = versions.after(before, past=_Early(), update_config=edit)

    assert "2.0" == after.storage_version


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
    """Counts, rows and a filter are those of the files; an append writes the counts down."""
    _without(tmp_path, _strip)
    found = dataset(tmp_path)

    assert [0, 2, 3, 4, 5, 6, 7, 9] == found.to_table()["a"].to_pylist()
    assert (8, 3) == (found.count_rows(), found.count_rows("a < 4"))
    write_dataset(ROWS, tmp_path, mode="append")
    stated = [one.metadata for one in dataset(tmp_path).get_fragments()]
    assert [(6, 1), (4, 1), (10, 0)] == [(one.physical_rows, one.num_deletions) for one in stated]
    assert all(file.file_size_bytes for one in stated for file in one.files)


def test_a_file_that_lacks_cannot_be_stated(tmp_path):
    """The commit fails and leaves the version before."""
    _without(tmp_path, _strip)
    next((tmp_path / "data").iterdir()).unlink()

    with pytest.raises(FormatError, match="no such file"):
        dataset(tmp_path).update_config({"k": "v"})
    assert 2 == dataset(tmp_path).version
