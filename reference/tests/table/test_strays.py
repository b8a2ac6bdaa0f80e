"""What interrupted writes leave where no reader looks."""

from lanceref.storage import LocalStore
from lanceref.table.bases import orphans

KEPT = [
    "_refs/branches/a%2Fb.json",
    "_refs/tags/x.json",
    "_versions/1.manifest",
    "_versions/18446744073709551614.manifest",
    "_versions/d9223372036854775809.manifest",
    "_versions/latest_version_hint.json",
    "data/x.lance",
    "tree/a/b/_versions/1.manifest",
    "tree/a/b/data/.tmp1",
]

STRAY = [
    "_refs/branches/.tmp1",
    "_refs/tags/.tmp1",
    "_versions/.tmp1",
    "_versions/1.manifest-6d8f3c",
    "_versions/1.manifest#1",
    "tree/a/_versions/1.manifest",
    "tree/a/b/c/data/x.lance",
    "tree/z/.tmp1",
]


def test_strays_are_named(tmp_path):
    """Temporary and staged names, and tables of branches that are in no list."""
    store = LocalStore(tmp_path)
    for path in KEPT + STRAY:
        store.put(path, b"")

    assert sorted(STRAY) == sorted(entry.path for entry in orphans(store, {"a/b"}))
