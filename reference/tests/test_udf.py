"""Functions of batches."""

import pyarrow as pa
import pytest
from pylanceref.errors import CallerFailed
from pylanceref.udf import batch_udf

from tests.operations.tables import column, table

SCHEMA = pa.schema({"t": pa.int64()})


def test_a_function_adds_a_column(tmp_path):
    """It returns a batch, a table or a data frame."""
    pd = pytest.importorskip("pandas")
    made = table(tmp_path)

    @batch_udf()
    def twice(batch):
        return pa.table({"t": [2 * one for one in batch["a"].to_pylist()]})

    @batch_udf(pa.schema({"u": pa.int64()}))
    def thrice(batch):
        return pd.DataFrame({"u": [3 * one for one in batch["a"].to_pylist()]})

    made.add_columns(twice, read_columns=["a"])
    made.add_columns(thrice, read_columns=["a"])
    assert [0, 4, 6] == column(made, "t")[:3]
    assert [0, 6, 9] == column(made, "u")[:3]


def test_the_schema_is_held_against_what_comes():
    """The first batch tells it if nobody else did; another one is an error."""
    batch = pa.record_batch({"a": [1]})
    with pytest.raises(CallerFailed, match="does not match"):
        batch_udf(SCHEMA)(lambda batch: batch).for_batch(batch)
    names = iter("ab")
    changing = batch_udf()(lambda batch: batch.rename_columns([next(names)]))
    changing.for_batch(batch)
    with pytest.raises(CallerFailed, match="does not match"):
        changing.for_batch(batch)
    assert batch is batch_udf()(lambda batch: batch)(batch)


def test_results_are_kept_until_the_columns_are_there(tmp_path):
    """A second try computes only what the first one did not, and then removes the file."""
    made, file, seen = table(tmp_path / "t"), tmp_path / "kept.sqlite", []

    @batch_udf(SCHEMA, checkpoint_file=file)
    def plus(batch):
        seen.append(batch["a"].to_pylist())
        if 5 in seen[-1] and len(seen) < 4:
            raise ZeroDivisionError
        return pa.record_batch({"t": [one + 1 for one in batch["a"].to_pylist()]})

    with pytest.raises(CallerFailed, match="ZeroDivisionError"):
        made.add_columns(plus, read_columns=["a"], batch_size=3)
    assert file.exists()
    assert [[0, 1, 2], [3, 4], [5, 6, 7]] == seen
    made.add_columns(plus, read_columns=["a"], batch_size=3)
    assert [[5, 6, 7], [8, 9]] == seen[3:]
    assert not file.exists()
    assert [one + 1 for one in column(made, "a")] == column(made, "t")
    with pytest.raises(ValueError, match="checkpoint"):
        made.get_fragments()[0].merge_columns(batch_udf(checkpoint_file=file)(plus))


def test_a_function_that_fails_at_once_is_no_function_of_batches(tmp_path):
    """A plain one is a wrong argument; one that was wrapped has failed."""
    made = table(tmp_path)

    def fails(batch):
        raise KeyError("gone")

    with pytest.raises(TypeError, match=r"which is callable, but gave an error.*gone"):
        made.add_columns(fails)
    with pytest.raises(OSError, match="KeyError: 'gone'"):
        made.add_columns(batch_udf(SCHEMA)(fails))


def test_a_function_gives_as_many_rows_as_it_got(tmp_path):
    """More or fewer would be those of other rows."""
    made = table(tmp_path)
    before = made.version
    with pytest.raises(OSError, match="different size with the source batch: 5 != 2"):
        made.add_columns(batch_udf(SCHEMA)(lambda batch: pa.record_batch({"t": [1, 2]})))
    assert before == made.version and "t" not in made.schema.names
