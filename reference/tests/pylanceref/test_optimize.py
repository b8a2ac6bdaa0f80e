"""Compaction: planned, run and committed; hooks of a write; both as by the oracle."""

import json
import pickle

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from pylanceref import write_dataset
from pylanceref.metadata import FragmentMetadata
from pylanceref.optimize import (
    Compaction,
    CompactionMetrics,
    CompactionPlan,
    CompactionTask,
    RewriteResult,
)
from pylanceref.progress import FileSystemFragmentWriteProgress, FragmentWriteProgress
from pylanceref.write import write_fragments
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
        ({"max_source_fragments": None, "max_source_rows": None, "max_source_bytes": None}, 1),
        ({"max_source_bytes": 100}, 0),
        ({"compaction_mode": "try_binary_copy"}, 1),
        ({"excluded_fragment_ids": [0]}, 0),
    ],
)
def test_a_plan_has_no_more_than_is_allowed(tmp_path, options, tasks):
    """Bytes of the sources are counted as fragments and rows are; None is no limit."""
    assert tasks == Compaction.plan(table(tmp_path), options).num_tasks()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"foo": 1}, "Invalid compaction option: foo"),
        ({"compaction_mode": "foo"}, "Invalid compaction mode"),
        ({"max_source_fragments": 0}, "max_source_fragments must be greater than 0"),
        ({"max_source_rows": 0}, "max_source_rows must be greater than 0"),
        ({"max_source_bytes": -1}, "unsigned"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, options, error):
    """By name, whichever way they come in."""
    with pytest.raises((ValueError, OSError, OverflowError), match=error):
        table(tmp_path).optimize.compact_files(**options)


TABLE = pa.table({"a": [1, 2, 3]})


class _Hooks(FragmentWriteProgress):
    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int | None, int]] = []

    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        self._note("begin", fragment)

    def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        self._note("complete", fragment)

    def _note(self, what: str, fragment: FragmentMetadata) -> None:
        self.seen.append((what, fragment.id, fragment.physical_rows, len(fragment.files)))


def test_a_hook_that_fails_ends_the_write(tmp_path):
    """The error of a hook ends the write, and no file is left."""

    class Failing(_Hooks):
        def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
            raise KeyError("x")

    with pytest.raises(KeyError):
        write_fragments(TABLE, tmp_path, progress=Failing())
    with pytest.raises(DataRefused, match="begin"):
        write_fragments(TABLE, tmp_path, progress=5)  # type: ignore[arg-type]
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_files_say_what_goes_on(tmp_path):
    """The one that says that it goes on is removed at the end."""
    notes = tmp_path / "notes"

    class Looking(FileSystemFragmentWriteProgress):
        def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
            going_on = json.loads((notes / "fragment_0.in_progress").read_text())
            assert going_on == {"fragment_id": 0, "metadata": {"k": "v"}}
            super().complete(fragment, **kwargs)

    write_dataset(TABLE, tmp_path / "t", progress=Looking(f"file://{notes}", {"k": "v"}))
    assert [path.name for path in notes.iterdir()] == ["fragment_0.json"]


@pytest.mark.oracle
def test_hooks_are_called_as_the_oracle_calls_them(tmp_path):
    """Same calls in the same order; it does not tell of the end of a last file that is not full."""
    import lance
    from lance.progress import FragmentWriteProgress as Theirs

    class Adapted(_Hooks, Theirs):
        pass

    found = []
    for library, hooks in ((lance.write_dataset, Adapted()), (write_dataset, _Hooks())):
        root = str(tmp_path / type(hooks).__name__)
        library(TABLE, root, progress=hooks, max_rows_per_file=1)
        found.append([(what, number, files) for what, number, _, files in hooks.seen])
    assert found[0] == found[1]
