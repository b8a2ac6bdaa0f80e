"""Scalar index types by hand: what files hold; predicates, and what each type answers."""

import math
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.indices import indexed_column
from lanceref.index.predicate import Among, IsNull, StartsWith, Within, holds, may_hold
from lanceref.index.scalar import zonemap
from lanceref.index.scalar.ngram import literals_of, tokens_of
from lanceref.index.scalar.zonemap import bounds_of, cut_zones
from lanceref.index.training import Training, run_starts, sorted_order
from pyarrow import scalar
from pylanceref.indices import IndexConfig

from .tables import asked, assert_found, ids, write


def test_worked_tokens():
    """Numbers of tokens; letters are folded, other characters end a run."""
    assert tokens_of("abc") == {15516}
    assert tokens_of("ell") == {21371}
    assert tokens_of("foo_bar") == tokens_of("foo") | tokens_of("BAR")
    assert tokens_of("ſtraße") == tokens_of("strasse")
    assert tokens_of("日本語") == tokens_of("ab") == set()


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("hello", ["hello"]),
        ("hel+o", ["hel", "o"]),
        ("hell?o", ["hel", "o"]),
        ("ab*c{2,3}d", ["a", "", "d"]),
        ("a.c", ["a", "c"]),
        *((one, []) for one in ("a|b", "(abc)?def", r"abc\d")),
    ],
)
def test_texts_that_a_match_holds(pattern, texts):
    """What may be missing is no part of them, and of groups nothing is said."""
    assert literals_of(pattern) == texts


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        (pa.array([b"ab", b"aa", None], pa.binary(2)), None, None),
        (pa.array([[1], [0], None]), None, None),
        (pa.array(["b", "a", None]).dictionary_encode(), None, None),
        (pa.array([2, 1, None]).cast(pa.decimal128(20, 1)), 1, 2),
        (pa.array([b"ab", b"aa", None]), b"aa", b"ab"),
        (pa.array([5, -5, None], pa.duration("s")), timedelta(seconds=-5), timedelta(seconds=5)),
    ],
)
def test_types_with_bounds(values, least, greatest):
    """Of bytes of one length, nested types and dictionaries nothing but nulls is counted."""
    found = bounds_of(values)
    assert ([least], [greatest], 1, 0) == (found[0].to_pylist(), found[1].to_pylist(), *found[2:])


NEGATIVE_NAN = np.frombuffer(np.uint64(0xFFF8000000000000).tobytes(), np.float64)[0]


def contents(dataset) -> dict[str, list]:
    """Return the columns of the file."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    file = segment.file("zonemap.lance")
    return {name: file.read(name).to_pylist() for name in file.names}


def test_worked_zones(tmp_path):
    """NaN makes `max` NaN and does not count in `min`; nulls and structs have no bounds."""
    nan = float("nan")
    dataset = write(pa.table({"f": [1.0, nan, 2.0, None, None, -0.0, 0.0]}), tmp_path)
    dataset.create_scalar_index("f", IndexConfig("zonemap", {"rows_per_zone": 3}))
    found = contents(dataset)
    assert ("[1.0, -0.0, 0.0]", "[nan, -0.0, 0.0]") == (repr(found["min"]), repr(found["max"]))
    assert (found["null_count"], found["nan_count"]) == ([0, 2, 0], [1, 0, 0])
    assert (found["zone_start"], found["zone_length"]) == ([0, 3, 6], [3, 3, 1])
    details = [one.index_details.value.hex() for one in dataset._snapshot.manifest.indices]
    assert details == ["080310001801"]
    dataset = write(pa.table({"s": [{"x": 1}]}), tmp_path / "s")
    dataset.create_scalar_index("s", "ZONEMAP")
    assert contents(dataset)["min"] == [None]


def test_a_negative_nan_is_found(tmp_path):
    """It lies below every number, and `min` does not count it."""
    dataset = write(pa.table({"f": np.array([NEGATIVE_NAN, 5.0, 6.0])}), tmp_path)
    dataset.create_scalar_index("f", "ZONEMAP")
    assert asked(dataset, "f < 0")
    assert ids(dataset, "f < 0") == [0]


def test_new_rows_and_gone_fragments(tmp_path):
    """Zones of both segments lie in order; those of a fragment that is gone are left out."""
    dataset = write(pa.table({"i": range(9)}), tmp_path, max_rows_per_file=3)
    dataset.create_scalar_index("i", IndexConfig("zonemap", {"rows_per_zone": 2}))
    dataset.delete("i < 3")
    dataset.insert(pa.table({"i": [None, 7]}))
    dataset.optimize.optimize_indices()
    found = contents(dataset)
    assert found["fragment_id"] == [1, 1, 2, 2, 3]
    assert ids(dataset, "i is null") == [3 << 32]


def zones(dataset, rows: int) -> list[tuple[int, int, int]]:
    """Return the zones of column `i`."""
    indexed = indexed_column(dataset._snapshot.manifest.schema, "i")
    training = Training(indexed, dataset._snapshot.fragments)
    return [(one.fragment_id, one.start, one.length) for one in cut_zones(training, rows)]


@pytest.mark.parametrize(
    ("rows", "deleted", "size", "expected"),
    [
        (8, (0, 3), 2, [(0, 1, 2), (0, 4, 2), (0, 6, 2)]),
        (10, (4, 5, 9), 3, [(0, 0, 3), (0, 3, 5), (0, 8, 1)]),
        (4, (), 9, [(0, 0, 4)]),
    ],
)
def test_worked_cuts(tmp_path, rows, deleted, size, expected):
    """Zones are cut over live rows; deleted ones inside count in the length."""
    dataset = write(pa.table({"i": range(rows)}), tmp_path)
    if deleted:
        dataset.delete(f"i in ({', '.join(map(str, deleted))})")
    assert zones(dataset, size) == expected


@pytest.mark.parametrize("kind", ["BITMAP", "BTREE", "ZONEMAP"])
def test_denials_of_booleans_find_what_a_scan_finds(tmp_path, kind):
    """The denial of a test is true of null; what is not false is true, which an index knows."""
    dataset = write(pa.table({"c": [True, False, None] * 4}), tmp_path)
    dataset.create_scalar_index("c", kind)
    denials = ["c != false", "not c", "c not in (true, false)", "c not in (false, false, false)"]

    assert_found(dataset, [*denials, "not (c is false)", "not (c is true or c is null)"])
    assert all(asked(dataset, one) for one in denials)


def test_a_merged_zone_map_keeps_whether_appends_write_bounds(tmp_path, monkeypatch):
    """Releases to 1.0 knew no such bounds: what is made of their segments has none either."""
    dataset = write(pa.table({"c": ["a", "b"]}), tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(zonemap, "_has_seeds", lambda type_: False)
        dataset.create_scalar_index("c", "ZONEMAP")
    dataset.insert(pa.table({"c": ["z"]}))
    dataset.optimize.optimize_indices()
    ((segment,),) = (index.segments for index in dataset._snapshot.indices.known)

    assert not zonemap.Details.FromString(segment.entry.index_details.value).use_seeds


@pytest.mark.parametrize("type_", [pa.utf8(), pa.large_utf8(), pa.binary(), pa.large_binary()])
def test_prefixes_of_text_and_bytes(type_):
    """The end of a prefix lies above every value with it, also after the last byte."""
    values = pa.array([b"ab", b"abz", b"ac", b"b", None], pa.binary()).cast(type_)
    prefix = scalar("ab" if "string" in str(type_) else b"ab", type_)
    assert holds(StartsWith(prefix), values).tolist() == [True, True, False, False, False]
    least, greatest = values.take(pa.array([0, 2, 3])), values.take(pa.array([1, 2, 3]))
    assert may_hold(StartsWith(prefix), least, greatest).tolist()[0]
    assert not may_hold(StartsWith(prefix), least, greatest).tolist()[2]


numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=30)


@given(numbers, st.integers(-20, 20), st.integers(-20, 20), st.booleans(), st.booleans())
def test_bounds_never_rule_out_what_holds(values, low, high, low_closed, high_closed):
    """A run with a value for which a predicate holds may hold it."""
    array = pa.array(values)
    ends = pa.array([min(values)]), pa.array([max(values)])
    within = Within(scalar(low), scalar(high), low_closed, high_closed)
    for predicate in (within, Among((scalar(low), scalar(high)))):
        if holds(predicate, array).any():
            assert may_hold(predicate, *ends).all()


def test_a_bound_that_is_null_says_nothing():
    """Any value may lie there."""
    null = pa.array([None], pa.int64())
    assert may_hold(Among((scalar(5),)), null, null).all()
    assert may_hold(IsNull(), null, null).all()


@pytest.mark.parametrize(
    ("values", "order", "starts"),
    [
        ([3, None, 1, 3, None], [1, 4, 2, 0, 3], [0, 2, 3]),
        ([math.nan, 0.0, -0.0, -1.0], [3, 2, 1, 0], [0, 1, 2, 3]),
        ([], [], []),
    ],
)
def test_values_are_ordered_and_cut_into_runs(values, order, starts):
    """Nulls first and alike, -0.0 before 0.0, NaN last; equal values stay in order."""
    array = pa.array(values, pa.int64() if not values else None)
    assert sorted_order(array).tolist() == order
    assert run_starts(array.take(pa.array(order, pa.int64()))).tolist() == starts
