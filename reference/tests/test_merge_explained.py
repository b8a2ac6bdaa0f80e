"""A merge explained: its steps, and what it would do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from lanceref.core.errors import EditFailed

from .sql.written import write

TABLE = pa.table({"id": range(4), "v": ["a", "b", "c", "d"]})


def test_the_steps_of_a_merge(tmp_path):
    """By columns and actions; with a schema of its own."""
    dataset = write(TABLE, tmp_path)
    merge = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()

    assert merge.explain_plan().splitlines() == [
        "MergeInsert: on=[id], when_matched=UpdateAll, when_not_matched=InsertAll, "
        "when_not_matched_by_source=Keep",
        "  HashJoinExec: join_type=Right, on=[(id, id)]",
        "    LanceRead: projection=[id], num_fragments=1",
        "    StreamingTableExec: projection=[id, v]",
    ]
    assert "projection=[v, id]" in merge.explain_plan(TABLE.select(["v", "id"]).schema)


@pytest.mark.parametrize(
    ("describe", "told"),
    [
        (lambda m: m.when_matched_update_all("target.id > 1"), "UpdateIf(target.id > 1)"),
        (lambda m: m.when_matched_delete(), "when_matched=Delete,"),
        (lambda m: m.when_matched_fail(), "when_matched=Fail,"),
        (lambda m: m.when_not_matched_by_source_delete(), "by_source=Delete\n"),
        (lambda m: m.when_not_matched_by_source_delete("id > 2"), "DeleteIf(id > 2)"),
        (lambda m: m.when_not_matched_insert_all(), "when_matched=DoNothing"),
    ],
)
def test_actions_are_told(tmp_path, describe, told):
    """Each by its name."""
    assert told in describe(write(TABLE, tmp_path).merge_insert("id")).explain_plan()


def test_an_analyzed_merge_changes_nothing(tmp_path):
    """What it would do is counted; its files are gone again."""
    dataset = write(TABLE, tmp_path)
    files = sorted(Path(dataset.uri).rglob("*.*"))
    merge = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    plan = merge.analyze_plan(pa.table({"id": [3, 4], "v": ["x", "y"]}))

    assert (
        "num_files_written=1, num_inserted_rows=1, num_updated_rows=1, num_deleted_rows=0]" in plan
    )
    assert 0 < int(plan.partition("metrics=[bytes_written=")[2].partition(",")[0])
    assert files == sorted(Path(dataset.uri).rglob("*.*"))
    assert TABLE == dataset.to_table()


def test_an_index_is_not_explained(tmp_path):
    """Unless it is not to be used."""
    dataset = write(TABLE, tmp_path)
    dataset.create_scalar_index("id", "BTREE")
    merge = dataset.merge_insert("id").when_matched_update_all()
    with pytest.raises(EditFailed, match="does not support explain_plan"):
        merge.explain_plan()

    assert "HashJoinExec" in merge.use_index(False).explain_plan()


@pytest.mark.oracle
def test_pylance_names_the_same_actions(tmp_path):
    """The first step, word by word, and the refusal."""
    import lance

    dataset = write(TABLE, tmp_path)
    plans = []
    for table in (dataset, lance.dataset(dataset.uri)):
        merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        plans.append(merge.explain_plan().split("\n")[0])
    assert plans[0] == plans[1]
