"""Blob descriptors: which bytes they name, by hand, and those that lead nowhere."""

from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest
from lanceref.blobs.descriptors import BLOB_DESCRIPTOR, MANAGED, OF_BASE, PREPARED, BlobFiles
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LimitExceeded, OutOfRange, UnknownEncoding
from lanceref.core.limits import Limits
from lanceref.file.schema import BLOB_EXTENSION, EXTENSION_KEY
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases

from tests.table.manifests import minimal, parse

CTX = Context("f.lance", limits=Limits(expansion_bytes=100, expansion_factor=1))


def _files(root: Path, base_id: int | None = None) -> BlobFiles:
    """Files of a table: a data file, two sidecars, an external object, and a base."""
    beside, base = root / "t" / "data" / "f", root / "base"
    for folder in (beside, base):
        folder.mkdir(parents=True)
    (root / "t" / "data" / "f.lance").write_bytes(b"0123456789")
    (beside / ("1" + "0" * 31 + ".blob")).write_bytes(b"packedtogether")
    (beside / ("01" + "0" * 30 + ".blob")).write_bytes(b"dedicated")
    (base / "object").write_bytes(b"from a base")
    manifest = parse(
        minimal(
            base_paths=[{"id": 3, "path": str(base)}],
            reader_feature_flags=16,
            writer_feature_flags=16,
        )
    )
    bases = Bases(LocalStore(root / "t"), manifest)
    return BlobFiles(bases, "f.lance", base_id, CTX, {})


def _rows(*rows: tuple[int, int, int, int, str] | None) -> pa.Array:
    names = ("kind", "position", "size", "blob_id", "blob_uri")
    return pa.array([row and dict(zip(names, row)) for row in rows], BLOB_DESCRIPTOR)


@pytest.mark.parametrize(
    ("row", "error", "clause"),
    [
        ((6, 0, 1, 0, ""), UnknownEncoding, "L.blob.kind"),
        ((4, 0, 1, 0, ""), FormatError, "L.blob.managed"),
        ((4, 0, 1, 0, "../x"), FormatError, "L.blob.managed"),
        ((4, 0, 1, 0, "_blobs/none.blob"), FormatError, "L.blob.managed"),
        ((5, 0, 1, 9, "x"), FormatError, "L.table.base.resolves"),
        ((0, 8, 3, 0, ""), OutOfRange, "L.blob.range"),
        ((1, 14, 1, 1, ""), OutOfRange, "L.blob.range"),
        ((2, 0, 10, 2, ""), OutOfRange, "L.blob.range"),
        ((1, 0, 1, 4, ""), FormatError, "L.blob.sidecar"),
        ((3, 0, 0, 0, "file:///no/such/object"), FormatError, "L.blob.external"),
        ((3, 0, 0, 0, "nowhere://bucket/key"), FormatError, "L.blob.external"),
        ((3, 0, 0, 0, "nul\0inside"), FormatError, "L.blob.external"),
        ((3, 0, 0, 9, "object"), FormatError, "L.blob.external"),
        ((3, 0, 0, 0, ""), FormatError, "L.blob.external"),
    ],
)
def test_what_leads_nowhere_is_refused(row, error, clause, tmp_path):
    """Unknown kinds, ranges outside files and missing files have their clauses."""
    with pytest.raises(error) as caught:
        _files(tmp_path).fetch(_rows(row))

    assert caught.value.clause == clause  # type: ignore[attr-defined]


def test_many_descriptors_of_the_same_bytes_are_bounded(tmp_path):
    """Descriptors of the same bytes expand no further than the limit."""
    with pytest.raises(LimitExceeded, match=r"L\.blob\.range"):
        _files(tmp_path).fetch(_rows(*[(0, 0, 10, 0, "")] * 12))


def test_objects_of_a_base_stay_there(tmp_path):
    """What is kept of a data file of a base names that base."""
    kept = _files(tmp_path, 3).kept(_rows((4, 0, 4, 0, "object"), None)).to_pylist()
    wanted = {"data": None, "uri": "object", "position": 0, "size": 4, "kind": 5, "blob_id": 3}
    assert [wanted, None] == kept
    with pytest.raises(UnknownEncoding):
        _files(tmp_path / "other").kept(_rows((6, 0, 1, 0, "x")))


def _managed(path: Path, module: ModuleType) -> str:
    """Write blobs in objects of a table and of its bases, and return where it is."""
    uri, base = path / "t", path / "base"
    for folder in (uri / "_blobs", base / "_blobs"):
        folder.mkdir(parents=True)
        (folder / "x.blob").write_bytes(b"0123456789")
    bases = [module.DatasetBasePath(str(base), "b", True, 1)]
    rows = []
    field = pa.field("b", PREPARED, metadata={EXTENSION_KEY: BLOB_EXTENSION})
    schema = pa.schema([field], metadata={"lance.blob.managed": "true"})
    for kind, base_id in ((MANAGED, None), (OF_BASE, 1)):
        blobs = [
            {"kind": kind, "uri": "_blobs/x.blob", "position": at, "blob_size": size}
            | {"blob_id": base_id}
            for at, size in ((2, 3), (9, 0))
        ]
        rows.append(pa.Table.from_arrays([pa.array(blobs, PREPARED)], schema=schema))
    options = {"data_storage_version": "2.2", "initial_bases": bases}
    module.write_dataset(rows[0], str(uri), **options)
    module.write_dataset(rows[1], str(uri), mode="append")
    return str(uri)


def _bytes_read(module: ModuleType, uri: str) -> list[bytes]:
    found = module.dataset(uri).scanner(blob_handling="all_binary").to_table()
    return list(found["b"].to_pylist())


@pytest.mark.oracle
@pytest.mark.parametrize("ours", [True, False])
def test_objects_of_a_table_are_read_alike(tmp_path, ours):
    """Managed objects are read by both, through a clone, a compaction and a cleanup."""
    import lance
    import lanceref
    import pylanceref

    made = _managed(tmp_path, pylanceref if ours else lance)
    wanted = [b"234", b"", b"234", b""]
    kinds = [row["kind"] for row in pylanceref.dataset(made).to_table()["b"].to_pylist()]

    assert [4, 4, 5, 5] == kinds
    assert wanted == _bytes_read(lance, made) == _bytes_read(pylanceref, made)
    assert [] == lanceref.validate(made, deep=True)
    pylanceref.dataset(made).tags.create("x", 1)
    pylanceref.dataset(made).shallow_clone(str(tmp_path / "c"), "x")
    clone = pylanceref.dataset(str(tmp_path / "c"))
    clone.optimize.compact_files(materialize_deletions_threshold=-1)
    assert {5} == {row["kind"] for row in clone.to_table()["b"].to_pylist()}
    assert wanted[:2] == _bytes_read(lance, clone.uri) == _bytes_read(pylanceref, clone.uri)
    pylanceref.dataset(made).tags.delete("x")
    pylanceref.dataset(made).optimize.compact_files()
    pylanceref.dataset(made).cleanup_old_versions(retain_versions=1, delete_unverified=True)
    assert wanted == _bytes_read(lance, made) == _bytes_read(pylanceref, made)
