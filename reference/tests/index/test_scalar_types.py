"""Scalar index types, worked by hand: what files hold, and what each answers in its own way."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.scalar import zonemap
from lanceref.index.scalar.ngram import literals_of, tokens_of
from lanceref.index.scalar.zonemap import cut_zones
from lanceref.index.training import Training
from lanceref.operations.index_build import indexed_field
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
        ("a|b", []),
        ("(abc)?def", []),
        (r"abc\d", []),
    ],
)
def test_texts_that_a_match_holds(pattern, texts):
    """What may be missing is no part of them, and of groups nothing is said."""
    assert literals_of(pattern) == texts


NEGATIVE_NAN = np.frombuffer(np.uint64(0xFFF8000000000000).tobytes(), np.float64)[0]


def contents(dataset) -> dict[str, list]:
    """Return the columns of the file."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    file = segment.file("zonemap.lance")
    return {name: file.read(name).to_pylist() for name in file.names}


def test_worked_zones(tmp_path):
    """NaN makes `max` NaN and does not count in `min`; nulls have no bounds."""
    nan = float("nan")
    dataset = write(pa.table({"f": [1.0, nan, 2.0, None, None, -0.0, 0.0]}), tmp_path)
    dataset.create_scalar_index("f", IndexConfig("zonemap", {"rows_per_zone": 3}))
    found = contents(dataset)
    assert repr(found["min"]) == "[1.0, -0.0, 0.0]"
    assert repr(found["max"]) == "[nan, -0.0, 0.0]"
    assert (found["null_count"], found["nan_count"]) == ([0, 2, 0], [1, 0, 0])
    assert (found["zone_start"], found["zone_length"]) == ([0, 3, 6], [3, 3, 1])
    (entry,) = dataset._snapshot.manifest.indices
    assert entry.index_details.value.hex() == "080310001801"


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
    field, _ = indexed_field(dataset._snapshot.manifest.schema, "i")
    training = Training(field, dataset._snapshot.fragments)
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
