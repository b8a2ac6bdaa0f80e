"""RQ storage."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pylanceref
import pytest
from lanceref.core.errors import FormatError, OperationRefused, Place
from lanceref.index.vector.rq_rows import BLOCKED, ERROR, FOLLOWING, Layout
from lanceref.index.vector.rq_storage import RQ, parse, rotated, train
from lanceref.index.vector.storage import Model, tensor_of
from lanceref.index.vector.vector_file import TYPES
from lanceref.kernels.distance import distances, normalized
from lanceref.kernels.rabitq_codes import codes_in
from lanceref.kernels.rabitq_estimate import MatrixRotation, draw_rotation

from .agreement import agree, built, clustered
from .indexed import near, opened, write

PLACE = Place("auxiliary.idx", 0)
DIM = 16
RANDOM = np.random.default_rng(11)
SIGNS = RANDOM.integers(0, 256, 4 * DIM // 8).tolist()
SAID = {
    "rotate_mat_position": None,
    "fast_rotation_signs": SIGNS,
    "rotation_type": "fast",
    "code_dim": DIM,
    "num_bits": 5,
    "packed": True,
    "query_estimator": "raw_query",
}
BOUNDED = 0.9
"""Share of the rows that is found at least: the oracle leaves out what the error bound does."""

MATRIX = np.linalg.qr(RANDOM.normal(size=(DIM, DIM)))[0].astype(np.float32)
OLD = {"rotate_mat_position": 2, "num_bits": 1, "packed": False}


def model_of(metric="l2", dtype=np.float32):
    """Return two centroids."""
    return Model(metric, RANDOM.normal(size=(2, DIM)).astype(dtype))


def file_of(names=(), matrix=MATRIX):
    """Return a file with columns and a matrix in its global buffer 2."""
    return SimpleNamespace(names=list(names), message=lambda number, kind: tensor_of(matrix))


def drawn(num_rows=70):
    """Return vectors, and their partitions."""
    vectors = RANDOM.normal(size=(num_rows, DIM)).astype(np.float32)
    return vectors, np.arange(num_rows) % 2


def test_what_a_file_says_comes_back():
    """Metadata make the same quantizer, and are what other writers say."""
    read = parse(SAID, file_of([ERROR, BLOCKED]), model_of(), PLACE)
    assert read.metadata() == SAID
    assert read.buffers() == []


def test_older_files_have_a_matrix_and_the_older_estimator():
    """Both are meant where nothing is said."""
    read = parse(OLD, file_of(), model_of(), PLACE)
    np.testing.assert_array_equal(read.rotation.matrix, MATRIX)
    assert read.layout == Layout(DIM, 1, residual=True, errors=False)
    assert read.buffers() == [tensor_of(MATRIX).SerializeToString()]
    again = parse(read.metadata(), file_of(), model_of(), PLACE)
    assert again.metadata() == read.metadata()


@pytest.mark.parametrize(
    ("said", "change", "clause"),
    [
        (SAID, {"num_bits": 0}, "bits"),
        (SAID, {"num_bits": 10}, "bits"),
        (SAID, {"num_bits": None}, "metadata"),
        (SAID, {"num_bits": 1}, "columns"),
        (SAID, {"code_dim": 8}, "rotation"),
        (SAID, {"code_dim": None}, "metadata"),
        (SAID, {"packed": None}, "metadata"),
        (SAID, {"rotation_type": "slow"}, "rotation"),
        (SAID, {"fast_rotation_signs": None}, "rotation"),
        (SAID, {"fast_rotation_signs": SIGNS[:-1]}, "rotation"),
        (SAID, {"fast_rotation_signs": [*SIGNS[:-1], 256]}, "rotation"),
        (SAID, {"fast_rotation_signs": [*SIGNS[:-1], "1"]}, "rotation"),
        (SAID, {"query_estimator": "other"}, "estimator"),
        (SAID, {"query_estimator": "residual_query"}, "estimator"),
        (OLD, {"rotate_mat_position": None}, "metadata"),
        (OLD, {"num_bits": 2}, "estimator"),
    ],
)
def test_what_a_file_may_not_say(said, change, clause):
    """Each is refused under its clause."""
    with pytest.raises(FormatError) as caught:
        parse({**said, **change}, file_of([BLOCKED]), model_of(), PLACE)
    assert caught.value.clause == f"L.index.vector.rq.{clause}"


def test_a_matrix_of_another_size():
    """A matrix has a row and a column for each component."""
    with pytest.raises(FormatError) as caught:
        parse(OLD, file_of(matrix=MATRIX[:8]), model_of(), PLACE)
    assert caught.value.clause == "L.index.vector.rq.rotation"


def test_a_dimension_that_is_no_multiple_of_eight():
    """Nothing is read of the rest."""
    with pytest.raises(FormatError) as caught:
        parse({}, file_of(), Model("l2", np.zeros((1, 12), np.float32)), PLACE)
    assert caught.value.clause == "L.index.vector.rq.dimension"


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("num_bits", [1, 4])
def test_rows_come_back_from_a_file(packed, num_bits):
    """Packed columns of a partition are the columns again."""
    quantizer = train(None, model_of(), {"num_bits": num_bits, "skip_transpose": not packed})
    assert quantizer.packed_signs is packed
    rows = quantizer.encode(*drawn())
    assert list(rows) == [field.name for field in quantizer.fields]
    back = quantizer.unpack(quantizer.pack(rows))
    for name, column in rows.items():
        np.testing.assert_array_equal(back[name], column)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_distances_come_near(metric, dtype):
    """With nine bits, distances are those of the vectors nearly; so are those of points."""
    model = model_of(metric, dtype)
    quantizer = train(None, model, {"num_bits": 9})
    vectors = drawn()[0].astype(dtype)
    stored = quantizer.open_rows(quantizer.encode(vectors, np.zeros(70, int)), 0)
    query = RANDOM.normal(size=DIM).astype(dtype)
    wanted = distances(query[None], vectors, model.of_vectors)[0]
    found = stored.score(query, "accurate")
    np.testing.assert_allclose(found(slice(None)), wanted, atol=0.25)
    np.testing.assert_array_equal(found(np.array([3, 1])), found(slice(None))[[3, 1]])
    of_vectors = "dot" if metric == "dot" else "l2"
    points, wide = stored.points(), vectors.astype(np.float32)
    np.testing.assert_allclose(
        distances(points, points, of_vectors), distances(wide, wide, of_vectors), atol=0.4
    )


def test_a_fast_query_uses_signs_alone():
    """It is as far off as with one bit, the accurate one is the nearest."""
    quantizer = train(None, model_of(), {"num_bits": 5})
    vectors, _ = drawn(640)
    stored = quantizer.open_rows(quantizer.encode(vectors, np.zeros(640, int)), 0)
    query = RANDOM.normal(size=DIM).astype(np.float32)
    wanted = distances(query[None], vectors, "l2")[0]
    fast, normal, accurate = (
        np.abs(stored.score(query, mode)(slice(None)) - wanted).mean()
        for mode in ("fast", "normal", "accurate")
    )
    assert fast > 4 * normal
    assert normal > 0.99 * accurate


@pytest.mark.parametrize("num_bits", [1, 2, 5, 9])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_the_nearest_are_among_those_that_may_be(metric, num_bits):
    """With the distances that all rows have; of more than one bit the other side is left alone."""
    quantizer = train(None, model_of(metric), {"num_bits": num_bits})
    random = np.random.default_rng(num_bits)
    query = 10 * random.normal(size=DIM).astype(np.float32)
    vectors = query + random.normal(size=(640, DIM)).astype(np.float32)
    vectors[::2] *= -1
    stored = quantizer.open_rows(quantizer.encode(vectors, np.zeros(640, int)), 0)
    kept = random.random(640) < 0.9
    for mode in ("fast", "normal", "accurate"):
        every = stored.score(query, mode)(slice(None))
        for mask in (kept, np.ones(640, np.bool_)):
            rows, near = stored.nearest(query, mode, mask, 7)
            assert mask[rows].all()
            np.testing.assert_allclose(near, every[rows], rtol=1e-5, atol=1e-2)
            np.testing.assert_allclose(
                np.sort(near)[:7], np.sort(every[mask])[:7], rtol=1e-5, atol=1e-5
            )
            all_ = num_bits == 1 or mode != "normal"
            assert len(rows) == mask.sum() if all_ else (rows % 2).all()


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_the_older_estimator(metric):
    """Rows with a matrix and the residual of the query have distances by signs that come near."""
    model = model_of(metric)
    layout = Layout(DIM, 1, residual=True, errors=False)
    quantizer = rotated(model, MatrixRotation(MATRIX), layout, packed=False)
    vectors, partitions = drawn(400)
    rows = quantizer.encode(vectors, partitions)
    own = {name: column[partitions == 1] for name, column in rows.items()}
    stored = quantizer.open_rows(own, 1)
    query = RANDOM.normal(size=DIM).astype(np.float32)
    off = (
        stored.score(query, "normal")(slice(None))
        - distances(query[None], vectors[partitions == 1], metric)[0]
    )
    newer = train(None, model, {"num_bits": 1})
    rows = newer.encode(vectors[partitions == 1], np.ones(200, int))
    other = (
        newer.open_rows(rows, 1).score(query, "normal")(slice(None))
        - distances(query[None], vectors[partitions == 1], metric)[0]
    )
    assert np.abs(off).mean() < 2 * np.abs(other).mean()


def test_codes_that_follow_each_other_become_blocks():
    """Older rows are read, and written in blocks when they are joined."""
    newer = train(None, model_of(), {"num_bits": 4})
    rows = newer.encode(*drawn(40))
    codes = codes_in(rows[BLOCKED], DIM, 3)
    bits = np.unpackbits(codes[:, :, None], axis=2, count=3, bitorder="little")
    following = np.packbits(bits.reshape(40, -1), axis=1, bitorder="little")
    older = replace(newer, layout=replace(newer.layout, blocked=False))
    said = {name: column for name, column in rows.items() if name != BLOCKED}
    said[FOLLOWING] = following
    assert {field.name for field in older.fields} == set(said)
    joined = older.merge([newer])
    np.testing.assert_array_equal(joined.convert(older, said)[BLOCKED], rows[BLOCKED])
    assert joined.convert(newer, rows) is rows
    query = RANDOM.normal(size=DIM).astype(np.float32)
    one, two = (
        quantizer.open_rows(columns, 0).score(query, "normal")(slice(None))
        for quantizer, columns in ((older, said), (newer, rows))
    )
    np.testing.assert_array_equal(one, two)


def test_other_rotations_are_not_joined():
    """Another rotation, or another number of bits, makes other codes."""
    model = model_of()
    rotation = draw_rotation(DIM, RANDOM)
    ours = rotated(model, rotation, Layout(DIM, 4), packed=False)
    assert ours.merge([ours]).packed_signs
    for other in (
        rotated(model, draw_rotation(DIM, RANDOM), Layout(DIM, 4), packed=False),
        rotated(model, rotation, Layout(DIM, 3), packed=False),
        rotated(model, MatrixRotation(MATRIX), Layout(DIM, 4), packed=False),
    ):
        with pytest.raises(OperationRefused, match="differ"):
            ours.merge([other])


def test_parameters():
    """Five bits are usual; the dimension and the bits are checked as they are given."""
    assert train(None, model_of(), {}).layout.num_bits == 5
    with pytest.raises(ValueError, match="num_bits"):
        train(None, model_of(), {"num_bits": 10})
    with pytest.raises(ValueError, match="divisible by 8"):
        train(None, Model("l2", np.zeros((1, 12), np.float32)), {})


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [1, 5])
def test_both_answer_over_both(tmp_path, num_bits, metric, dtype):
    """Of an index by either, both find the same rows, as far away."""
    import lance

    values, queries = clustered(dtype)
    for name, by in (("a", lance), ("b", pylanceref)):
        path = built(tmp_path / name, values, by, "IVF_RQ", num_bits=num_bits, metric=metric)
        agree(path, lance, queries, BOUNDED)


@pytest.mark.oracle
@pytest.mark.parametrize("num_bits", [2, 3, 4, 6, 7, 8, 9])
def test_every_number_of_bits(tmp_path, num_bits):
    """Blocks of all widths are read and written, of a dimension that no block fills."""
    import lance

    values, queries = clustered("f4", dimension=72)
    for name, by in (("a", lance), ("b", pylanceref)):
        path = built(tmp_path / name, values, by, "IVF_RQ", num_bits=num_bits)
        for mode in ("fast", "normal", "accurate"):
            agree(path, lance, queries, BOUNDED, approx_mode=mode)


@pytest.mark.oracle
def test_signs_that_are_not_packed(tmp_path):
    """They are read and written row by row."""
    import lance

    values, queries = clustered("f4")
    for name, by in (("a", lance), ("b", pylanceref)):
        path = built(tmp_path / name, values, by, "IVF_RQ", skip_transpose=True)
        agree(path, lance, queries, BOUNDED)


@pytest.mark.oracle
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_rotations_by_a_matrix(tmp_path, monkeypatch, metric, residual):
    """The oracle finds what we do in files with a matrix, with either estimator."""
    import lance

    layout = Layout(DIM, 1, residual=residual, errors=not residual)

    def train(sample, model, parameters):
        return rotated(model, MatrixRotation(MATRIX), layout, packed=True)

    older = replace(TYPES["IVF_RQ"], storage=replace(RQ, train=train))
    monkeypatch.setitem(TYPES, "IVF_RQ", older)
    values, queries = clustered("f4")
    path = built(tmp_path, values, pylanceref, "IVF_RQ", metric=metric)
    agree(path, lance, queries, BOUNDED)


@pytest.mark.oracle
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [1, 4, 9])
def test_columns_are_those_of_the_oracle(tmp_path, num_bits, metric):
    """With its centroids and rotation, signs and codes are its own; factors, but for rounding.

    Factors near zero are differences of larger sums of float32: their rounding is of that size.
    """
    import lance

    values, _ = clustered("f4")
    path = built(tmp_path, values, lance, "IVF_RQ", num_bits=num_bits, metric=metric)
    index = opened(pylanceref.dataset(path))
    quantizer = index.auxiliary.quantizer
    if metric == "cosine":
        values = normalized(values)
    for number in range(3):
        keys = index.keys(number).astype(int)
        made = quantizer.encode(values[keys], np.full(len(keys), number))
        for name, column in index.rows(number).items():
            if column.dtype == np.uint8:
                np.testing.assert_array_equal(made[name], column)
            else:
                scale = float(np.abs(column).max())
                np.testing.assert_allclose(made[name], column, rtol=1e-4, atol=4e-6 * scale)


@pytest.mark.oracle
def test_the_oracle_leaves_out_rows_by_a_bound(tmp_path):
    """Rows that it finds when it is asked for more, with distances that are near enough.

    The rotation is drawn: by some no row is lost.
    """
    import lance

    random = np.random.default_rng(0)
    places = random.normal(size=(6, DIM)) * 2
    values = places[random.integers(0, 6, 600)] + random.normal(size=(600, DIM)) * 0.4
    values = values.astype("f4")
    dataset, lost = write(values, tmp_path), []
    for _ in range(6):
        made = {"metric": "dot", "num_partitions": 7, "num_bits": 5, "replace": True}
        dataset.create_index("v", "IVF_RQ", **made)
        oracle, count = lance.dataset(dataset.uri), 0
        for query in values[:50] + random.normal(size=(50, DIM)).astype("f4") * 0.2:
            wanted = near(dataset, query, k=40)[1]
            theirs, more = (near(oracle, query, k=k)[1] for k in (40, 400))
            np.testing.assert_allclose(wanted, more[:40], rtol=1e-4, atol=1e-4)
            assert all(np.array(theirs) >= np.array(wanted) - 1e-3)
            count += not np.allclose(theirs, wanted, rtol=1e-4, atol=1e-4)
        lost.append(count)
    assert 0 < sum(lost) < 100, lost
