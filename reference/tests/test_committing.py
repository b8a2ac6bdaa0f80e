"""Fragments that are written first and committed later."""

import json
from datetime import timedelta

import pyarrow as pa
import pytest
from lanceref.core.errors import AppendRefused, CommitConflict, NotFound, NotStorable
from pylanceref import LanceDataset, LanceOperation, Transaction, dataset, write_dataset
from pylanceref.fragment import FragmentMetadata, LanceFragment, write_fragments

TABLE = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["x", "y", "z"]})
Append, Overwrite = LanceOperation.Append, LanceOperation.Overwrite


def test_fragments_become_rows_by_their_commit(tmp_path):
    """Of a new table, then after its rows; the number of a fragment comes with the commit."""
    first = write_fragments(TABLE, tmp_path, mode="create", max_rows_per_file=2)
    ds = LanceDataset.commit(tmp_path, Overwrite(TABLE.schema, first))
    assert TABLE.equals(ds.to_table())

    more = [write_fragments(TABLE.slice(i, 1), tmp_path)[0] for i in range(3)]
    assert 3 == dataset(tmp_path).count_rows()
    ds = LanceDataset.commit(ds, Append(more), read_version=1, commit_message="hi")

    assert pa.concat_tables([TABLE, TABLE]).equals(ds.to_table())
    assert [0, 1, 2, 3, 4] == [fragment.fragment_id for fragment in ds.fragments]


def test_a_fragment_goes_through_json(tmp_path):
    """From the process that wrote it to the one that commits."""
    (written,) = write_fragments(TABLE, tmp_path, mode="create")

    assert written == FragmentMetadata.from_json(json.dumps(written.to_json()))
    assert written == FragmentMetadata.from_message(written.to_message())
    assert 3 == written.num_rows


def test_one_fragment_is_created_of_all_rows(tmp_path):
    """Under the number that was asked for; without rows there is none."""
    assert 7 == LanceFragment.create(tmp_path, TABLE, 7).id
    with pytest.raises(ValueError, match="empty"):
        LanceFragment.create(tmp_path, TABLE.slice(0, 0))


def test_a_transaction_keeps_its_uuid_and_properties(tmp_path):
    """Both are in the version it made."""
    fragments = write_fragments(TABLE, tmp_path, mode="create")
    given = Transaction(0, Overwrite(TABLE.schema, fragments), transaction_properties={"k": "v"})
    ds = LanceDataset.commit(tmp_path, given)

    stored = ds._snapshot.manifest.transaction
    assert (given.uuid, {"k": "v"}) == (stored.uuid, dict(stored.transaction_properties))
    with pytest.raises(ValueError, match="commit_message"):
        LanceDataset.commit(tmp_path, given, commit_message="m")


def test_an_append_names_what_it_has_read(tmp_path):
    """And exists only after that; a thing that is no operation is refused."""
    ds = write_dataset(TABLE, tmp_path)
    fragments = write_fragments(TABLE, tmp_path)
    with pytest.raises(ValueError, match="read_version is required"):
        LanceDataset.commit(ds, Append(fragments))
    with pytest.raises(TypeError, match="operation must be"):
        LanceDataset.commit(ds, "append")
    with pytest.raises(NotFound):
        LanceDataset.commit(tmp_path / "other", Append(fragments), 1)
    LanceDataset.commit(tmp_path, Overwrite(TABLE.schema, fragments))

    with pytest.raises(CommitConflict):
        LanceDataset.commit(tmp_path, Append(fragments), 1)


def test_files_of_old_and_new_versions_do_not_mix(tmp_path):
    """Nor are dictionaries of 0.1 known to a commit by hand."""
    old = write_fragments(TABLE, tmp_path / "f", mode="create", data_storage_version="0.1")
    ds = write_dataset(TABLE, tmp_path / "t")
    for operation in (Append(old), Overwrite(TABLE.schema, old)):
        with pytest.raises(AppendRefused, match="cannot be mixed"):
            LanceDataset.commit(ds, operation, 1)

    keyed = pa.table({"d": pa.array(["a"]).dictionary_encode()})
    files = write_fragments(keyed, tmp_path / "d", mode="create", data_storage_version="0.1")
    with pytest.raises(NotStorable, match="write_dataset only"):
        LanceDataset.commit(tmp_path / "d", Overwrite(keyed.schema, files))


def test_versions_apart_need_names_of_v2(tmp_path):
    """The names of V1 leave no room for them."""
    ds = write_dataset(TABLE, tmp_path, enable_v2_manifest_paths=False)
    with pytest.raises(OSError, match="v1 manifest paths"):
        LanceDataset.commit(ds, Append([]), 1, detached=True)


def test_a_commit_takes_its_time_and_no_more(tmp_path):
    """A duration above zero, or None; anything else is refused."""
    ds = write_dataset(TABLE, tmp_path)
    for timeout in (timedelta(minutes=1), None):
        ds = LanceDataset.commit(ds, Append([]), ds.version, commit_timeout=timeout)
    for timeout, error in ((timedelta(0), OSError), (timedelta(-1), ValueError), (3, TypeError)):
        with pytest.raises(error, match="timeout"):
            LanceDataset.commit(ds, Append([]), ds.version, commit_timeout=timeout)


def test_offsets_of_updated_rows_are_bitmaps(tmp_path):
    """Other bytes are refused before anything is written."""
    ds = write_dataset(TABLE, tmp_path)
    update = LanceOperation.Update(updated_fragment_offsets={0: b"no bitmap"})
    with pytest.raises(ValueError, match="RoaringBitmap"):
        LanceDataset.commit(ds, update, 1)


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_fragments_of_the_oracle_are_committed(tmp_path, version):
    """It writes the files, we the manifests; it finds the table valid."""
    import lance

    root = str(tmp_path)
    theirs = lance.fragment.write_fragments(
        TABLE, root, mode="create", data_storage_version=version
    )
    held = [FragmentMetadata.from_json(json.dumps(_ours(one.to_json()))) for one in theirs]
    LanceDataset.commit(root, Overwrite(TABLE.schema, held))
    LanceDataset.commit(root, Append(held), read_version=1)

    opened = lance.dataset(root)
    opened.validate()
    assert pa.concat_tables([TABLE, TABLE]).equals(opened.to_table())


def _ours(held: dict[str, object]) -> dict[str, object]:
    return {name: held[name] for name in ("id", "files", "physical_rows")}
