"""Searches: the nearest vectors, in scans with filters, limits and orders."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from tests.index.vector.indexed import fixed


@pytest.fixture
def line(tmp_path):
    """Points of a line."""
    vectors = pa.array([[2], [0], [1], [3]], pa.list_(pa.float32(), 1))
    table = pa.table({"i": range(4), "v": vectors})
    return pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=3)


def nearest(line, **scan):
    """Return a search for the points nearest to 0."""
    return line.scanner(nearest={"column": "v", "q": [0]}, **scan)


def test_what_is_returned(line):
    """What the search knows of a row can be filtered by and computed with."""
    table = nearest(line, filter="_distance > 1", columns={"d": "_distance + 1"}).to_table()
    assert [5, 10] == table["d"].to_pylist()
    assert ["d", "_distance"] == table.schema.names
    assert ["i"] == nearest(
        line, columns=["i"], disable_scoring_autoprojection=True
    ).to_table().schema.names
    assert nearest(line).projected_schema == nearest(line).to_table().schema


ROWS = 60
VALUES = np.random.default_rng(0).normal(size=(ROWS, 8)).astype(np.float32)


def written(root):
    """Write vectors of every type, in fragments, some rows without and one deleted."""
    holes = VALUES.tolist()
    holes[3], holes[5], holes[6] = None, [float("nan")] * 8, [0.0] * 8
    several = [[VALUES[n].tolist(), VALUES[n - 1].tolist()] for n in range(ROWS)]
    several[4], several[7] = [], None
    table = pa.table(
        {
            "i": range(ROWS),
            "f": fixed(VALUES),
            "h": fixed(VALUES.astype(np.float16)),
            "d": fixed(VALUES.astype(np.float64)),
            "u": fixed((VALUES * 50 + 100).clip(0, 255).astype(np.uint8)),
            "w": pa.array(holes, pa.list_(pa.float32(), 8)),
            "m": pa.array(several, pa.list_(pa.list_(pa.float32(), 8))),
            "s": pa.StructArray.from_arrays([fixed(VALUES)], ["v"]),
        }
    )
    found = pylanceref.write_dataset(table, root / "t", max_rows_per_file=25)
    found.delete("i = 2")
    return found


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """The table of vectors, which no test changes."""
    return written(tmp_path_factory.mktemp("vectors"))


def test_what_has_no_answer(vectors):
    """Some fragments only, and rows that are deleted, are not searched."""
    asked = {"column": "f", "q": VALUES[0]}
    with pytest.raises(QueryRefused):
        vectors.scanner(nearest=asked, fragments=vectors.get_fragments()[:1])
    with pytest.raises(QueryRefused):
        vectors.scanner(nearest=asked, include_deleted_rows=True, with_row_id=True)
    with pytest.raises(QueryRefused):
        vectors.scanner(nearest=asked, filter="_distance < 1", prefilter=True)


def test_a_plan_says_what_is_done(vectors):
    """What is looked at, and what is asked before and after."""
    asked = {"column": "f", "q": VALUES[0], "k": 3}
    plan = vectors.scanner(nearest=asked, filter="i > 3", limit=1).explain_plan()
    assert ["Projection", "Limit", "Filter", "Sort", "KNNVectorDistance", "LanceRead"] == [
        line.strip().partition(":")[0] for line in plan.splitlines()
    ]
    before = vectors.scanner(nearest=asked, filter="i > 3", prefilter=True, order_by=["i"])
    *_, asked_of, read = before.explain_plan().splitlines()
    assert "Filter: columns=[i]" == asked_of.strip()
    assert "LanceRead: projection=[i], num_fragments=3" == read.strip()


def test_a_plan_says_how_an_index_is_asked(tmp_path):
    """The metric by its name, and how many partitions are looked at."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(64, dtype=np.float32)), 4)
    made = pylanceref.write_dataset(pa.table({"v": vectors}), tmp_path)
    made = made.create_index("v", "IVF_FLAT", num_partitions=2, metric="cosine")
    for asked, least, most in (
        ({}, 1, "None"),
        ({"nprobes": 2}, 2, "Some(2)"),
        ({"minimum_nprobes": 2}, 2, "None"),
        ({"maximum_nprobes": 3}, 1, "Some(3)"),
    ):
        scanner = made.scanner(nearest={"column": "v", "q": [1.0] * 4, "k": 3, **asked})
        plan = scanner.explain_plan()
        assert "ANNSubIndex: name=v_idx, k=3, metric=Cosine" in plan
        assert f"minimum_nprobes={least}, maximum_nprobes={most}" in plan
        assert "output_rows=3" in scanner.analyze_plan()


@pytest.mark.parametrize("index", [False, True])
def test_fragments_are_searched_when_the_filter_comes_first(tmp_path, index):
    """Only rows of theirs, indexed or not; without a filter before it is refused."""
    vectors = written(tmp_path)
    if index:
        vectors.create_index("f", index_type="IVF_FLAT", num_partitions=2)
        vectors.insert(vectors.to_table().slice(0, 5))
    chosen = vectors.get_fragments()[1:2]
    asked = {"column": "f", "q": VALUES[0], "k": 40, "nprobes": 2}
    scan = {"columns": ["i"], "nearest": asked, "fragments": chosen}
    found = vectors.scanner(**scan, prefilter=True).to_table()["i"].to_pylist()
    fewer = vectors.scanner(**scan, prefilter=True, filter="i < 30").to_table()["i"].to_pylist()

    assert set(chosen[0].to_table(["i"])["i"].to_pylist()) == set(found)
    assert [one for one in found if one < 30] == fewer
    exact = ((VALUES[found] - VALUES[0]) ** 2).sum(1)
    assert np.array_equal(np.sort(exact), exact)
    with pytest.raises(QueryRefused, match="fragment scan"):
        vectors.scanner(**scan)
    if index:
        last = vectors.get_fragments()[-1:]
        found = vectors.scanner(**{**scan, "fragments": last}, prefilter=True).to_table()
        assert {0, 1, 3, 4, 5} == set(found["i"].to_pylist())
