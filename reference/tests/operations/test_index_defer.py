"""Compactions that leave indices as they are."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, OperationRefused
from lanceref.index.fragment_reuse import NAME, content_of
from lanceref.transactions.index_entries import covered

TABLE = pa.table({"i": [n * 7 % 50 for n in range(600)], "z": range(600)})
CONDITIONS = ("i = 3", "i > 40", "not (i = 3)", "z between 100 and 120")


def indexed(path, **options) -> pylanceref.LanceDataset:
    """Write a table of twelve fragments with two indices, and delete some rows."""
    dataset = pylanceref.write_dataset(TABLE, path, max_rows_per_file=50, **options)
    dataset.create_scalar_index("i", "BTREE")
    dataset.create_scalar_index("z", "ZONEMAP")
    dataset.delete("z % 7 = 0")
    return dataset


def compact(dataset, rows: int) -> None:
    """Compact and leave the indices."""
    dataset.optimize.compact_files(target_rows_per_fragment=rows, defer_index_remap=True)


def names(dataset) -> list[str]:
    """Return the names of all entries."""
    return sorted(one["name"] for one in dataset.list_indices())


def assert_found(path) -> None:
    """Indices are asked, and find what a scan finds."""
    opened = pylanceref.dataset(path)
    for condition in CONDITIONS:
        assert "ScalarIndexQuery" in opened.scanner(filter=condition).explain_plan()
        found = opened.to_table(filter=condition)
        assert found == opened.to_table(filter=condition, use_scalar_index=False)


def test_rows_are_found_after_every_step(tmp_path):
    """Twice compacted, rows deleted and added between."""
    path = tmp_path / "t"
    dataset = indexed(path)
    before = {one["name"]: one["uuid"] for one in dataset.list_indices()}
    compact(dataset, 150)
    assert names(dataset) == [NAME, "i_idx", "z_idx"]
    assert {**before, NAME: ""} == {
        one["name"]: "" if one["name"] == NAME else one["uuid"] for one in dataset.list_indices()
    }
    assert_found(path)
    dataset.delete("z = 5")
    assert_found(path)
    compact(dataset, 400)
    assert_found(path)
    dataset.optimize.optimize_indices(num_indices_to_merge=9)
    assert_found(path)


def test_long_messages_have_a_file_of_their_own(tmp_path, monkeypatch):
    """It lies in the folder of the entry."""
    monkeypatch.setattr("lanceref.operations.compaction.INLINE_BYTES", 10)
    path = tmp_path / "t"
    dataset = indexed(path)
    compact(dataset, 150)
    (segment,) = [one for one in dataset._snapshot.indices.segments if one.entry.name == NAME]
    assert (path / segment.folder / "details.binpb").is_file()
    assert len(content_of(segment, segment.ctx).versions) == 1
    assert_found(path)


def test_nothing_is_said_where_no_index_covers_the_rows(tmp_path):
    """And with stable row ids it is refused."""
    dataset = pylanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=50)
    compact(dataset, 600)
    assert names(dataset) == []
    stable = indexed(tmp_path / "s", enable_stable_row_ids=True)
    with pytest.raises(OperationRefused):
        compact(stable, 600)


@pytest.mark.oracle
def test_the_oracle_finds_the_rows(tmp_path):
    """In what we left, and covers what we say it does."""
    import lance

    path = str(tmp_path / "t")
    compact(indexed(path), 150)
    theirs = lance.dataset(path)
    for condition in CONDITIONS:
        assert "ScalarIndexQuery" in theirs.scanner(filter=condition).explain_plan()
        found = theirs.to_table(filter=condition).sort_by("z")
        assert found == theirs.to_table(filter=condition, use_scalar_index=False).sort_by("z")
    theirs.delete("z = 5")
    assert_found(path)
    covered = {one["name"]: list(one["fragment_ids"]) for one in theirs.list_indices()}
    own = {
        one["name"]: list(one["fragment_ids"]) for one in pylanceref.dataset(path).list_indices()
    }
    assert covered == own


def behind(module, path: str) -> list[int]:
    """Index a version before a compaction that left other indices as they are; return its rows."""
    dataset = module.dataset(path)
    version = dataset.version
    dataset.optimize.compact_files(target_rows_per_fragment=10, defer_index_remap=True)
    module.dataset(path, version=version).create_scalar_index("b", "BITMAP", name="late")
    return [*led_on(path)]


def led_on(path: str) -> list[int]:
    """Return the fragments that the index covers."""
    indices = pylanceref.dataset(path)._snapshot.indices.known
    (late,) = (one for one in indices if one.name == "late")
    return list(late.segments[0].covers)


def ten_fragments(root) -> str:
    """Write ten fragments, of which two rows are deleted, and an index over one column."""
    table = pa.table({"a": range(40), "b": [number % 3 for number in range(40)]})
    dataset = pylanceref.write_dataset(table, root / "t", max_rows_per_file=4)
    dataset.create_scalar_index("a", "BTREE")
    dataset.delete("a in (5, 21)")
    return dataset.uri


def test_an_index_of_rows_that_moved_meanwhile_is_led_on(tmp_path):
    """The table says where they went: it covers the new fragments, and finds what a scan does."""
    path = ten_fragments(tmp_path)

    assert [10, 11, 12] == behind(pylanceref, path)
    dataset = pylanceref.dataset(path)
    found = dataset.to_table(filter="b = 2")["a"].to_pylist()
    assert found == dataset.to_table(filter="b = 2", use_scalar_index=False)["a"].to_pylist()
    assert "late" in dataset.scanner(filter="b = 2").explain_plan()


def test_without_an_entry_that_leads_on_it_is_refused(tmp_path):
    """No index was there, so nobody has said where rows went."""
    path = ten_fragments(tmp_path)
    pylanceref.dataset(path).drop_index("a_idx")
    with pytest.raises(CommitConflict):
        behind(pylanceref, path)


@pytest.mark.oracle
def test_the_oracle_leads_such_an_index_on(tmp_path):
    """To the same fragments."""
    import lance

    assert behind(lance, ten_fragments(tmp_path / "o")) == behind(
        pylanceref, ten_fragments(tmp_path / "u")
    )


def after_two_compactions(module, path: str) -> list[list[int]]:
    """Compact twice, and delete a row after each; return the fragments that each entry names."""
    for rows in (10, 40):
        module.dataset(path).optimize.compact_files(
            target_rows_per_fragment=rows, defer_index_remap=True
        )
        module.dataset(path).delete(f"a = {rows}")
    entries = pylanceref.dataset(path)._snapshot.manifest.indices
    return [list(covered(entry) or ()) for entry in sorted(entries, key=lambda one: one.name)]


def test_the_entry_that_leads_on_is_led_on_itself(tmp_path):
    """Fragments 10 to 12 of the first compaction are 13 after the second."""
    assert [[13], [13]] == after_two_compactions(pylanceref, ten_fragments(tmp_path))


@pytest.mark.oracle
def test_the_oracle_leads_its_entry_on_too(tmp_path):
    """Both name the same fragments."""
    import lance

    theirs, ours = (ten_fragments(tmp_path / name) for name in ("o", "u"))
    assert after_two_compactions(lance, theirs) == after_two_compactions(pylanceref, ours)
