"""Pairs of rows of which an index over vectors keeps nearly the same."""

from __future__ import annotations

import uuid

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound, QueryRefused
from pylanceref.vector import find_duplicate_pairs, find_duplicate_pairs_in_partition

EVERY = 1e9
"""More than any two rows are apart."""

NEXT = 1 << 32
"""Row id of the first row of the second fragment."""

STORAGES = {
    "IVF_FLAT": {},
    "IVF_SQ": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_RQ": {"num_bits": 5},
    "IVF_HNSW_SQ": {},
}


def _fixed(values) -> pa.Array:
    """Return rows of numbers as lists of fixed size."""
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _drawn(num_rows=300, dimension=16, dtype="f4"):
    """Return vectors, the last third of which are near the first, a few of them the same."""
    source = np.random.default_rng(5)
    values = source.normal(size=(num_rows, dimension)) + 0.3
    third = num_rows // 3
    values[-third:] = values[:third] + source.normal(size=(third, dimension)) * 0.01
    values[-5:] = values[third - 5 : third]
    return values.astype(dtype)


def _table(values) -> pa.Table:
    return pa.table({"i": range(len(values)), "v": _fixed(values)})


def _written(root, values, **options) -> pylanceref.LanceDataset:
    return pylanceref.write_dataset(_table(values), str(root / "t"), **options)


def _triples(reader) -> list[tuple[int, int, float]]:
    return list(zip(*reader.read_all().to_pydict().values(), strict=True))


LINE = np.array([[0, 0], [50, 0], [1, 0], [50, 1], [0, 2], [50, 0]], np.float32)
"""Vectors around two places."""


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """The same rows twice, each time with a segment of its own."""
    made = _written(tmp_path_factory.mktemp("pairs"), LINE)
    made.create_index("v", index_type="IVF_FLAT", num_partitions=2)
    made.create_scalar_index("i", "BTREE")
    made.insert(_table(LINE))
    made.optimize.optimize_indices(["v_idx"], num_indices_to_merge=0)
    return made


def _segments(dataset, name="v_idx") -> list[str]:
    (found,) = (one.segments for one in dataset.describe_indices() if one.name == name)
    return [one.uuid for one in found]


def test_pairs_of_all_partitions(line):
    """Near rows of one partition of one segment are pairs, from the rows of others they are not."""
    reader = find_duplicate_pairs(line, "v", 1.5)
    assert [("row_id_a", "uint64"), ("row_id_b", "uint64"), ("distance", "float")] == [
        (one.name, str(one.type)) for one in reader.schema
    ]
    assert not any(one.nullable for one in reader.schema)
    expected = {(0, 2, 1.0), (1, 3, 1.0), (1, 5, 0.0), (3, 5, 1.0)}
    again = {(a + NEXT, b + NEXT, far) for a, b, far in expected}
    found = _triples(reader)
    assert expected | again == set(found) and len(found) == 8
    assert all(a < NEXT for a, _, _ in found[:4])
    assert {(1, 5, 0.0), (NEXT + 1, NEXT + 5, 0.0)} == set(
        _triples(find_duplicate_pairs(line, "v", 0))
    )
    assert [] == _triples(find_duplicate_pairs(line, "v", -0.5))


def test_pairs_of_one_partition(line):
    """Those of all partitions of all segments, one behind the other, are those of the index."""
    whole = _triples(find_duplicate_pairs(line, "v", 5, memory_limit=0, max_concurrency=1))
    parts = [
        _triples(find_duplicate_pairs_in_partition(line, "v", segment, number, 5))
        for segment in map(uuid.UUID, _segments(line))
        for number in range(2)
    ]
    assert whole == [pair for part in parts for pair in part]
    assert [3, 3, 3, 3] == list(map(len, parts))


def test_rows_that_are_gone_are_in_none(tmp_path):
    """Also where a compaction moved the others."""
    made = _written(tmp_path, LINE, max_rows_per_file=3)
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1)
    made.delete("i = 1 or i = 4")
    assert {(0, 2, 1.0), (NEXT, NEXT + 2, 1.0)} == set(
        _triples(find_duplicate_pairs(made, "v", 1.5))
    )
    made.optimize.compact_files(target_rows_per_fragment=100)
    last = max(one.fragment_id for one in made.get_fragments()) * NEXT
    assert {(last, last + 1, 1.0), (last + 2, last + 3, 1.0)} == set(
        _triples(find_duplicate_pairs(made, "v", 1.5))
    )


def test_a_row_of_several_vectors_is_no_pair(tmp_path):
    """Of two rows there are as many pairs as they have near vectors."""
    lists = [[[1, 0], [1, 0]], [[2, 0], [0, 1]], [[-1, 0]]]
    column = pa.array(lists, pa.list_(pa.list_(pa.float32(), 2)))
    made = pylanceref.write_dataset(pa.table({"v": column}), tmp_path / "t")
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1, metric="cosine")
    assert [(0, 1, 0.0), (0, 1, 0.0)] == _triples(find_duplicate_pairs(made, "v", 0.5))
    far = _triples(find_duplicate_pairs(made, "v", 2))
    assert [(0, 1), (0, 1), (0, 1), (0, 1), (0, 2), (0, 2), (1, 2), (1, 2)] == sorted(
        one[:2] for one in far
    )


def test_what_is_not_built_has_no_pairs(tmp_path):
    """A segment without files has no partitions."""
    made = _written(tmp_path, LINE[:0])
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1, train=False)
    assert [] == _triples(find_duplicate_pairs(made, "v", 1))
    with pytest.raises(QueryRefused, match=r"partition_id=0 out of range 0\.\.0"):
        find_duplicate_pairs_in_partition(made, "v", _segments(made)[0], 0, 1)


def _refusals(module, dataset):
    """Yield what both refuse: what to do, and what is told."""
    both, one = module.find_duplicate_pairs, module.find_duplicate_pairs_in_partition
    segment, strange = _segments(dataset)[0], uuid.uuid4()
    nan = float("nan")
    yield lambda: both(dataset, "x", 1), ValueError, "not in schema"
    yield lambda: both(dataset, "V", 1), ValueError, "not in schema"
    yield lambda: both(dataset, "", 1), ValueError, "not in schema"
    yield lambda: both(dataset, "i", 1), ValueError, "exactly one vector index, found 0"
    yield lambda: both(dataset, "v", nan), ValueError, "must be finite, got NaN"
    yield lambda: both(dataset, "v", -1e300), ValueError, "must be finite, got -inf"
    yield lambda: both(dataset, "v", "1"), TypeError, "must be real number, not str"
    yield lambda: both(dataset, 5, 1), TypeError, "argument 'column'"
    yield lambda: both(dataset, "v", nan, max_concurrency=0), ValueError, "must be positive"
    yield lambda: both(dataset, "v", 1, max_concurrency=-1), OverflowError, None
    yield lambda: both(dataset, "v", 1, max_concurrency=1.5), TypeError, "integer"
    yield lambda: both(dataset, "v", 1, memory_limit=-1), OverflowError, None
    yield lambda: both(dataset, "v", 1, memory_limit=2**64), OverflowError, None
    yield lambda: one(dataset, "v", strange, 9, 1), ValueError, f"{strange} is not an active segm"
    yield lambda: one(dataset, "v", "xx", 9, nan), ValueError, "invalid segment_id 'xx'"
    yield lambda: one(dataset, "v", segment, 2, 1), ValueError, r"_id=2 out of range 0\.\.2 for"
    yield lambda: one(dataset, "v", segment, -1, 1), OverflowError, None
    yield lambda: one(dataset, "v", segment, "0", 1), TypeError, "integer"
    yield lambda: one(dataset, "v", segment, 9, nan), ValueError, "must be finite"


def test_what_has_no_pairs_is_refused(line):
    """Columns, thresholds, segments and partitions that there are not."""
    import pylanceref.vector

    for act, kind, told in _refusals(pylanceref.vector, line):
        with pytest.raises(kind, match=told):
            act()
    with pytest.raises(NotFound, match="not in schema"):
        find_duplicate_pairs(line, "x", 1)


def test_one_index_for_all_rows(tmp_path):
    """Not several, and none that lacks rows; those it has are paired partition by partition."""
    made = _written(tmp_path, LINE)
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1)
    made.insert(_table(LINE))
    with pytest.raises(QueryRefused, match="'v' does not cover all fragments"):
        find_duplicate_pairs(made, "v", 1)
    found = find_duplicate_pairs_in_partition(made, "v", _segments(made)[0], 0, 0)
    assert [(1, 5, 0.0)] == _triples(found)
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1, name="other")
    with pytest.raises(QueryRefused, match="exactly one vector index, found 2"):
        find_duplicate_pairs(made, "v", 1)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_pairs_are_those_of_what_codes_stand_for(tmp_path, storage, metric):
    """Nearly those of the vectors themselves, in float64; equal rows are first, where any are."""
    values = _drawn()
    made = _written(tmp_path, values)
    made.create_index("v", index_type=storage, num_partitions=1, metric=metric, **STORAGES[storage])
    found = _triples(find_duplicate_pairs(made, "v", EVERY))
    assert len({frozenset(one[:2]) for one in found}) == len(found) == 300 * 299 // 2
    one, other, near = map(np.array, zip(*found, strict=True))
    left, right = values[one.astype(int)].astype("f8"), values[other.astype(int)].astype("f8")
    if metric == "cosine":
        left, right = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (left, right))
    products = np.einsum("ij,ij->i", left, right)
    exact = ((left - right) ** 2).sum(axis=1) if metric == "l2" else 1 - products
    if storage == "IVF_FLAT":
        np.testing.assert_allclose(near, exact, rtol=1e-6, atol=1e-6)
    assert np.corrcoef(near, exact)[0, 1] > 0.97
    limit = float(np.sort(near)[400])
    chosen = [one for one in found if one[2] <= limit]
    assert chosen == _triples(find_duplicate_pairs(made, "v", limit)) and len(chosen) >= 400
    planted = [far for a, b, far in found if {a, b} in [{95 + n, 295 + n} for n in range(5)]]
    assert 5 == len(planted)
    assert metric == "dot" or not any(planted)


def _agree(oracle, path: str, column="v", share=0.0, every=EVERY) -> int:
    """Check that both give the same batches of all pairs and of some; return how many there are.

    Distances may differ by a millionth, and by a `share` of the greatest.
    """
    ours, theirs = (
        list(module.vector.find_duplicate_pairs(module.dataset(path), column, every))
        for module in (pylanceref, oracle)
    )
    if not theirs:
        assert not ours
        return 0
    assert [len(one) for one in theirs] == [len(one) for one in ours]
    mine, other = pa.Table.from_batches(ours), pa.Table.from_batches(theirs)
    assert other.schema == mine.schema
    assert other.select([0, 1]) == mine.select([0, 1])
    near, far = mine["distance"].to_numpy(), other["distance"].to_numpy()
    room = share * float(np.abs(far).max())
    np.testing.assert_allclose(near, far, rtol=1e-6, atol=room)
    limit = float(np.sort(near)[len(near) // 50])
    some, theirs = (
        module.vector.find_duplicate_pairs(module.dataset(path), column, limit).read_all()
        for module in (pylanceref, oracle)
    )
    sure = [
        [one[:2] for one in _rows(table) if one[2] < limit - room - 1e-6 * abs(limit)]
        for table in (some, theirs)
    ]
    all_ = [{one[:2] for one in _rows(table)} for table in (some, theirs)]
    assert set(sure[0]) <= all_[1] and set(sure[1]) <= all_[0]
    return len(mine)


def _rows(table):
    return list(zip(*table.to_pydict().values(), strict=True))


KINDS = [
    ("IVF_FLAT", {}, 0),
    ("IVF_SQ", {}, 0),
    ("IVF_PQ", {"num_sub_vectors": 4}, 0),
    ("IVF_PQ", {"num_sub_vectors": 4, "num_bits": 4}, 0),
    ("IVF_RQ", {"num_bits": 1}, 2e-6),
    ("IVF_RQ", {"num_bits": 5}, 2e-6),
    ("IVF_RQ", {"num_bits": 9}, 2e-6),
    ("IVF_HNSW_SQ", {}, 0),
]
"""Types, their parameters, and how much of the greatest distance the oracle loses by rounding."""


@pytest.mark.oracle
@pytest.mark.parametrize("by", ["lance", "pylanceref"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize(("kind", "parameters", "share"), KINDS)
def test_the_oracle_has_the_same_pairs(tmp_path, kind, parameters, share, metric, by):
    """Of its own index and of ours, batch by batch; it sums products of dot in float32."""
    import lance.vector

    path = _written(tmp_path, _drawn()).uri
    writer = {"lance": lance, "pylanceref": pylanceref}[by]
    writer.dataset(path).create_index(
        "v", index_type=kind, metric=metric, num_partitions=3, **parameters
    )
    assert _agree(lance, path, share=4e-6 if metric == "dot" else share) > 10_000


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["f2", "f8"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize(("kind", "parameters", "share"), [KINDS[0], KINDS[2]])
def test_other_types_of_numbers(tmp_path, dtype, kind, parameters, share, metric):
    """What is summed of float64 is float64 there too."""
    import lance.vector

    path = _written(tmp_path, _drawn(dtype=dtype)).uri
    lance.dataset(path).create_index(
        "v", index_type=kind, metric=metric, num_partitions=2, **parameters
    )
    assert _agree(lance, path, share=4e-6 if metric == "dot" else share) > 10_000


@pytest.mark.oracle
def test_bytes(tmp_path):
    """Bits are counted."""
    import lance.vector

    values = np.random.default_rng(2).integers(0, 4, (200, 12), np.uint8)
    made = _written(tmp_path, values)
    made.create_index("v", index_type="IVF_FLAT", metric="hamming", num_partitions=2)
    assert _agree(lance, made.uri) > 5_000


@pytest.mark.oracle
def test_several_vectors(tmp_path):
    """Pairs of rows as often as they have near vectors."""
    import lance.vector

    values = _drawn(300)
    column = pa.ListArray.from_arrays(pa.array(range(0, 301, 3), pa.int32()), _fixed(values))
    made = pylanceref.write_dataset(pa.table({"v": column}), str(tmp_path / "t"))
    made.create_index("v", index_type="IVF_FLAT", metric="cosine", num_partitions=1)
    assert 300 * 299 // 2 - 300 == _agree(lance, made.uri)


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
def test_rows_that_move(tmp_path, stable):
    """Deleted rows, moved rows, several segments, and a column of a struct."""
    import lance.vector

    values = _drawn(200)
    table = _table(values).append_column("s", pa.StructArray.from_arrays([_fixed(values)], ["v"]))
    path = str(tmp_path / "t")
    made = pylanceref.write_dataset(table, path, max_rows_per_file=50, enable_stable_row_ids=stable)
    made.create_index("v", index_type="IVF_FLAT", num_partitions=2)
    made.create_index("s.v", index_type="IVF_FLAT", num_partitions=2)
    made.delete("i % 7 = 0")
    assert _agree(lance, path) > 4_000 and _agree(lance, path, "s.`v`") > 4_000
    for _ in range(2):
        lance.write_dataset(table.slice(40, 120), path, mode="append")
        lance.dataset(path).optimize.optimize_indices(num_indices_to_merge=0)
    assert 3 == len(_segments(pylanceref.dataset(path)))
    assert _agree(lance, path) > 8_000
    later = {} if stable else {"defer_index_remap": True}
    lance.dataset(path).optimize.compact_files(target_rows_per_fragment=1000, **later)
    assert _agree(lance, path) > 8_000
    lance.dataset(path).delete("true")
    assert 0 == _agree(lance, path)


@pytest.mark.oracle
def test_wide_rows_and_many_rows(tmp_path):
    """Batches have fewer rows of wide vectors, and 8192 of others, whichever of them are left."""
    import lance.vector

    (wide, tall) = (tmp_path / "wide", tmp_path / "tall")
    made = _written(wide, _drawn(300, 8192))
    made.create_index("v", index_type="IVF_FLAT", num_partitions=1)
    assert 300 * 299 // 2 == _agree(lance, made.uri)
    made = _written(tall, _drawn(8_400, 4))
    made.create_index("v", index_type="IVF_SQ", num_partitions=1)
    made.delete("i < 300 or i % 3 = 0")
    assert _agree(lance, made.uri, every=0.02) > 1_000


@pytest.mark.oracle
def test_the_oracle_refuses_the_same(line, tmp_path):
    """By the same errors and words; and an index of one file."""
    import lance.vector

    theirs = lance.dataset(line.uri)
    for act, kind, told in _refusals(lance.vector, theirs):
        with pytest.raises(kind, match=told):
            act()
    path = _written(tmp_path, _drawn()).uri
    lance.dataset(path).create_index(
        "v", "IVF_PQ", num_partitions=2, num_sub_vectors=4, index_file_version="LEGACY"
    )
    for module in (lance, pylanceref):
        with pytest.raises(ValueError, match="requires a current-format vector index; rebuild"):
            module.vector.find_duplicate_pairs(module.dataset(path), "v", 1)
