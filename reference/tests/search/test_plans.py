"""Plans of filters: which indices they ask, and what is ruled out before rows are read."""

import pyarrow as pa
import pylanceref
import pytest

TABLE = pa.table(
    {
        "i": pa.array([1, 2, 3, None], pa.int32()),
        "f": pa.array([0.1, 1.0, 2.0, None], pa.float32()),
        "s": ["a", "ab", "b", None],
        "b": [True, False, None, True],
        "a": [{"b": 1}, {"b": 2}, None, {"b": None}],
        "l": [["x"], ["y"], None, []],
        "u": pa.array([[1], [2**64 - 1, 5], None, []], pa.list_(pa.uint64())),
        "n": [[1], [2**53 + 1], None, []],
        "plain": [1, 2, 3, 4],
    }
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A table with an index on each column but one."""
    path = tmp_path_factory.mktemp("routing") / "t"
    written = pylanceref.write_dataset(TABLE, path)
    for name in ("i", "f", "s", "a.b"):
        written.create_scalar_index(name, "BTREE")
    written.create_scalar_index("b", "BITMAP")
    for name in "lun":
        written.create_scalar_index(name, "LABEL_LIST")
    return pylanceref.dataset(path)


def plan(dataset, condition: str) -> str:
    """Return what is asked of indices, nothing when none is."""
    _, _, found = dataset.scanner(filter=condition).explain_plan().partition("query=")
    return found.strip()


ROUTED = {
    "i = 3": "[i = 3]@i_idx(BTree)",
    "not (i = 3)": "NOT([i = 3]@i_idx(BTree))",
    "i in (1, 2)": "[i IN [1,2]]@i_idx(BTree)",
    "not (i in (1, 2))": "NOT([i IN [1,2]]@i_idx(BTree))",
    "i in (1, 2, 3, 4)": "[i IN [1,2,3,4]]@i_idx(BTree)",
    "i between 1 and 2": "[i >= 1 && i <= 2]@i_idx(BTree)",
    "i is not null": "NOT([i IS NULL]@i_idx(BTree))",
    "a.b = 1": "[a.b = 1]@a.b_idx(BTree)",
    "b": "[b = true]@b_idx(Bitmap)",
    "not b": "[b = false]@b_idx(Bitmap)",
    "b not in (true, false)": "[b IN []]@b_idx(Bitmap)",
    "b is true": "[b = true]@b_idx(Bitmap)",
    "s like 'abc'": "[s = abc]@s_idx(BTree)",
    "s not like 'abc'": "NOT([s = abc]@s_idx(BTree))",
    "s like 'a%'": "[s LIKE 'a%']@s_idx(BTree)",
    "s like 'a_%b'": "[s LIKE 'a%']@s_idx(BTree)",
    "array_has(l, 'x')": "[array_has_any(l, List([x]))]@l_idx(LabelList)",
    "array_has_any(u, [18446744073709551615, 3])": (
        "[array_has_any(u, List([18446744073709551615, 3]))]@u_idx(LabelList)"
    ),
    "array_has(n, 1.0)": "[array_has_any(n, List([1]))]@n_idx(LabelList)",
    "i = 1 and plain = 1": "[i = 1]@i_idx(BTree)",
    "i = 1 and s = 'a'": "AND([i = 1]@i_idx(BTree),[s = a]@s_idx(BTree))",
    "not (i = 1 and s = 'a')": "OR(NOT([i = 1]@i_idx(BTree)),NOT([s = a]@s_idx(BTree)))",
    "not (i = 1 or plain = 1)": "NOT([i = 1]@i_idx(BTree))",
}
"""Filters and what is asked."""

SCANNED = (
    *("plain = 1", "i = 1 or plain = 1", "i = plain", "i = null", "i in (1, null)"),
    *("s like '%a'", "s ilike 'a%'", "not (s like 'a_%b')", "lower(s) = 'a'"),
    *("array_has_any(l, [])", "array_has(n, 1.5)", "array_has(n, 9007199254740993.0)"),
    *("array_has_any(u, [18446744073709551615, -3])", "not (f = 0.1)"),
)
"""Filters that no index answers."""


@pytest.mark.parametrize("condition", ROUTED)
def test_what_is_asked(dataset, condition):
    """Conditions on a column and literals, joined in any way."""
    assert plan(dataset, condition) == ROUTED[condition]


@pytest.mark.parametrize("condition", SCANNED)
def test_what_is_not_asked(dataset, condition):
    """Whatever is more than a column and literals, and OR with such."""
    assert plan(dataset, condition) == ""
