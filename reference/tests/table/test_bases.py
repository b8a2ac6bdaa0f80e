"""Base paths."""

import pytest
from lanceref.core.errors import FormatError
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases

from .manifests import minimal, parse


def _bases(tmp_path):
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own / "data", own / "_deletions", other / "data", other / "_deletions"):
        folder.mkdir(parents=True)
    (own / "data" / "f").write_bytes(b"own")
    (other / "data" / "f").write_bytes(b"root")
    (other / "f").write_bytes(b"plain")
    (other / "_deletions" / "d").write_bytes(b"deletion")
    manifest = parse(
        minimal(
            base_paths=[
                {"id": 0, "path": str(other), "is_dataset_root": True},
                {"id": 3, "path": f"file://{other}"},
                {"id": 4, "path": "nowhere://bucket/x"},
            ],
            reader_feature_flags=16,
            writer_feature_flags=16,
        )
    )
    store = LocalStore(own)
    return store, Bases(store, manifest)


@pytest.mark.parametrize(("base", "content"), [(None, b"own"), (0, b"root"), (3, b"plain")])
def test_a_data_file_lies_below_its_base(base, content, tmp_path):
    """In `data` of the table and of a dataset root, directly below another base."""
    store, bases = _bases(tmp_path)
    source = bases.open_data_file("f", base)

    assert content == bytes(source.read(0, source.size))
    assert len(content) == store.stats.read_bytes


def test_a_deletion_file_lies_in_its_folder(tmp_path):
    """Below the base, folder included."""
    _, bases = _bases(tmp_path)

    assert 8 == bases.open_deletion_file("_deletions/d", 0).size


@pytest.mark.parametrize(
    ("path", "base", "clause"),
    [
        ("none", None, "L.table.files.exist"),
        ("none", 0, "L.table.files.exist"),
        ("f", 4, "L.table.files.exist"),
        ("f", 9, "L.table.base.resolves"),
    ],
)
def test_what_is_not_there_is_a_fault_of_the_manifest(path, base, clause, tmp_path):
    """The error names the manifest's bytes."""
    _, bases = _bases(tmp_path)
    with pytest.raises(FormatError) as caught:
        bases.open_data_file(path, base)

    assert clause == caught.value.clause
    assert caught.value.place.size_bytes > 0


def test_base_ids_are_unique(tmp_path):
    """Two bases of one id: nobody can say where a file lies."""
    paths = [{"id": 1, "path": "a"}, {"id": 1, "path": "b"}]
    manifest = parse(minimal(base_paths=paths, reader_feature_flags=16, writer_feature_flags=16))
    with pytest.raises(FormatError) as caught:
        Bases(LocalStore(tmp_path), manifest)

    assert "L.table.base.unique" == caught.value.clause
