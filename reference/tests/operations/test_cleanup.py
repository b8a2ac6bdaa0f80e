"""Cleanup: what a version needs is kept, and commits over removed versions stand or are refused."""

from collections.abc import Callable
from datetime import timedelta

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, FormatError
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import LocalStore
from lanceref.table.bases import orphans
from lanceref.transactions.conflict import assumed
from lanceref.transactions.manifest_builder import Staged
from pylanceref.dataset import LanceDataset

from tests.table import manifests
from tests.transactions import versions

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
    """Temporary and staged files and unlisted branches are orphans."""
    store = LocalStore(tmp_path)
    for path in KEPT + STRAY:
        store.put(path, b"")

    assert sorted(STRAY) == sorted(entry.path for entry in orphans(store, {"a/b"}))


ROW = pa.table({"k": [100]})
Deed = Callable[[LanceDataset], object]

FIRST: dict[str, Deed] = {
    "append": lambda d: d.insert(ROW),
    "delete": lambda d: d.delete("k = 0"),
    "delete all of it": lambda d: d.delete("k < 5"),
    "overwrite": lambda d: pylanceref.write_dataset(ROW, d, mode="overwrite"),
    "compact": lambda d: d.optimize.compact_files(),
    "config": lambda d: d.update_config({"b": "1"}),
}
"""What the versions did that are gone."""

THEN: dict[str, Deed] = {
    "append": lambda d: pylanceref.write_dataset(ROW, d, mode="append"),
    "delete": lambda d: d.delete("k = 1"),
    "update": lambda d: d.update({"k": "77"}, where="k = 1"),
    "compact": lambda d: d.optimize.compact_files(),
    "overwrite": lambda d: pylanceref.write_dataset(ROW, d, mode="overwrite"),
    "config": lambda d: d.update_config({"c": "1"}),
    "index": lambda d: d.create_scalar_index("k", "BTREE"),
}
"""What is done from the version before."""

READING = {"delete", "update", "compact", "index"}
"""What reads the rows."""

REFUSED = {
    "delete": {"compact"},
    "delete all of it": READING,
    "overwrite": READING,
    "compact": READING,
}
"""What cannot follow: fragments are not what they were, or their files are gone with them."""


def stale(path: str, deed: Deed) -> LanceDataset:
    """Return a dataset of ten rows, opened before a deed whose version is gone now."""
    made = pylanceref.write_dataset(pa.table({"k": range(10)}), path, max_rows_per_file=5)
    held = pylanceref.dataset(path)
    deed(made)
    pylanceref.dataset(path).update_config({"a": "1"})
    pylanceref.dataset(path).cleanup_old_versions(older_than=timedelta(0))
    return held


@pytest.mark.parametrize("then", THEN)
@pytest.mark.parametrize("first", FIRST)
def test_what_stands_over_versions_that_are_gone(tmp_path, first, then):
    """An operation over removed versions is committed, or leaves the table as it is."""
    path = str(tmp_path / "t")
    held = stale(path, FIRST[first])
    before = pylanceref.dataset(path).to_table()["k"].to_pylist()
    if then in REFUSED.get(first, ()):
        with pytest.raises((CommitConflict, FormatError)):
            THEN[then](held)
        assert before == pylanceref.dataset(path).to_table()["k"].to_pylist()
        return
    THEN[then](held)
    after = sorted(pylanceref.dataset(path).to_table()["k"].to_pylist())
    expected = {
        "append": [*before, 100],
        "delete": [one for one in before if one != 1],
        "update": [*(one for one in before if one != 1), 77],
        "overwrite": [100],
    }
    assert sorted(expected.get(then, before)) == after


def test_rows_that_were_deleted_stay_so(tmp_path):
    """An old delete joins the deletions it finds."""
    path = str(tmp_path / "t")
    stale(path, FIRST["delete"]).delete("k = 9")
    assert list(range(1, 9)) == pylanceref.dataset(path).to_table()["k"].to_pylist()
    again = stale(str(tmp_path / "u"), FIRST["delete"])
    again.delete("k <= 1")
    assert list(range(2, 10)) == pylanceref.dataset(again.uri).to_table()["k"].to_pylist()


KEYS = Transaction.Update().inserted_rows
"""A list of keys that are inserted."""


def test_values_that_may_have_changed_are_not_written_on():
    """Updates of changed files or columns, and merges, are not assumed to fit."""
    fragment = manifests.fragment(0, versions.files(0, 1, 2, path="0.lance"))
    moved = manifests.fragment(0, versions.files(0, 1, 2, path="other.lance"))

    def told(**operation: object) -> Transaction | None:
        return assumed(Staged(Transaction(read_version=1, **operation)), versions.table())

    def updated(one: object, **fields: object) -> Transaction | None:
        return told(update=Transaction.Update(updated_fragments=[one], **fields))

    assert updated(fragment) is not None
    assert updated(moved) is None
    assert updated(fragment, fields_modified=[2], update_mode=1) is None
    assert updated(fragment, removed_fragment_ids=[1]) is None
    assert updated(fragment, inserted_rows=KEYS) is None
    assert told(merge=Transaction.Merge()) is None
    assert told(create_index=Transaction.CreateIndex()) is None


def test_new_columns_that_the_table_has_not_are_refused():
    """An append with a removed column is not assumed to fit."""
    for fields, fits in (((0, 1, 2), True), ((0, 7), False)):
        append = Transaction.Append(fragments=[manifests.fragment(0, versions.files(*fields))])
        found = assumed(Staged(Transaction(append=append)), versions.table())
        assert fits == (found is not None)
