"""Changed rows."""

import pyarrow as pa
import pytest
from lanceref.core.errors import EditFailed, QueryRefused
from lanceref.operations.update import as_column, assign, read_updated, select_rows
from lanceref.table.logical import BlobHandling
from pylanceref.sql.columns import bind_values, condition

from tests.operations.tables import table


def bind_assignments(snapshot, updates):
    """Return the assignments of expressions in SQL."""
    schema = snapshot.schema(BlobHandling.BYTES).arrow
    return assign(snapshot, bind_values(updates, schema))


def test_columns_are_computed_from_the_old_row(tmp_path):
    """Both see the old values; the ids come along."""
    snapshot = table(tmp_path, stable=True)._snapshot
    assignments = bind_assignments(snapshot, {"a": "b + 1", "b": "a"})
    batches, ids = read_updated(
        snapshot, select_rows(snapshot, condition(snapshot, "a > 7")), assignments
    )
    (batch,) = batches

    assert {"a": [81, 91], "b": [8, 9]} == batch.select(["a", "b"]).to_pydict()
    assert [[8, 9]] == [held.tolist() for held in ids]


@pytest.mark.parametrize(
    ("updates", "text"),
    [({}, "No updates"), ({"z": "1"}, "does not exist"), ({"a": "'x'"}, "Cast error")],
)
def test_what_does_not_fit_is_refused(tmp_path, updates, text):
    """Before anything is read."""
    with pytest.raises(QueryRefused, match=text):
        bind_assignments(table(tmp_path)._snapshot, updates)


def test_a_value_its_column_cannot_hold_is_an_error(tmp_path):
    """Text of a row that is no number."""
    snapshot = table(tmp_path)._snapshot
    batches, _ = read_updated(
        snapshot, select_rows(snapshot, None), bind_assignments(snapshot, {"a": "concat('x', s.y)"})
    )
    with pytest.raises(EditFailed, match="Cast error"):
        list(batches)


def test_values_take_the_type_of_the_column():
    """A fraction is cut, text is read, a dictionary is made."""
    assert [1, -1] == as_column(pa.array([1.7, -1.7]), pa.int64()).to_pylist()
    assert [12] == as_column(pa.array(["12"]), pa.int8()).to_pylist()
    wanted = pa.dictionary(pa.int8(), pa.utf8())
    assert wanted == as_column(pa.array(["x"]), wanted).type
