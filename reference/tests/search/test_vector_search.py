"""Vector search without an index."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused

FILTERED = {"filter": "i % 3 = 0", "prefilter": True}

POINTS = [[0, 0], [3, 4], None, [1, 0], [0, 2], [float("nan"), 0], [3, 4]]


@pytest.fixture
def dataset(tmp_path):
    """Points of a plane, in two fragments, and lists of points."""
    vectors = pa.array(POINTS, pa.list_(pa.float32(), 2))
    several = pa.array(
        [[one, one[::-1]] if one else None for one in POINTS], pa.list_(pa.list_(pa.float32(), 2))
    )
    table = pa.table({"i": range(7), "v": vectors, "m": several})
    return pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=4)


def near(dataset, q, column="v", scan=None, **asked):
    """Return the rows that are found, and how far they are."""
    found = dataset.to_table(nearest={"column": column, "q": q, **asked}, **(scan or {}))
    return list(zip(found["i"].to_pylist(), found["_distance"].to_pylist(), strict=True))


def test_distances_by_hand(dataset):
    """Of every metric; what is null, no number or without direction has none."""
    l2 = [(0, 0), (3, 1), (4, 4), (1, 25), (6, 25)]
    assert l2 == near(dataset, [0, 0])
    assert [(1, -24), (6, -24), (4, -7), (3, -2), (0, 1)] == near(dataset, [3, 4], metric="dot")
    cosine = near(dataset, [2, 0], metric="cosine")
    assert [3, 1, 6, 4] == [row for row, _ in cosine]
    np.testing.assert_allclose([0, 0.4, 0.4, 1], [one for _, one in cosine], atol=1e-6)


def test_bits_by_hand(tmp_path):
    """Bytes are as far as they have bits that differ."""
    table = pa.table({"i": range(3), "v": pa.array([[0], [255], [5]], pa.list_(pa.uint8(), 1))})
    dataset = pylanceref.write_dataset(table, tmp_path / "u")
    assert [(0, 1), (2, 1), (1, 7)] == near(dataset, [1])


def test_rows_with_several_vectors(dataset):
    """The nearest vector of a row counts, of several queries the sum."""
    assert [(0, 0), (3, 1)] == near(dataset, [0, 0], "m", k=2)
    assert [(3, 0), (0, 2)] == near(dataset, [[1, 0], [0, 1]], "m", k=2)


def test_a_batch(dataset):
    """Each query has its own rows."""
    found = dataset.to_table(nearest={"column": "v", "q": [[0, 0], [3, 4]], "k": 2})
    assert [0, 0, 1, 1] == found["query_index"].to_pylist()
    assert [0, 3, 1, 6] == found["i"].to_pylist()


def test_ranges(dataset):
    """Rows outside do not count."""
    assert [(3, 1), (4, 4)] == near(dataset, [0, 0], distance_range=(1, 25))
    assert [(1, 25), (6, 25)] == near(dataset, [0, 0], distance_range=(25, None))


def test_a_filter_before_or_after(dataset):
    """Before, as many rows are found as are asked for; after, of those found some are left."""
    scan = {"filter": "i > 0"}
    assert [(3, 1)] == near(dataset, [0, 0], k=2, scan=scan)
    assert [(3, 1), (4, 4)] == near(dataset, [0, 0], k=2, scan={**scan, "prefilter": True})


def test_without_an_index_fast_search_finds_nothing(dataset):
    """It is among indexed rows only."""
    assert [] == near(dataset, [0, 0], scan={"fast_search": True})


def test_deleted_rows_are_not_found(dataset):
    """The next ones are."""
    dataset.delete("i = 0")
    assert [(3, 1)] == near(dataset, [0, 0], k=1)


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.float64()])
def test_many_rows(tmp_path, monkeypatch, type_):
    """The answer does not depend on how many rows are read together."""
    values = np.random.default_rng(1).normal(size=(500, 8)).astype(type_.to_pandas_dtype())
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8)
    dataset = pylanceref.write_dataset(pa.table({"i": range(500), "v": vectors}), tmp_path / "m")
    once = near(dataset, values[3], k=50)
    monkeypatch.setattr("lanceref.search.vector_search.RUN_VECTORS", 7)
    assert once == near(dataset, values[3], k=50)
    exact = ((values.astype("f8") - values[3].astype("f8")) ** 2).sum(1)
    assert [row for row, _ in once] == np.argsort(exact)[:50].tolist()


def several(rows: int = 400) -> pa.Table:
    """Return rows of none to three vectors."""
    source = np.random.default_rng(3)
    around = source.normal(size=(5, 8)) * 3
    values = around[source.integers(0, 5, 3 * rows)] + source.normal(size=(3 * rows, 8))
    lists = [values[3 * n : 3 * n + n % 4].astype(np.float32).tolist() for n in range(rows)]
    column = pa.array(lists, pa.list_(pa.list_(pa.float32(), 8)))
    return pa.table({"i": range(rows), "m": column})


@pytest.mark.parametrize("queries", [1, 3])
def test_an_index_over_rows_with_several_vectors(tmp_path, queries):
    """Every row is found once; with enough candidates by its true distance."""
    table = several()
    dataset = pylanceref.write_dataset(table, tmp_path / "m", max_rows_per_file=150)
    dataset.create_index("m", "IVF_FLAT", metric="cosine", num_partitions=3)
    q = np.array(table["m"][3].as_py())[:queries]
    found = near(dataset, q, "m", k=100, nprobes=3, refine_factor=3)
    wanted = near(dataset, q, "m", k=100, metric="cosine", use_index=False)
    assert [row for row, _ in wanted] == [row for row, _ in found]
    assert 300 == len({row for row, _ in near(dataset, q[:1], "m", k=1000, nprobes=3)})


@pytest.mark.oracle
@pytest.mark.parametrize("type_", ["IVF_FLAT", "IVF_HNSW_FLAT"])
@pytest.mark.parametrize("k", [3, 10, 20])
@pytest.mark.parametrize("factor", [None, 1, 5])
def test_the_oracle_finds_the_same_rows_with_several_vectors(tmp_path, type_, k, factor):
    """In the same index, for queries of one vector and of several, few rows before them or all."""
    import lance

    table = several()
    theirs = lance.write_dataset(table, tmp_path / "m", max_rows_per_file=150)
    theirs.create_index("m", type_, metric="cosine", num_partitions=3)
    ours = pylanceref.dataset(tmp_path / "m")
    for row in (3, 50, 103):
        q = np.array(table["m"][row].as_py())
        asked = {"column": "m", "q": q, "k": k, "nprobes": 3, "refine_factor": factor}
        for scan in ({}, {"filter": "i % 17 = 0", "prefilter": True}):
            found = near(ours, scan=scan, **asked)
            wanted = theirs.to_table(nearest=asked, **scan)
            assert wanted["i"].to_pylist() == [one for one, _ in found]
            np.testing.assert_allclose(wanted["_distance"], [far for _, far in found], atol=1e-5)


NOTHING = [[1, float("nan")], [2, 1]]


def test_several_vectors_with_what_is_no_number(dataset):
    """Vectors of float32 are not held against it; a batch takes it for 0."""
    for q in (NOTHING, NOTHING[0], NOTHING[:1]):
        with pytest.raises(QueryRefused, match=r"must not contain nulls, got 1 null\(s\)"):
            near(dataset, q, "m")
    assert [] == near(dataset, pa.array(NOTHING[0]), "m")
    assert [3, 0] == [row for row, _ in near(dataset, NOTHING[:1], k=2)]


@pytest.mark.oracle
@pytest.mark.parametrize("element", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("index", [False, True])
def test_the_oracle_finds_the_same_by_what_is_no_number(tmp_path, element, index):
    """With an index and without, refined, one vector alone and among several: rows or an error."""
    import lance

    table = several()
    column = table["m"].combine_chunks().cast(pa.list_(pa.list_(element, 8)))
    path = str(tmp_path / "m")
    theirs = lance.write_dataset(table.set_column(1, "m", column), path)
    if index:
        theirs.create_index("m", "IVF_FLAT", metric="cosine", num_partitions=2)
    q = np.array(table["m"][3].as_py(), np.float32)
    q[0, 2] = np.nan
    for query in (q, q[0], q[:1], pa.array(q[0])):
        for more in ({}, {"refine_factor": 2}, {"metric": "dot", "use_index": False}):
            asked = {"column": "m", "q": query, "k": 3, **more}
            try:
                wanted = theirs.to_table(nearest=asked)
            except ValueError as error:
                assert "query must not contain nulls" in str(error)
                with pytest.raises(QueryRefused, match="query must not contain nulls"):
                    near(pylanceref.dataset(path), **asked)
                continue
            assert wanted["i"].to_pylist() == [
                row for row, _ in near(pylanceref.dataset(path), **asked)
            ]


SEVERAL = [[[1, 0], [0, 0]], [[np.inf, 0], [1, 1]], [[np.nan, 0], [1, 2]], [[0, 1]], [[0, 0]]]


def written(root) -> str:
    """Write rows of several vectors, some of which have no direction."""
    several = pa.array(SEVERAL, pa.list_(pa.list_(pa.float32(), 2)))
    path = str(root / "t")
    pylanceref.write_dataset(pa.table({"i": range(5), "m": several}), path)
    return path


def test_vectors_without_a_direction_do_not_hide_the_others_of_a_row(tmp_path):
    """Without an index, with one, and refined; a query of 0 is 1 from all that an index finds."""
    path = written(tmp_path)
    asked = {"column": "m", "metric": "cosine", "k": 9}
    wanted = [0, 1, 2, 3]

    assert wanted == [row for row, _ in near(pylanceref.dataset(path), [[1, 0]], **asked)]
    dataset = pylanceref.dataset(path)
    dataset.create_index("m", "IVF_FLAT", metric="cosine", num_partitions=1)
    for refined in ({}, {"refine_factor": 1}):
        assert wanted == [row for row, _ in near(dataset, [[1, 0]], **asked, **refined)]
    plain, more = (dict(near(dataset, q, **asked)) for q in ([[1, 0]], [[1, 0], [0, 0]]))
    assert {row: far + 1 for row, far in plain.items()} == more


@pytest.mark.oracle
def test_the_oracle_passes_over_rows_with_a_vector_of_0(tmp_path):
    """Or an infinite one: without an index, and where the answer of one is refined."""
    import lance

    path = written(tmp_path)
    dataset = pylanceref.dataset(path)
    asked = {"column": "m", "metric": "cosine", "k": 9}
    assert [2, 3] == [row for row, _ in near(lance.dataset(path), [[1, 0]], **asked)]
    dataset.create_index("m", "IVF_FLAT", metric="cosine", num_partitions=1)
    assert [2, 3] == [
        row for row, _ in near(lance.dataset(path), [[1, 0]], **asked, refine_factor=1)
    ]
    for query in ([[1, 0]], [[1, 0], [0, 0]]):
        found = [near(module.dataset(path), query, **asked) for module in (lance, pylanceref)]
        assert found[0] == found[1]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("index", "given", "odd"),
    [
        ("IVF_FLAT", {}, False),
        ("IVF_PQ", {"num_sub_vectors": 2}, False),
        ("IVF_RQ", {"num_bits": 1}, False),
        ("IVF_RQ", {"num_bits": 5}, True),
        ("IVF_SQ", {}, True),
        ("IVF_HNSW_FLAT", {}, True),
    ],
)
def test_the_oracle_finds_rows_by_a_query_that_is_none(tmp_path, index, given, odd):
    """Without a direction, or with a number that is none; no distance is one, and none is here."""
    import lance

    values = np.random.default_rng(3).normal(size=(300, 8)).astype("f4")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8)
    table = pa.table({"i": range(300), "v": vectors})
    path = pylanceref.write_dataset(table, tmp_path / "t").uri
    pylanceref.dataset(path).create_index("v", index, metric="cosine", num_partitions=1, **given)
    for query in (np.zeros(8), np.where(np.arange(8) == 3, np.nan, 1)):
        theirs, ours = (near(one.dataset(path), query, k=3) for one in (lance, pylanceref))
        assert [] == ours
        assert odd == (len(theirs) == 3)
        assert index == "IVF_SQ" or all(np.isnan(far) for _, far in theirs)


@pytest.mark.oracle
def test_the_oracle_walks_otherwise_when_it_is_to_be_fast(tmp_path):
    """Over graphs, with a filter; else both find the same."""
    import lance

    random = np.random.default_rng(2)
    values = random.normal(size=(500, 16)).astype("f4")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 16)
    path = pylanceref.write_dataset(pa.table({"i": range(500), "v": vectors}), tmp_path / "t").uri
    pylanceref.dataset(path).create_index("v", "IVF_HNSW_FLAT", num_partitions=1, m=4)
    others = {"fast": 0, "normal": 0}
    for query in random.normal(size=(30, 16)):
        for mode in others:
            asked = {"k": 10, "approx_mode": mode, "ef": 10}
            found = [
                [row for row, _ in near(one.dataset(path), query, **asked, scan=FILTERED)]
                for one in (lance, pylanceref)
            ]
            others[mode] += found[0] != found[1]
    assert 0 == others["normal"] < others["fast"]


def compacted(root) -> str:
    """Write rows with stable ids and an index over them, delete every fourth, and compact."""
    values = np.random.default_rng(3).normal(size=(1400, 8)).astype("f4")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8)
    dataset = pylanceref.write_dataset(
        pa.table({"i": range(1400), "v": vectors}),
        root / "t",
        max_rows_per_file=500,
        enable_stable_row_ids=True,
    )
    dataset.create_index("v", "IVF_FLAT", num_partitions=1)
    dataset.delete("i % 4 = 1")
    dataset.optimize.compact_files(target_rows_per_fragment=3000)
    return dataset.uri


def test_rows_that_a_compaction_dropped_take_no_place(tmp_path):
    """The index has them still; as many rows are found as are wanted, the nearest that are left."""
    dataset = pylanceref.dataset(compacted(tmp_path))
    found = near(dataset, np.zeros(8), k=50, nprobes=1)

    assert 50 == len(found)
    assert found == near(dataset, np.zeros(8), k=50, use_index=False)


@pytest.mark.oracle
def test_the_oracle_counts_rows_that_a_compaction_dropped(tmp_path):
    """Fewer rows come than are wanted and left; those that come are right."""
    import lance

    path = compacted(tmp_path)
    theirs, ours = (
        near(module.dataset(path), np.zeros(8), k=50, nprobes=1) for module in (lance, pylanceref)
    )
    assert len(theirs) < 45
    assert {row for row, _ in theirs} < {row for row, _ in ours}
    asked = {"column": "v", "q": np.zeros(8), "k": 50, "nprobes": 1}
    found = lance.dataset(path).to_table(nearest=asked, columns=["_distance"], with_row_id=True)
    left = lance.dataset(path).to_table(columns=[], with_row_id=True)["_rowid"].to_pylist()
    assert 50 == len(found) > len(set(found["_rowid"].to_pylist()) & set(left))
