"""Merges: which rows are matched, changed and inserted, by rows and by columns."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import DataRefused
from lanceref.operations.merge import list_keys, match
from lanceref.transactions.conflict import may_insert_same

from tests.transactions import versions


def test_keys_of_several_columns_and_of_dictionaries(tmp_path):
    """Rows match if all keys are equal, dictionaries by value."""
    words = pa.array(["p", "q", "p"]).dictionary_encode()
    made = pylanceref.write_dataset(pa.table({"a": [1, 1, 2], "k": words}), tmp_path)
    target, source = match(made._snapshot, pa.table({"k": ["q", "q"], "a": [1, 2]}), ["a", "k"])

    assert ([1], [0]) == (target.tolist(), source.tolist())


def test_missing_values_have_the_type_of_their_column(tmp_path):
    """Updated and inserted rows without a JSON column are written together, views as text."""
    schema = pa.schema([("a", pa.int64()), ("j", pa.json_()), ("b", pa.int64()), ("s", pa.utf8())])
    rows = pa.Table.from_pylist([{"a": n, "j": "1", "b": n} for n in (1, 2)], schema)
    made = pylanceref.write_dataset(rows, tmp_path)
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    given = pa.table({"a": [2, 3], "b": [7, 8], "s": pa.array(["x", None], pa.string_view())})
    merge.execute(given)

    found = {row["a"]: (row["j"], row["b"], row["s"]) for row in made.to_table().to_pylist()}
    assert {1: ("1", 1, None), 2: ("1", 7, "x"), 3: (None, 8, None)} == found
    stated = given.schema.set(2, pa.field("s", pa.string_view(), nullable=False))
    with pytest.raises(DataRefused, match="declared as non-nullable"):
        merge.execute(pa.table(given.columns, schema=stated))


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("unmatched", [None, "true", "k < 4"])
@pytest.mark.parametrize("insert", [False, True])
@pytest.mark.parametrize("matched", ["fail", "update", "delete"])
def test_a_merge_makes_what_a_dict_would(tmp_path, matched, insert, unmatched, stable):
    """Of rows in three fragments, one without row 1; where rows only go, keys are all it needs."""
    before = {k: 10 * k for k in range(9)}
    rows = pa.table({"k": [*before], "b": [*before.values()]})
    options = {"max_rows_per_file": 3, "enable_stable_row_ids": stable}
    made = pylanceref.write_dataset(rows, tmp_path, **options)
    made.delete("k = 1")
    del before[1]
    source = {1: 1, 20: 6} if matched == "fail" else {1: 1, 3: 2, 4: 3, 5: 4, 8: 5, 20: 6}
    merge, found = made.merge_insert("k"), before.keys() & source.keys()
    if matched == "fail":
        merge.when_matched_fail()
    elif matched == "update":
        merge.when_matched_update_all()
    else:
        merge.when_matched_delete()
    if unmatched:
        merge.when_not_matched_by_source_delete(unmatched)
    if insert:
        merge.when_not_matched_insert_all()
    given = pa.table({"k": [*source], "b": [*source.values()]})
    told = merge.execute(given.select(["k"]) if matched == "delete" and not insert else given)

    gone = {k for k in before if unmatched and k not in source and (k < 4 or unmatched == "true")}
    gone |= found if matched == "delete" else set()
    new = {k: source[k] for k in source.keys() - before.keys() if insert}
    changed = {k: source[k] for k in found if matched == "update"}
    wanted = {k: b for k, b in before.items() if k not in gone} | changed | new
    after = pylanceref.dataset(tmp_path)
    assert sorted(wanted.items()) == sorted(
        zip(*after.to_table().to_pydict().values(), strict=True)
    )
    numbers = [told[f"num_{one}_rows"] for one in ("inserted", "updated", "deleted")]
    assert [len(new), len(changed), len(gone)] == numbers
    files = (one.metadata.deletion_file for one in after.get_fragments())
    assert {"array"} >= {file.file_type for file in files if file}


MERGED_VECTORS = {"pylanceref": [[0.0, 0.0]], "lance": [[0.0, 0.0], [1.0, 1.0]]}
"""What an inserted row may have of a column that the source has not; the oracle has either."""


def test_a_vector_that_is_not_given_reads_as_zeros_in_0_1(tmp_path, maker):
    """D.table.merged-vector-null-0-1: the oracle repeats a value of another row."""
    vectors = pa.array([[1, 2], [7, 8], [3, 4]], pa.list_(pa.float32(), 2))
    rows = pa.table({"k": [0, 1, 2], "v": vectors, "s": ["x"] * 3})
    made = maker.write_dataset(rows, tmp_path, data_storage_version="0.1")
    merge = made.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"k": [2, 10], "s": ["n", "n"]}))

    found = {row["k"]: row["v"] for row in pylanceref.dataset(tmp_path).to_table().to_pylist()}
    assert {0: [1.0, 2.0], 1: [7.0, 8.0], 2: [3.0, 4.0]}.items() <= found.items()
    assert found[10] in MERGED_VECTORS[maker.__name__]


def _labels(root):
    """Return a table with an index on its key and one on its lists, in two fragments."""
    rows = pa.table({"k": range(6), "l": [[number] for number in range(6)], "x": range(6)})
    made = pylanceref.write_dataset(rows, root, max_rows_per_file=3, data_storage_version="2.1")
    made.create_scalar_index("k", "BTREE")
    made.create_scalar_index("l", "LABEL_LIST")
    return made


def _found(root, label):
    return (
        pylanceref.dataset(root).to_table(["k"], filter=f"array_has(l, {label})")["k"].to_pylist()
    )


def test_lists_that_are_written_anew_leave_their_index(tmp_path):
    """Rewritten lists are not found in their index by old items."""
    made = _labels(tmp_path)

    made.merge_insert("k").when_matched_update_all().execute(
        pa.table({"k": [1, 2], "l": [[9], [4]]})
    )

    operation = pylanceref.dataset(tmp_path).get_transactions(1)[0].operation
    assert sorted(operation.fields_modified) == [1, 2]
    assert [_found(tmp_path, label) for label in (1, 9, 4)] == [[], [1], [2, 4]]


PRIMARY = {"lance-schema:unenforced-primary-key": "true"}
SEVEN = [8452, 8487, 8539, 8553, 8577, 8630, 8649, 8684]
ZERO = [54025, 54074, 54093, 54137, 54148, 54204, 54222, 54254]
LETTER = [215314, 215345, 215361, 215404, 215441, 215480, 215515, 215551]
PAIR = [43023, 43058, 43076, 43127, 43155, 43198, 43210, 43248]
"""Bits of the keys 7, 0, "a" and (7, "x"), as the oracle sets them."""


def _bits(keys):
    bitmap = np.frombuffer(keys.bloom.bitmap, np.uint8)
    return np.flatnonzero(np.unpackbits(bitmap, bitorder="little")).tolist()


def _keys(*columns):
    arrays = [pa.array(values, type_) for values, type_ in columns]
    return pa.table(arrays, [f"c{number}" for number in range(len(arrays))])


@pytest.mark.parametrize(
    ("keys", "bits"),
    [
        (_keys(([7], pa.int64())), SEVEN),
        (_keys(([7], pa.uint32())), SEVEN),
        (_keys(([7, 0, 7], pa.int32())), SEVEN + ZERO),
        (_keys((["a", None], pa.string())), LETTER),
        (_keys(([b"a"], pa.large_binary())), LETTER),
        (_keys(([7], pa.int64()), (["x"], pa.string())), PAIR),
        (_keys(([7], pa.int16())), []),
        (_keys(([7], pa.int64()), ([1], pa.int8())), []),
        (_keys(([], pa.int64())), []),
    ],
)
def test_eight_bits_are_set_for_a_key(keys, bits):
    """A key sets a bit in each of eight words; nulls and other types set none."""
    made = list_keys(keys, [3])

    assert bits == _bits(made)
    assert ([3], 262144, 32768) == (
        list(made.field_ids),
        made.bloom.num_bits,
        len(made.bloom.bitmap),
    )


def _inserted(**keys):
    return versions.transaction(update={"inserted_rows": keys})


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ({"exact": {"key_hashes": [1, 2]}}, {"exact": {"key_hashes": [2]}}, True),
        ({"exact": {"key_hashes": [1]}}, {"exact": {"key_hashes": [2]}}, False),
        ({"bloom": {"bitmap": b"\1\0"}}, {"bloom": {"bitmap": b"\2\0"}}, False),
        ({"bloom": {"bitmap": b"\3\0"}}, {"bloom": {"bitmap": b"\2\0"}}, True),
        ({"bloom": {"bitmap": b"\1"}}, {"exact": {"key_hashes": [2]}}, True),
        ({"exact": {}, "field_ids": [1]}, {"exact": {}, "field_ids": [2]}, True),
    ],
)
def test_inserts_of_the_same_key_are_suspected(ours, theirs, same):
    """Filters that cannot be compared may hold the same key."""
    assert same == may_insert_same(_inserted(**ours), _inserted(**theirs))
    assert not may_insert_same(versions.transaction(update={}), _inserted(**theirs))


def test_inserts_that_are_not_listed_are_suspected():
    """Appends and updates without a list may insert any key, deletes none."""
    ours = _inserted(exact={"key_hashes": [1]})
    others = {name: versions.transaction(**{name: {}}) for name in ("append", "update", "delete")}

    assert {"append": True, "update": True, "delete": False} == {
        name: may_insert_same(ours, other) for name, other in others.items()
    }


@settings(max_examples=30)
@given(st.sets(st.integers(-(2**63), 2**63 - 1)), st.sets(st.integers(-(2**63), 2**63 - 1)))
def test_a_key_of_both_is_always_seen(one, two):
    """A key in both filters is always found; a filter errs in the other direction only."""
    listed = [list_keys(_keys((list(keys), pa.int64())), [0]) for keys in (one, two)]
    ours, theirs = (versions.transaction(update={"inserted_rows": keys}) for keys in listed)

    assert may_insert_same(ours, theirs) or not one & two


def _rows(*ids):
    field = pa.field("id", pa.int64(), False, PRIMARY)
    return pa.table([list(ids), [0] * len(ids)], schema=pa.schema([field, ("n", pa.int64())]))


def test_a_key_is_inserted_once(tmp_path):
    """Of two concurrent merges that insert a key, the second finds it."""
    pylanceref.write_dataset(_rows(1), tmp_path)
    tables = [pylanceref.dataset(tmp_path) for _ in range(2)]
    merges = [one.merge_insert("id").when_not_matched_insert_all() for one in tables]
    results = [merge.execute(_rows(7)) for merge in merges]

    assert [1, 0] == [one["num_inserted_rows"] for one in results]
    assert [1, 7] == sorted(pylanceref.dataset(tmp_path).to_table()["id"].to_pylist())
