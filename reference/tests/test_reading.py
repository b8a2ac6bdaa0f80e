"""What a dataset is asked for."""

import lanceref
import pyarrow as pa
import pytest
from lanceref.query.ordering import ColumnOrdering

from tests.edit.tables import column, table


def test_filter_limit_and_offset_work_together(tmp_path):
    """The limit counts rows that passed."""
    made = table(tmp_path)

    assert [6, 7] == made.to_table(["a"], "a > 3", 2, 2)["a"].to_pylist()
    assert 6 == made.count_rows("a > 3")
    assert [5, 6] == made.get_fragments()[1].to_table(["a"], limit=2)["a"].to_pylist()
    assert 1 == made.get_fragments()[0].count_rows("a > 3")


def test_columns_can_be_computed(tmp_path):
    """By the name they have in the result, with row ids behind."""
    made = table(tmp_path)
    found = made.to_table({"twice": "a * 2", "x": "s.x"}, "a > 7", with_row_id=True)

    assert {"twice": [16, 18], "x": [8, 9], "_rowid": [2**32 + 3, 2**32 + 4]} == found.to_pydict()


def test_rows_can_be_ordered(tmp_path):
    """Before the limit is counted; by a name or an ordering."""
    made = table(tmp_path)
    descending = [ColumnOrdering("a", ascending=False)]

    assert [9, 8] == made.to_table(["a"], limit=2, order_by=descending)["a"].to_pylist()
    assert [0, 2] == made.to_table(["a"], limit=2, order_by=["a"])["a"].to_pylist()


def test_a_sample_has_rows_of_the_table(tmp_path):
    """As many as there are at most, each once."""
    made = table(tmp_path)
    found = made.sample(5, ["a"], randomize_order=False)["a"].to_pylist()

    assert 5 == len(set(found) & set(column(made, "a")))
    assert found == sorted(found)
    assert 9 == len(made.sample(100))


def test_what_is_known_without_reading(tmp_path):
    """Length, ids, flags."""
    made = table(tmp_path, stable=True)

    assert (9, 4, True) == (len(made), made.max_field_id, made.has_stable_row_ids)


@pytest.mark.parametrize("argument", ["nearest", "full_text_query"])
def test_a_search_is_not_there_yet(tmp_path, argument):
    """It is refused, not ignored."""
    with pytest.raises(NotImplementedError):
        table(tmp_path).to_table(**{argument: {"column": "a"}})


def test_hints_change_nothing(tmp_path):
    """They are about how another reader works."""
    made = table(tmp_path)
    hints = {"prefilter": True, "use_stats": False, "batch_readahead": 4, "scan_in_order": True}

    assert made.to_table().equals(made.to_table(**hints))
    assert pa.types.is_int64(made.scanner({"k": "a"}).projected_schema.field("k").type)


def test_rows_are_taken_by_id(tmp_path):
    """In the order asked for; ids of deleted rows and unknown ones are left out."""
    made = table(tmp_path, stable=True)

    assert [9, 0, 0] == made._take_rows([9, 0, 1, 0, 77], ["a"])["a"].to_pylist()
    made.truncate_table()
    assert 0 == len(made._take_rows([3]))


def test_a_table_says_what_is_wrong_with_it(tmp_path):
    """Nothing at first; then a file is missing, which is an OSError."""
    made = table(tmp_path)
    made.validate()
    next((tmp_path / "data").iterdir()).unlink()
    with pytest.raises(OSError, match=r"L\.table\.files\.exist"):
        made.validate()


def test_scans_have_defaults(tmp_path):
    """Of the dataset; the call goes before them."""
    table(tmp_path)
    made = lanceref.dataset(tmp_path, default_scan_options={"with_row_id": True})

    assert "_rowid" in made.to_table().schema.names
    assert "_rowid" not in made.to_table(with_row_id=False).schema.names
    assert "_rowid" not in lanceref.dataset(tmp_path).to_table().schema.names
