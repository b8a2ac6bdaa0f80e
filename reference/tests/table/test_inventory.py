"""What a version needs."""

from lanceref.storage import LocalStore
from lanceref.table.bases import Bases, Needed, needed_by

from tests.table import manifests
from tests.transactions import versions


def test_everything_a_version_names_is_listed(tmp_path):
    """Transaction, data files with folders of blobs, deletion file, index folder; by base."""
    deleted = {"file_type": 1, "read_version": 2, "id": 9, "num_deleted_rows": 1, "base_id": 1}
    files = [
        manifests.data_file(path="f.lance"),
        manifests.data_file(path="g.lance", base_id=1, fields=[1]),
    ]
    given = {
        "fragments": [manifests.fragment(3, *files, deletion_file=deleted)],
        "max_fragment_id": 3,
        "base_paths": [{"id": 1, "path": str(tmp_path / "b"), "is_dataset_root": False}],
        "transaction_file": "1-u.txn",
        "reader_feature_flags": 17,
        "writer_feature_flags": 17,
    }
    made = versions.indexed(versions.table(0, **given), versions.index("x", 0, [3], 7))

    assert {
        Needed("transaction file", "_transactions/1-u.txn", None),
        Needed("data file", "data/f.lance", None),
        Needed("data file", "data/f/", None),
        Needed("data file", "g.lance", 1),
        Needed("data file", "g/", 1),
        Needed("deletion file", "_deletions/3-2-9.bin", 1),
        Needed("index file", "_indices/00000000-0000-0000-0000-000000000007/", None),
    } == set(needed_by(made, Bases(LocalStore(tmp_path), made)))
