"""The first version of a clone."""

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import AlreadyExists
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import LocalStore
from lanceref.transactions.manifest_builder import Source, write_deep, write_shallow

from tests.table import manifests
from tests.transactions import versions

CTX = Context("c")


def _opened(path):
    return open_snapshot(LocalStore(path), None, CTX).manifest


def test_a_shallow_clone_names_every_file_below_its_source(tmp_path):
    """One base, id 0; data files, deletion files and indices lie there; the version stays."""
    deleted = {"read_version": 2, "id": 9, "num_deleted_rows": 1}
    fragment = manifests.fragment(0, versions.files(0, 1, 2), deletion_file=deleted)
    held = versions.indexed(
        versions.table(version=5, fragments=[fragment], max_fragment_id=0),
        versions.index("x", 0, [0]),
    )
    size = write_shallow(LocalStore(tmp_path), Source(held, "/src"))
    made = _opened(tmp_path)
    one = made.message.fragments[0]

    assert (5, 0, "/src") == (made.version, *_base(made.message.base_paths))
    assert all(entry.HasField("base_id") for entry in (one.files[0], one.deletion_file))
    assert made.indices[0].HasField("base_id")
    assert (True, 5, "/src") == (
        made.transaction.clone.is_shallow,
        made.transaction.clone.ref_version,
        made.transaction.clone.ref_path,
    )
    assert size == (tmp_path / "_versions" / "18446744073709551610.manifest").stat().st_size


def _base(paths):
    (only,) = paths
    return only.id, only.path


def test_a_clone_of_a_clone_keeps_the_bases(tmp_path):
    """The next id is that of the direct source; a branch has its name."""
    bases = [{"id": 0, "path": "/first", "is_dataset_root": True}]
    flags = {"reader_feature_flags": 16, "writer_feature_flags": 16}
    fragments = [
        manifests.fragment(0, {**versions.files(0), "base_id": 0}),
        manifests.fragment(1, versions.files(0)),
    ]
    held = versions.table(fragments=fragments, base_paths=bases, branch="dev", **flags)
    write_shallow(LocalStore(tmp_path), Source(held, "/second"), "more")
    made = _opened(tmp_path).message

    assert [(0, "/first", ""), (1, "/second", "dev")] == [
        (one.id, one.path, one.name) for one in made.base_paths
    ]
    assert "dev" == _opened(tmp_path).transaction.clone.ref_name
    assert ([0, 1], "more") == ([one.files[0].base_id for one in made.fragments], made.branch)


def test_a_deep_clone_stands_alone(tmp_path):
    """No base is left; nothing is written over a table."""
    bases = [{"id": 0, "path": "/first", "is_dataset_root": True}]
    flags = {"reader_feature_flags": 16, "writer_feature_flags": 16}
    fragment = manifests.fragment(0, {**versions.files(0), "base_id": 0})
    held = versions.table(fragments=[fragment], base_paths=bases, branch="dev", **flags)
    write_deep(LocalStore(tmp_path), Source(held, "/src"))
    made = _opened(tmp_path).message

    assert (0, 0) == (len(made.base_paths), made.reader_feature_flags)
    assert not made.fragments[0].files[0].HasField("base_id")
    assert not made.HasField("branch")
    for write in (write_deep, write_shallow):
        with pytest.raises(AlreadyExists):
            write(LocalStore(tmp_path), Source(held, "/src"))
