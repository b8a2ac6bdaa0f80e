"""Keys that an Update has inserted."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.operations.merge import list_keys
from lanceref.storage import LocalStore
from lanceref.table.manifest import open_version
from lanceref.transactions.conflict import may_insert_same

from tests.transactions import versions

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
    """One in each word of a block; none for a type that is not hashed, or for a null."""
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
    """An Append, an Update; not a Delete."""
    ours = _inserted(exact={"key_hashes": [1]})
    others = {name: versions.transaction(**{name: {}}) for name in ("append", "update", "delete")}

    assert {"append": True, "update": True, "delete": False} == {
        name: may_insert_same(ours, other) for name, other in others.items()
    }


@given(st.sets(st.integers(-(2**63), 2**63 - 1)), st.sets(st.integers(-(2**63), 2**63 - 1)))
def test_a_key_of_both_is_always_seen(one, two):
    """A filter may be wrong in the other direction only."""
    listed = [list_keys(_keys((list(keys), pa.int64())), [0]) for keys in (one, two)]
    ours, theirs = (versions.transaction(update={"inserted_rows": keys}) for keys in listed)

    assert may_insert_same(ours, theirs) or not one & two


def _rows(*ids):
    field = pa.field("id", pa.int64(), False, PRIMARY)
    return pa.table([list(ids), [0] * len(ids)], schema=pa.schema([field, ("n", pa.int64())]))


def test_a_key_is_inserted_once(tmp_path):
    """Two merges of the same version insert it: the second finds it there."""
    pylanceref.write_dataset(_rows(1), tmp_path)
    tables = [pylanceref.dataset(tmp_path) for _ in range(2)]
    merges = [one.merge_insert("id").when_not_matched_insert_all() for one in tables]
    results = [merge.execute(_rows(7)) for merge in merges]

    assert [1, 0] == [one["num_inserted_rows"] for one in results]
    assert [1, 7] == sorted(pylanceref.dataset(tmp_path).to_table()["id"].to_pylist())


def _listed(path):
    made = open_version(LocalStore(path), None, Context("t")).transaction.update
    return _bits(made.inserted_rows) if made.HasField("inserted_rows") else None


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("on", "acts"),
    [
        ("id", ["when_not_matched_insert_all"]),
        ("id", ["when_matched_update_all", "when_not_matched_insert_all"]),
        ("id", ["when_matched_update_all"]),
        ("id", ["when_not_matched_by_source_delete"]),
        ("id", ["when_matched_delete"]),
        ("n", ["when_not_matched_insert_all"]),
    ],
)
def test_the_oracle_lists_the_same(tmp_path, on, acts):
    """By the primary key, unless matches are deleted and nothing else happens."""
    import lance

    found = []
    for engine in (lance, pylanceref):
        path = str(tmp_path / engine.__name__)
        engine.write_dataset(_rows(1, 2), path)
        merge = engine.dataset(path).merge_insert(on)
        for act in acts:
            getattr(merge, act)()
        if on == "n":
            merge.execute(_rows(7).set_column(1, "n", pa.array([9])))
        else:
            merge.execute(_rows(1, 7, 8))
        found.append(_listed(path))

    assert found[0] == found[1]
