"""What becomes of matched and other rows."""

import pyarrow as pa
import pytest
from lanceref.edit.matching import match
from lanceref.edit.merge import Actions, by_fragment, merged_rows, plan_merge
from lanceref.errors import EditFailed

from tests.edit.tables import table

SOURCE = pa.table({"a": [100, 2, 9], "b": [1, 2, 3]})


def _plan(tmp_path, **actions):
    snapshot = table(tmp_path, stable=True)._snapshot
    found = match(snapshot, SOURCE, ["a"], single=True)
    return snapshot, plan_merge(snapshot, SOURCE, ["a"], Actions(**actions), found)


@pytest.mark.parametrize(
    ("actions", "removed", "updated", "inserted"),
    [
        ({"update": True}, [1, 8], [1, 8], []),
        ({"update": True, "update_if": "source.b > 2"}, [8], [8], []),
        ({"update": True, "update_if": "target.b < source.b"}, [], [], []),
        ({"delete": True}, [1, 8], [], []),
        ({"insert": True}, [], [], [0]),
        ({"delete_unmatched": True, "delete_if": "a < 5"}, [0, 2, 3], [], []),
        (
            {"update": True, "insert": True, "delete_unmatched": True},
            [0, 1, 2, 3, 4, 5, 6, 7, 8],
            [1, 8],
            [0],
        ),
    ],
)
def test_every_action(tmp_path, actions, removed, updated, inserted):
    """Live row positions to take out and to write anew, source rows to insert."""
    _, plan = _plan(tmp_path, **actions)

    assert removed == plan.removed.tolist()
    assert (updated, inserted) == (plan.updated.tolist(), plan.inserted.tolist())
    assert len(removed) - len(updated) == plan.num_deleted


def test_a_match_may_be_forbidden(tmp_path):
    """The key of the first is named; nothing is asked for by no action."""
    with pytest.raises(EditFailed, match="a = 2"):
        _plan(tmp_path, fail=True)
    assert not Actions()


def test_rows_are_put_together(tmp_path):
    """Updated ones keep what the source has not, with their ids; inserted ones lack it."""
    snapshot, plan = _plan(tmp_path, update=True, insert=True)
    batches, ids = merged_rows(snapshot, SOURCE, plan)
    rows = [row for batch in batches for row in batch.to_pylist()]

    assert [2, 9] == ids.tolist()
    assert [(2, 2), (9, 3), (100, 1)] == [(row["a"], row["b"]) for row in rows]
    assert [{"x": 2, "y": "2"}, {"x": 9, "y": "9"}, None] == [row["s"] for row in rows]
    chosen = by_fragment(snapshot, plan.removed)
    assert [(0, [1]), (1, [4])] == [(r.fragment.id, p.tolist()) for r, p in chosen]
