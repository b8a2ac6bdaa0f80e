"""Indices builder: models are trained apart, and indices built with them."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from pylanceref.errors import ColumnMissing, ColumnRefused
from pylanceref.indices import IndicesBuilder, IvfModel

DIM, ROWS = 16, 600


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Vectors around eight points far apart, in two fragments."""
    random = np.random.default_rng(4)
    points = random.normal(size=(8, DIM)) * 20
    vectors = (points[np.arange(ROWS) % 8] + random.normal(size=(ROWS, DIM))).astype("f4")
    table = pa.table(
        {"v": pa.FixedSizeListArray.from_arrays(vectors.ravel(), DIM), "n": range(ROWS)}
    )
    uri = str(tmp_path_factory.mktemp("v") / "t")
    return pylanceref.write_dataset(table, uri, max_rows_per_file=ROWS // 2)


def test_centroids_are_trained(dataset):
    """As many as were asked for, in the type of the column; by default the root of the rows."""
    ivf = IndicesBuilder(dataset, "v").train_ivf(8, sample_rate=16)
    assert (ivf.num_partitions, ivf.distance_type) == (8, "l2")
    assert ivf.centroids.type == pa.list_(pa.float32(), DIM)
    assert IndicesBuilder(dataset, "v").train_ivf(sample_rate=2).num_partitions == 24
    one = IndicesBuilder(dataset, "v").train_ivf(4, sample_rate=16, fragment_ids=[1])
    assert one.num_partitions == 4


def test_codewords_are_trained_and_used(dataset):
    """Both models go to every segment; what is near is found with them."""
    builder = IndicesBuilder(dataset, "v")
    ivf = builder.train_ivf(4, sample_rate=2)
    codebook = builder.train_pq(ivf, 8, sample_rate=2).codebook
    assert len(codebook) == 256
    models = {"ivf_centroids": ivf.centroids, "pq_codebook": codebook}
    made = dataset.create_index(
        "v", "IVF_PQ", replace=True, num_partitions=4, num_sub_vectors=8, **models
    )
    index = made._snapshot.indices.known[0]
    kept = index.open(index.segments[0]).index.auxiliary.quantizer.quantizer.codebook
    given = codebook.flatten().to_numpy()
    np.testing.assert_array_equal(kept.ravel(), given)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda b: b.train_ivf(500, sample_rate=2), ValueError, "not enough rows"),
        (lambda b: b.train_ivf(4, sample_rate=1), ValueError, "sample_rate"),
        (lambda b: b.train_ivf("4"), TypeError, "num_partitions"),
        (lambda b: b.train_ivf(4, sample_rate=2, distance_type="x"), ValueError, "Distance"),
        (lambda b: b.train_ivf(4, sample_rate=2, fragment_ids=[9]), ValueError, "Fragment id"),
        (lambda b: b.train_ivf(4, accelerator="cuda"), NotImplementedError, "accelerator"),
        (lambda b: b.train_pq(None, 5), ValueError, "divisible"),
        (lambda b: b.train_pq(None, 0), ValueError, "divisible"),
        (lambda b: b.train_pq(None, 17), ValueError, "divisible"),
        (lambda b: b.train_pq(None, 4, sample_rate=256), ValueError, "PQ codebook"),
    ],
)
def test_wrong_arguments_are_refused(dataset, call, error, text):
    """With what pylance raises."""
    with pytest.raises(error, match=text):
        call(IndicesBuilder(dataset, "v"))


def test_columns_without_vectors_are_refused(dataset):
    """A missing column and one of numbers are refused as pylance refuses them."""
    with pytest.raises(ColumnMissing):
        IndicesBuilder(dataset, "w")
    with pytest.raises(ColumnRefused, match="must be FixedSizeListArray"):
        IndicesBuilder(dataset, "n")


def test_codewords_of_a_few_vectors_are_trained_too(tmp_path):
    """Where most rows are null some are alike; where all are there is nothing to learn from."""
    for vectors in (5, 0):
        rows = [[float(i)] * 8 if i < vectors else None for i in range(64)]
        table = pa.table({"v": pa.array(rows, pa.list_(pa.float32(), 8))})
        builder = IndicesBuilder(pylanceref.write_dataset(table, tmp_path / f"{vectors}"), "v")
        ivf = IvfModel(pa.array([[0.0] * 8], pa.list_(pa.float32(), 8)), "l2")
        if vectors:
            model = builder.train_pq(ivf, 2, sample_rate=2, num_bits=4)
            assert (16, 8) == (len(model.codebook), model.dimension)
            continue
        with pytest.raises(ValueError, match="without vectors"):
            builder.train_pq(ivf, 2, sample_rate=2, num_bits=4)
