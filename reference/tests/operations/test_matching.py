"""Matching rows by keys."""

import pyarrow as pa
import pylanceref
from lanceref.operations.merge import match

from tests.operations.tables import table


def test_pairs_and_the_rest_are_found(tmp_path):
    """Row 1 is deleted: 2 is the second that is left."""
    source = pa.table({"a": [100, 2, 1, 9]})
    found = match(table(tmp_path)._snapshot, source, ["a"])

    assert ([1, 8], [1, 3]) == (found.target.tolist(), found.source.tolist())
    assert [0, 2] == found.unmatched_source.tolist()
    assert [0, 2, 3, 4, 5, 6, 7] == found.unmatched_target.tolist()


def test_null_matches_nothing(tmp_path):
    """Not even null."""
    made = pylanceref.write_dataset(pa.table({"a": [1, None]}), tmp_path)
    found = match(made._snapshot, pa.table({"a": pa.array([None, 1])}), ["a"])

    assert ([0], [1]) == (found.target.tolist(), found.source.tolist())


def test_keys_of_several_columns_and_of_dictionaries(tmp_path):
    """All of them must be the same."""
    words = pa.array(["p", "q", "p"]).dictionary_encode()
    made = pylanceref.write_dataset(pa.table({"a": [1, 1, 2], "k": words}), tmp_path)
    found = match(made._snapshot, pa.table({"k": ["q", "q"], "a": [1, 2]}), ["a", "k"])

    assert ([1], [0]) == (found.target.tolist(), found.source.tolist())


def test_a_row_is_matched_twice(tmp_path):
    """Both pairs are found: what becomes of them is asked later."""
    source = pa.table({"a": [2, 2]})
    found = match(table(tmp_path)._snapshot, source, ["a"])

    assert ([1, 1], [0, 1]) == (found.target.tolist(), sorted(found.source.tolist()))
    assert [] == found.unmatched_source.tolist()
