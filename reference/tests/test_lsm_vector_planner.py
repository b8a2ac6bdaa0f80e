"""Log vector planner: the rows with the nearest vectors, of a table and its log."""

from __future__ import annotations

import random
import uuid

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EditFailed, NotFound, OperationRefused, QueryRefused
from pylanceref.mem_wal import LsmVectorSearchPlanner, ShardSnapshot

KEY = {"lance-schema:unenforced-primary-key": "true"}
VECTOR = pa.list_(pa.float32(), 2)
SCHEMA = pa.schema([pa.field("id", pa.int64(), False, KEY), ("vec", VECTOR), ("name", pa.string())])
FLUSHED = SCHEMA.append(pa.field("_tombstone", pa.bool_(), False))
SHARD, OTHER = str(uuid.UUID(int=5)), str(uuid.UUID(int=6))
ORIGIN = pa.array([0, 0], pa.float32())


def _rows(places, name):
    """Return rows by key, each so far from the origin; None is a key that is deleted."""
    deleted = [one is None for one in places.values()]
    vectors = [None if one is None else [one, 0] for one in places.values()]
    names = [f"{name}{key}" for key in places]
    return pa.table([list(places), pa.array(vectors, VECTOR), names, deleted], schema=FLUSHED)


def _indexed(rows, path, **asked):
    made = pylanceref.write_dataset(rows, path)
    return made.create_index("vec", "IVF_FLAT", num_partitions=1, **asked)


@pytest.fixture
def dataset(tmp_path):
    """Rows 0 to 5 as far as their numbers; generations of two shards, one without an index."""
    root = tmp_path / "t"
    base = _indexed(_rows({one: one for one in range(6)}, "b").select(SCHEMA.names), root)
    for shard, name, places in (
        (SHARD, "g1", {1: 9, 7: 3.5}),
        (SHARD, "g2", {0: None, 7: 0.5, 8: 0.25}),
        (OTHER, "o1", {2: 2.5}),
    ):
        _indexed(_rows(places, name), root / "_mem_wal" / shard / name)
    pylanceref.write_dataset(_rows({3: 0.125}, "u"), root / "_mem_wal" / OTHER / "u1")
    return pylanceref.dataset(base.uri)


def _snapshot(shard, *named):
    found = ShardSnapshot(shard)
    for generation, name in enumerate(named, 1):
        found.with_sstable(generation, name)
    return found


def _names(plan):
    return plan.to_table()["name"].to_pylist()


def test_the_newest_row_of_each_key_is_found(dataset):
    """The nearest first; a deleted key hides older rows and is no row itself."""
    snapshots = [_snapshot(SHARD, "g1", "g2"), _snapshot(OTHER, "o1")]
    plan = LsmVectorSearchPlanner(dataset, snapshots, "vec").plan_search(ORIGIN)
    found = plan.to_table()

    assert ["g28", "g27", "o12", "b3", "b4", "b5", "g11"] == found["name"].to_pylist()
    assert [0.0625, 0.25, 6.25, 9, 16, 25, 81] == found["_distance"].to_pylist()
    assert SCHEMA.append(pa.field("_distance", pa.float32())) == plan.schema == found.schema
    assert SCHEMA == plan.dataset_schema
    assert "num_levels=4" in plan.explain()
    assert 7 == plan.to_reader().read_all().num_rows == plan.to_batches()[0].num_rows


def test_rows_without_an_index_hide_and_are_not_found(dataset):
    """Nor is anything by a metric that the index does not have."""
    planner = LsmVectorSearchPlanner(dataset, [_snapshot(OTHER, "u1")], "vec")

    assert ["b0", "b1", "b2", "b4", "b5"] == _names(planner.plan_search(ORIGIN))
    for metric in ("cosine", "dot", "hamming"):
        other = LsmVectorSearchPlanner(dataset, [], "vec", distance_type=metric)
        assert [] == _names(other.plan_search(ORIGIN))
    euclidean = LsmVectorSearchPlanner(dataset, [], "vec", distance_type="L2")
    assert ["b0"] == _names(euclidean.plan_search(ORIGIN, k=1))


def test_more_is_looked_for_where_rows_may_be_hidden(dataset):
    """Without it what is hidden leaves a gap; the newest level needs none."""
    planner = LsmVectorSearchPlanner(
        dataset, [_snapshot(SHARD, "g1", "g2")], "vec", filter="id < 6"
    )

    assert ["g11"] == _names(planner.plan_search(ORIGIN, k=2))
    more = planner.plan_search(ORIGIN, k=2, overfetch_factor=1.1)
    assert ["b2", "g11"] == _names(more)


def test_a_filter_is_asked_of_each_level(dataset):
    """A newer row that does not pass hides an older one that does."""
    planner = LsmVectorSearchPlanner(
        dataset, [_snapshot(SHARD, "g1")], "vec", filter="name like 'b%'"
    )

    assert ["b0", "b2"] == _names(planner.plan_search(ORIGIN, k=3))


def test_columns_and_keys_may_be_chosen(dataset):
    """What is chosen stands first, the distance last; rows of the log have no ids."""
    planner = LsmVectorSearchPlanner(dataset, [_snapshot(SHARD, "g2")], "vec")

    def shown(*columns):
        return planner.plan_search(ORIGIN, columns=columns).to_table()

    assert ["name", "id", "_distance"] == shown("name", "name").schema.names
    assert ["_distance", "id"] == shown("_distance").schema.names
    assert [None, None, 1, 2, 3, 4, 5] == shown("_rowid")["_rowid"].to_pylist()
    every = LsmVectorSearchPlanner(dataset, [_snapshot(SHARD, "g1")], "vec", pk_columns=[])
    assert ["b0", "b1", "b2"] == _names(every.plan_search(ORIGIN, k=3))
    named = LsmVectorSearchPlanner(dataset, [_snapshot(SHARD, "g1")], "vec", pk_columns=["name"])
    assert ["b0", "b1", "b2"] == _names(named.plan_search(ORIGIN, k=3))


def test_distances_are_exact_where_it_is_asked(tmp_path):
    """Or where there is a generation; else they are those of the codes."""
    source = np.random.default_rng(0)
    vectors = source.normal(size=(300, 2)).astype(np.float32)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 2)
    rows = pa.table([range(300), column, ["b"] * 300], schema=SCHEMA)
    made = pylanceref.write_dataset(rows, tmp_path / "t")
    made = made.create_index("vec", "IVF_SQ", num_partitions=1)
    _indexed(_rows({900: 99}, "g"), tmp_path / "t" / "_mem_wal" / SHARD / "g")
    exact = np.sort((vectors**2).sum(1))[:5]

    def near(snapshots, **asked):
        plan = LsmVectorSearchPlanner(made, snapshots, "vec").plan_search(ORIGIN, k=5, **asked)
        return plan.to_table()["_distance"].to_numpy()

    assert not np.allclose(exact, near([]), rtol=1e-6)
    for found in (near([], refine_base_table=True), near([_snapshot(SHARD, "g")])):
        assert np.allclose(exact, found, rtol=1e-6)


def test_a_query_that_is_none_is_refused(dataset, tmp_path):
    """Numbers, vectors and names are checked; null is 0, what is no number is near nothing."""
    planner = LsmVectorSearchPlanner(dataset, [], "vec")
    for asked, kind in (
        ({"k": 0}, ValueError),
        ({"k": 2.5}, TypeError),
        ({"nprobes": 0}, ValueError),
        ({"overfetch_factor": 0.5}, ValueError),
        ({"overfetch_factor": float("inf")}, ValueError),
        ({"columns": "id"}, TypeError),
        ({"columns": ["zz"]}, EditFailed),
    ):
        with pytest.raises(kind):
            planner.plan_search(ORIGIN, **asked)
    for query, kind in (
        ([0.0, 0.0], TypeError),
        (pa.array([0.0, 0.0]), ValueError),
        (pa.array([0.0], pa.float32()), ValueError),
    ):
        with pytest.raises(kind):
            planner.plan_search(query)
    assert ["b0"] == _names(planner.plan_search(pa.array([0, None], pa.float32()), k=1))
    assert [] == _names(planner.plan_search(pa.array([0, float("nan")], pa.float32())))
    octets = pa.table({"id": [1], "vec": pa.array([[1, 2]], pa.list_(pa.uint8(), 2))})
    made = pylanceref.write_dataset(octets, tmp_path / "octets")
    with pytest.raises(QueryRefused, match="the query vector is Float32"):
        LsmVectorSearchPlanner(made, [], "vec", ["id"]).plan_search(ORIGIN)


def test_what_cannot_be_searched_is_refused(dataset, tmp_path):
    """A column that is not there or no vector, another metric, no key, no folder."""
    for given, kind, words in (
        ({"vector_column": "zz"}, ValueError, "not found in dataset schema"),
        ({"vector_column": "name"}, ValueError, "not a FixedSizeList"),
        ({"distance_type": "zz"}, ValueError, "Unknown distance_type"),
        ({"filter": "zz = 1"}, QueryRefused, "No field named zz"),
        ({"pk_columns": ["zz"]}, EditFailed, "Field 'zz' not found"),
    ):
        with pytest.raises(kind, match=words):
            LsmVectorSearchPlanner(dataset, [], **{"vector_column": "vec", **given})
    plain = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "plain")
    with pytest.raises(OperationRefused, match="no primary key"):
        LsmVectorSearchPlanner(plain, [], "a")
    with pytest.raises(NotFound):
        LsmVectorSearchPlanner(dataset, [_snapshot(SHARD, "zz")], "vec").plan_search(ORIGIN)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("writer_of_log", ["lance", "pylanceref"])
def test_the_oracle_finds_the_same(tmp_path, seed, writer_of_log):
    """In a table and a log that either wrote, of vectors that are not equally near."""
    import lance
    import lance.mem_wal

    source, numbers = random.Random(seed), np.random.default_rng(seed)

    def rows(keys):
        vectors = pa.array(numbers.normal(size=2 * len(keys)).astype(np.float32))
        column = pa.FixedSizeListArray.from_arrays(vectors, 2)
        return pa.table([keys, column, [f"{one}" for one in keys]], schema=SCHEMA)

    metric = source.choice(["l2", "cosine", "dot"])
    made = {"lance": lance, "pylanceref": pylanceref}[writer_of_log].write_dataset(
        rows(range(300)), tmp_path / "t"
    )
    kind = source.choice(["IVF_FLAT", "IVF_SQ"])
    made = made.create_index("vec", kind, metric=metric, num_partitions=2, name="near")
    made.initialize_mem_wal(maintained_indexes=["near"])
    for _ in range(2):
        with made.mem_wal_writer(SHARD) as writer:
            writer.put(rows(source.sample(range(330), 20)))
            writer.delete(pa.table({"id": source.sample(range(300), 3)}))
    folders = sorted(
        (tmp_path / "t" / "_mem_wal" / SHARD).glob("*_gen_*"), key=lambda p: p.name[-1]
    )
    query = pa.array(numbers.normal(size=2).astype(np.float32))
    for words in (None, "id % 2 = 0"):
        for asked in (
            {"k": 5, "nprobes": 1},
            {"k": 40, "columns": ["_distance", "name"]},
            {"k": 7, "overfetch_factor": 2.5, "refine_base_table": True},
        ):
            found = []
            for library in (lance, pylanceref):
                snapshot = library.mem_wal.ShardSnapshot(SHARD)
                for generation, folder in enumerate(folders, 1):
                    snapshot = snapshot.with_sstable(generation, folder.name)
                planner = library.mem_wal.LsmVectorSearchPlanner(
                    library.dataset(made.uri), [snapshot], "vec", distance_type=metric, filter=words
                )
                found.append(planner.plan_search(query, **asked).to_table())
            theirs, ours = found
            near = [one["_distance"].to_numpy() for one in found]
            assert theirs.schema == ours.schema
            assert theirs.drop("_distance") == ours.drop("_distance")
            assert np.allclose(*near, rtol=1e-4, atol=1e-6)
