"""Commits over versions that a cleanup took away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, FormatError
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.transactions.commit import assumed
from lanceref.transactions.manifest_builder import Staged
from pylanceref.dataset import LanceDataset

from tests.table import manifests
from tests.transactions import versions

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
    """It is committed and does what it does; what is refused leaves the table as it is."""
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
    """A Delete from before joins the deletions that it finds; the same row twice is a conflict."""
    path = str(tmp_path / "t")
    stale(path, FIRST["delete"]).delete("k = 9")
    assert list(range(1, 9)) == pylanceref.dataset(path).to_table()["k"].to_pylist()
    again = stale(str(tmp_path / "u"), FIRST["delete"])
    again.delete("k <= 1")
    assert list(range(2, 10)) == pylanceref.dataset(again.uri).to_table()["k"].to_pylist()


def test_what_is_left_is_looked_at_first(tmp_path):
    """A Rewrite that is left says to begin again, whatever the versions before it did."""
    path = str(tmp_path / "t")
    made = pylanceref.write_dataset(pa.table({"k": range(10)}), path, max_rows_per_file=5)
    made.tags.create("first", 1)
    held = pylanceref.dataset(path)
    made.optimize.compact_files()
    made.cleanup_old_versions(timedelta(0), error_if_tagged_old_versions=False)
    held.delete("k = 1")

    assert [0, *range(2, 10)] == pylanceref.dataset(path).to_table()["k"].to_pylist()


KEYS = Transaction.Update().inserted_rows
"""A list of keys that are inserted."""


def test_values_that_may_have_changed_are_not_written_on():
    """An Update whose fragment has another file, is in columns mode, or lists keys; a Merge."""
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
    """Whoever took the column out did it in a version that is gone."""
    for fields, fits in (((0, 1, 2), True), ((0, 7), False)):
        append = Transaction.Append(fragments=[manifests.fragment(0, versions.files(*fields))])
        found = assumed(Staged(Transaction(append=append)), versions.table())
        assert fits == (found is not None)
