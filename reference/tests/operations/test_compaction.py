"""Compaction: which fragments are joined; cleanup: what a version needs is kept."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, FormatError, OperationRefused
from lanceref.index.fragment_reuse import content_of
from lanceref.index.segment import Segment
from lanceref.operations.compaction import CompactionRules, plan_compaction
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import LocalStore
from lanceref.table.bases import orphans
from lanceref.transactions.conflict import assumed_transaction
from lanceref.transactions.manifest_builder import REUSE_INDEX, Staged
from pylanceref.dataset import LanceDataset
from pylanceref.optimize import Compaction

from tests.index.tables import asked, assert_found
from tests.table import manifests
from tests.transactions import versions


def _table(path, *sizes, stable=False):
    start = 0
    for number, size in enumerate(sizes):
        made = pylanceref.write_dataset(
            pa.table({"a": range(start, start + size)}),
            path,
            mode="append" if number else "create",
            enable_stable_row_ids=stable,
        )
        start += size
    return made


def _groups(made, **options):
    groups = plan_compaction(made._snapshot, CompactionRules(**options))
    return [[rows.fragment.id for rows in group] for group in groups]


def test_fragments_can_be_left_out(tmp_path):
    """Fragments are excluded by id or by a maximal number."""
    made = _table(tmp_path, 5, 5, 5, 5)

    assert [[2, 3]] == _groups(made, target_rows_per_fragment=10, excluded_fragment_ids=[1])
    assert [[0, 1]] == _groups(made, target_rows_per_fragment=10, max_source_fragments=3)


def test_limits_are_reached_and_not_passed(tmp_path):
    """As many deleted rows, overlays and rows as there may be leave a fragment as it is."""
    rules = CompactionRules(materialize_deletions_threshold=0.1, max_overlays=3)
    for deleted, overlays, wanted in ((10, 3, False), (11, 3, True), (10, 4, True)):
        fragment, columns = (
            SimpleNamespace(overlays=overlays * [1]),
            SimpleNamespace(stated_rows=100),
        )
        rows = SimpleNamespace(fragment=fragment, columns=columns, num_deleted=deleted)
        assert wanted == rules.rewrites(rows)
    made = _table(tmp_path, 5, 5, 4, 5, 6)
    assert [[0, 1, 2, 3, 4]] == _groups(made, target_rows_per_fragment=19)
    ten = {"target_rows_per_fragment": 10}
    for name, of_both in {"max_source_fragments": 5, "max_source_rows": 25}.items():
        assert [[0, 1], [2, 3, 4]] == _groups(made, **ten, **{name: of_both})
        assert [[0, 1]] == _groups(made, **ten, **{name: of_both - 1})


def test_rows_that_were_moved_before_are_in_the_index(tmp_path):
    """Of two compactions the first leaves the index as it is, and the second moves rows again."""
    pylanceref.write_dataset(pa.table({"f": range(20)}), tmp_path)
    more = pa.table({"f": range(20, 32)})
    made = pylanceref.write_dataset(more, tmp_path, mode="append", max_rows_per_file=7)
    made.create_scalar_index("f", "BTREE")
    made.optimize.compact_files(target_rows_per_fragment=10, defer_index_remap=True)
    assert [12, 32] == [one.num_rows_indexed for one in made.describe_indices()]
    made.optimize.compact_files()
    opened = pylanceref.dataset(tmp_path)

    assert [20, 12] == [len(opened.to_table(filter=text)) for text in ("f < 20", "f >= 20")]


def test_moves_of_another_compaction_are_not_lost(tmp_path):
    """Who commits has to know them, whoever made the plan; an index since is led on."""
    made = pylanceref.write_dataset(pa.table({"f": range(8)}), tmp_path, max_rows_per_file=2)
    made.create_scalar_index("f", "BTREE")
    options, stale = {"defer_index_remap": True}, pylanceref.dataset(tmp_path)
    (task,) = Compaction.plan(stale, {**options, "excluded_fragment_ids": [0, 1]}).tasks
    pylanceref.dataset(tmp_path).create_scalar_index("f", "ZONEMAP", name="g")
    made.optimize.compact_files(**options, excluded_fragment_ids=[2, 3])
    with pytest.raises(OSError, match="Retryable"):
        Compaction.commit(stale, [task.execute(made)], options)
    Compaction.commit(pylanceref.dataset(tmp_path), [task.execute(made)], options)
    assert 8 == pylanceref.dataset(tmp_path).to_table(filter="f >= 0").num_rows


def test_a_graph_whose_rows_moved_is_walked_over_deleted_ones(tmp_path):
    """A graph that a compaction leaves as it is passes over a row that was deleted before."""
    vectors = pa.array(np.arange(160, dtype=np.float32))
    rows = pa.table({"k": range(20), "v": pa.FixedSizeListArray.from_arrays(vectors, 8)})
    made = pylanceref.write_dataset(rows, tmp_path, max_rows_per_file=8)
    made.create_index("v", "IVF_HNSW_FLAT", ivf_centroids=np.float32([[40] * 8, [120] * 8]))
    made.delete("k = 3")
    made.optimize.compact_files(target_rows_per_fragment=5, defer_index_remap=True)
    nearest = {"column": "v", "q": [24.0] * 8, "k": 20, "nprobes": 2, "ef": 100}
    found = pylanceref.dataset(tmp_path).to_table(nearest=nearest)

    assert {*range(20)} - {3} == {*found["k"].to_pylist()}


DEFERRED = pa.table({"i": [n * 7 % 50 for n in range(600)], "z": range(600)})
CONDITIONS = ("i = 3", "i > 40", "not (i = 3)", "z between 100 and 120")


def deferred_table(path, **options) -> pylanceref.LanceDataset:
    """Write a table of twelve fragments with two indices, and delete some rows."""
    dataset = pylanceref.write_dataset(DEFERRED, path, max_rows_per_file=50, **options)
    dataset.create_scalar_index("i", "BTREE")
    dataset.create_scalar_index("z", "ZONEMAP")
    dataset.delete("z % 7 = 0")
    return dataset


def compact(dataset, rows: int) -> None:
    """Compact and leave the indices."""
    dataset.optimize.compact_files(target_rows_per_fragment=rows, defer_index_remap=True)


def reused(path) -> Segment:
    """Return the reuse segment of a compacted table."""
    dataset = deferred_table(path)
    compact(dataset, 150)
    segments = dataset._snapshot.indices.segments
    (segment,) = [one for one in segments if one.entry.name == REUSE_INDEX]
    return segment


def test_long_messages_have_a_file_of_their_own(tmp_path, monkeypatch):
    """A long reuse message is stored in a file of its entry."""
    whole = reused(tmp_path / "whole")
    size = content_of(whole, whole.ctx).ByteSize()
    for name, most, in_file in (("inside", size, False), ("t", size - 1, True)):
        monkeypatch.setattr("lanceref.operations.compaction.INLINE_BYTES", most)
        segment = reused(tmp_path / name)
        assert in_file == (tmp_path / name / segment.folder / "details.binpb").is_file()
        assert len(content_of(segment, segment.ctx).versions) == 1
    opened = pylanceref.dataset(tmp_path / "t")
    assert all(asked(opened, condition) for condition in CONDITIONS)
    assert_found(opened, CONDITIONS)


def test_nothing_is_said_where_no_index_covers_the_rows(tmp_path):
    """Without covering index no reuse is recorded, and stable tables refuse to defer."""
    dataset = pylanceref.write_dataset(DEFERRED, tmp_path / "t", max_rows_per_file=50)
    compact(dataset, 600)
    assert dataset.list_indices() == []
    stable = deferred_table(tmp_path / "s", enable_stable_row_ids=True)
    with pytest.raises(OperationRefused):
        compact(stable, 600)


MOVED = pa.table({"i": range(40)})


@pytest.mark.oracle
def test_an_index_of_no_field_stays_as_it_is(tmp_path):
    """D.txn.index-of-no-field: rows are joined and the index covers none."""
    import lance

    rows = MOVED.append_column("gone", MOVED["i"])
    old = lance.write_dataset(rows, tmp_path, max_rows_per_file=20)
    lance.dataset(tmp_path).drop_columns(["gone"])
    old.create_scalar_index("gone", "BTREE")
    made = pylanceref.dataset(tmp_path)
    assert [[1]] == [list(one.fields) for one in made._snapshot.manifest.indices]
    made.optimize.compact_files()

    made = pylanceref.dataset(tmp_path)
    (fragment,), (index,) = made.get_fragments(), made.list_indices()
    assert fragment.fragment_id not in index["fragment_ids"]
    assert MOVED == made.to_table()


KEPT = [
    *("_refs/branches/a%2Fb.json", "_refs/tags/x.json", "_versions/1.manifest", "data/x.lance"),
    *("_versions/18446744073709551614.manifest", "_versions/d9223372036854775809.manifest"),
    *("_versions/latest_version_hint.json", "tree/a/b/_versions/1.manifest"),
    *("tree/a/b/data/.tmp1", "tree/a/b/note"),
]

STRAY = [
    *("_refs/branches/.tmp1", "_refs/tags/.tmp1", "_versions/.tmp1", "tree/z/.tmp1"),
    *("_versions/1.manifest-6d8f3c", "_versions/1.manifest#1", "tree/a/_versions/1.manifest"),
    "tree/a/b/c/data/x.lance",
]


def test_strays_are_named(tmp_path):
    """Temporary and staged files and unlisted branches are orphans."""
    store = LocalStore(tmp_path)
    for path in KEPT + STRAY:
        store.put(path, b"")

    assert sorted(STRAY) == sorted(entry.path for entry in orphans(store, {"a/b"}))


ROW = pa.table({"k": [100]})
Edit = Callable[[LanceDataset], object]

FIRST: dict[str, Edit] = {
    "append": lambda d: d.insert(ROW),
    "delete": lambda d: d.delete("k = 0"),
    "delete all of it": lambda d: d.delete("k < 5"),
    "overwrite": lambda d: pylanceref.write_dataset(ROW, d, mode="overwrite"),
    "compact": lambda d: d.optimize.compact_files(),
    "config": lambda d: d.update_config({"b": "1"}),
}
"""What the versions did that are gone."""

THEN: dict[str, Edit] = {
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


def stale(path: str, edit: Edit) -> LanceDataset:
    """Return a dataset of ten rows, opened before an edit whose version is gone now."""
    made = pylanceref.write_dataset(pa.table({"k": range(10)}), path, max_rows_per_file=5)
    held = pylanceref.dataset(path)
    edit(made)
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


def test_values_that_may_have_changed_are_not_written_on():
    """Updates of changed files or columns, merges, and unknown columns are not assumed to fit."""
    fragment = manifests.fragment(0, versions.files(0, 1, 2, path="0.lance"))
    moved = manifests.fragment(0, versions.files(0, 1, 2, path="other.lance"))
    gone = manifests.fragment(0, versions.files(0, 7))

    def told(**operation: object) -> Transaction | None:
        staged = Staged(Transaction(read_version=1, **operation))
        return assumed_transaction(staged, versions.table())

    def updated(one: object, **fields: object) -> Transaction | None:
        return told(update=Transaction.Update(updated_fragments=[one], **fields))

    assert updated(fragment) is not None
    assert updated(moved) is None
    assert updated(fragment, fields_modified=[2], update_mode=1) is None
    assert updated(fragment, removed_fragment_ids=[1]) is None
    assert updated(fragment, inserted_rows=Transaction.Update().inserted_rows) is None
    assert told(merge=Transaction.Merge()) is None
    assert told(create_index=Transaction.CreateIndex()) is None
    assert told(append=Transaction.Append(fragments=[moved])) is not None
    assert told(append=Transaction.Append(fragments=[gone])) is None
