"""What becomes of matched and other rows."""

import importlib

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EditFailed
from lanceref.operations.merge import Actions, by_fragment, match, merged_rows, plan_merge
from pylanceref.sql.columns import condition as condition_of
from pylanceref.sql.columns import mask_of

from tests.operations.tables import table

SOURCE = pa.table({"a": [100, 2, 9], "b": [1, 2, 3]})


def _below_5(snapshot):
    return condition_of(snapshot, "a < 5")


def _plan(tmp_path, **actions):
    snapshot = table(tmp_path, stable=True)._snapshot
    found = match(snapshot, SOURCE, ["a"])
    return snapshot, plan_merge(snapshot, SOURCE, ["a"], Actions(**actions), found)


@pytest.mark.parametrize(
    ("actions", "removed", "updated", "inserted"),
    [
        ({"update": True}, [1, 8], [1, 8], []),
        ({"update": True, "update_if": mask_of("source.b > 2")}, [8], [8], []),
        ({"update": True, "update_if": mask_of("target.b < source.b")}, [], [], []),
        ({"delete": True}, [1, 8], [], []),
        ({"insert": True}, [], [], [0]),
        (
            {
                "delete_unmatched": True,
                "delete_if": lambda snapshot: condition_of(snapshot, "a < 5"),
            },
            [0, 2, 3],
            [],
            [],
        ),
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


@pytest.mark.parametrize("condition", ["", "source.b < 3", "target.a = 2"])
def test_a_row_is_changed_once(tmp_path, condition):
    """Two source rows that change row 2: nobody knows which."""
    twice = pa.table({"a": [2, 2], "b": [1, 2]})
    for actions in (
        Actions(update=True, update_if=mask_of(condition) if condition else None),
        Actions(delete=True),
    ):
        with pytest.raises(EditFailed, match=r"Ambiguous.*a = 2"):
            _twice(tmp_path, twice, actions)


def test_a_row_that_stays_may_be_matched_twice(tmp_path):
    """Where the condition passes for one of the two source rows, or none, all is clear."""
    twice = pa.table({"a": [2, 2], "b": [1, 2]})
    plan = _twice(
        tmp_path, twice, Actions(update=True, update_if=mask_of("source.b > 1"), insert=True)
    )
    assert ([1], [1]) == (plan.updated.tolist(), plan.update_sources.tolist())
    plan = _twice(
        tmp_path, twice, Actions(update=True, update_if=mask_of("target.a < 2"), insert=True)
    )
    assert ([], []) == (plan.updated.tolist(), plan.inserted.tolist())


def _twice(tmp_path, source, actions):
    snapshot = table(tmp_path / str(len(list(tmp_path.iterdir()))))._snapshot
    return plan_merge(snapshot, source, ["a"], actions, match(snapshot, source, ["a"]))


def test_missing_values_have_the_type_of_their_column(tmp_path):
    """Updated rows and inserted ones of a JSON column go into one file."""
    schema = pa.schema([("a", pa.int64()), ("j", pa.json_()), ("b", pa.int64())])
    rows = pa.Table.from_pylist([{"a": n, "j": "1", "b": n} for n in (1, 2)], schema)
    made = pylanceref.write_dataset(rows, tmp_path)
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"a": [2, 3], "b": [7, 8]}))

    found = {row["a"]: (row["j"], row["b"]) for row in made.to_table().to_pylist()}
    assert {1: ("1", 1), 2: ("1", 7), 3: (None, 8)} == found


MERGED_VECTORS = {"pylanceref": [[0.0, 0.0]], "lance": [[0.0, 0.0], [1.0, 1.0]]}
"""What an inserted row may have of a column that the source has not; the oracle has either."""


@pytest.mark.parametrize("maker", [pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
def test_a_vector_that_is_not_given_reads_as_zeros_in_0_1(tmp_path, maker):
    """D.table.merged-vector-null-0-1: the oracle repeats a value of another row."""
    vectors = pa.array([[1, 2], [7, 8], [3, 4]], pa.list_(pa.float32(), 2))
    rows = pa.table({"k": [0, 1, 2], "v": vectors, "s": ["x"] * 3})
    made = importlib.import_module(maker).write_dataset(rows, tmp_path, data_storage_version="0.1")
    merge = made.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"k": [2, 10], "s": ["n", "n"]}))

    found = {row["k"]: row["v"] for row in pylanceref.dataset(tmp_path).to_table().to_pylist()}
    assert {0: [1.0, 2.0], 1: [7.0, 8.0], 2: [3.0, 4.0]}.items() <= found.items()
    assert found[10] in MERGED_VECTORS[maker]


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
