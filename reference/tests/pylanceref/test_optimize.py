"""Compaction: planned, run and committed, as by the oracle."""

import pickle

import pyarrow as pa
import pylanceref
import pytest
from pylanceref.optimize import (
    Compaction,
    CompactionMetrics,
    CompactionPlan,
    CompactionTask,
    RewriteResult,
)
from tests.operations.tables import table


def test_a_compaction_is_planned_run_and_committed_by_different_processes(tmp_path):
    """Plans, tasks and results survive pickling and JSON; what was deleted meanwhile conflicts."""
    made = table(tmp_path)
    plan = Compaction.plan(made, {"target_rows_per_fragment": 100})
    assert "CompactionPlan(read_version=2, tasks=<1 compaction tasks>)" == repr(plan)
    assert plan == pickle.loads(pickle.dumps(plan)) == CompactionPlan.from_json(plan.json())
    (task,) = plan.tasks
    assert task == pickle.loads(pickle.dumps(task)) == CompactionTask.from_json(task.json())
    assert [one.metadata for one in made.get_fragments()] == task.fragments

    result = task.execute(pylanceref.dataset(tmp_path))
    assert result == pickle.loads(pickle.dumps(result)) == RewriteResult.from_json(result.json())
    before = made.to_table()
    assert CompactionMetrics(2, 1, 3, 1) == Compaction.commit(made, [result])
    assert 4 == made.version
    assert before.equals(made.to_table())
    assert CompactionMetrics() == Compaction.commit(made, [])


@pytest.mark.parametrize(
    ("options", "tasks"),
    [
        ({"max_source_fragments": 1}, 0),
        ({"max_source_fragments": 2}, 1),
        ({"max_source_rows": 8}, 0),
        ({"max_source_rows": 9}, 1),
        ({"max_source_bytes": 100}, 0),
        ({"compaction_mode": "try_binary_copy"}, 1),
        ({"excluded_fragment_ids": [0]}, 0),
    ],
)
def test_a_plan_has_no_more_than_is_allowed(tmp_path, options, tasks):
    """Fragments, live rows and bytes of the sources are counted."""
    assert tasks == Compaction.plan(table(tmp_path), options).num_tasks()


def test_unknown_options_are_refused(tmp_path):
    """By name, whichever way they come in."""
    made = table(tmp_path)
    with pytest.raises(ValueError, match="Invalid compaction option: foo"):
        Compaction.plan(made, {"foo": 1})
    with pytest.raises(ValueError, match="foo"):
        made.optimize.compact_files(foo=1)
    with pytest.raises(ValueError, match="Invalid compaction mode"):
        made.optimize.compact_files(compaction_mode="foo")


@pytest.mark.parametrize("name", ["max_source_fragments", "max_source_rows", "max_source_bytes"])
def test_a_limit_of_nothing_is_none(tmp_path, name):
    """None is no limit; zero and less are refused."""
    made = pylanceref.write_dataset(pa.table({"a": range(4)}), tmp_path, max_rows_per_file=2)
    for most, error in ((0, OSError), (-1, OverflowError)):
        with pytest.raises(error):
            made.optimize.compact_files(**{name: most})
    assert 2 == made.optimize.compact_files(**{name: None}).fragments_removed
