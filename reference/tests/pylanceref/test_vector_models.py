"""Models of vector indices: trained apart, saved, loaded and used in steps."""

import json
from functools import partial

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.vector.rq_storage import model_text
from pylanceref.errors import ColumnRefused, KeyMissing
from pylanceref.file import LanceFileReader
from pylanceref.indices import IndicesBuilder, IvfModel, PqModel
from pylanceref.util import KMeans, validate_vector_index
from tests.index.vector.indexed import fixed
from tests.index.vector.indexed import table as vector_table

DIM, ROWS = 16, 600


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Vectors around eight points far apart, in two fragments."""
    random = np.random.default_rng(4)
    points = random.normal(size=(8, DIM)) * 20
    vectors = (points[np.arange(ROWS) % 8] + random.normal(size=(ROWS, DIM))).astype("f4")
    uri = str(tmp_path_factory.mktemp("v") / "t")
    return pylanceref.write_dataset(vector_table(vectors), uri, max_rows_per_file=ROWS // 2)


def test_centroids_are_trained(dataset):
    """As many as were asked for, in the type of the column; by default the root of the rows.

    A missing column and one of numbers are refused as pylance refuses them.
    """
    ivf = IndicesBuilder(dataset, "v").train_ivf(8, sample_rate=16)
    assert (ivf.num_partitions, ivf.distance_type) == (8, "l2")
    assert ivf.centroids.type == pa.list_(pa.float32(), DIM)
    assert IndicesBuilder(dataset, "v").train_ivf(sample_rate=2).num_partitions == 24
    one = IndicesBuilder(dataset, "v").train_ivf(4, sample_rate=16, fragment_ids=[1])
    assert one.num_partitions == 4
    with pytest.raises(KeyMissing):
        IndicesBuilder(dataset, "w")
    with pytest.raises(ColumnRefused, match="must be FixedSizeListArray"):
        IndicesBuilder(dataset, "i")


def test_codewords_are_trained_and_used(dataset):
    """Both models go to every segment; what is near is found with them."""
    models = IndicesBuilder(dataset, "v").prepare_global_ivf_pq(4, 8, sample_rate=2)
    assert [4, 256] == [len(one) for one in models.values()]
    made = dataset.create_index(
        "v", "IVF_PQ", replace=True, num_partitions=4, num_sub_vectors=8, **models
    )
    index = made._snapshot.indices.known[0]
    kept = index.open(index.segments[0]).auxiliary.quantizer.quantizer.codebook
    np.testing.assert_array_equal(kept.ravel(), models["pq_codebook"].flatten().to_numpy())


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
        (lambda b: b.train_pq(None, 4, sample_rate=256), ValueError, "PQ codebook"),
    ],
)
def test_wrong_arguments_are_refused(dataset, call, error, text):
    """Wrong arguments of a training raise the classes that pylance raises."""
    with pytest.raises(error, match=text):
        call(IndicesBuilder(dataset, "v"))


CENTROIDS = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()), 2)


@pytest.mark.oracle
def test_both_load_what_the_other_saved(tmp_path):
    """The files are the same kind of data file."""
    from lance.indices import IvfModel as TheirIvf
    from lance.indices import PqModel as TheirPq

    ours, theirs = str(tmp_path / "ours.lance"), str(tmp_path / "theirs.lance")
    IvfModel(CENTROIDS, "dot").save(ours)
    assert TheirIvf.load(ours).centroids == CENTROIDS
    TheirIvf(CENTROIDS, "l2").save(theirs)
    assert IvfModel.load(theirs).distance_type == "l2"
    PqModel(1, CENTROIDS).save(ours)
    assert TheirPq.load(ours).num_subvectors == 1
    TheirPq(2, CENTROIDS).save(theirs)
    assert PqModel.load(theirs).codebook == CENTROIDS


def test_segments_share_a_rotation_that_is_given_as_text(tmp_path):
    """Built apart with it, they are merged; drawn apart, they are not."""
    numbers = np.random.default_rng(2).normal(size=(64, 8)).astype(np.float32)
    dataset = pylanceref.write_dataset(vector_table(numbers), tmp_path / "t", max_rows_per_file=32)
    shared = {"ivf_centroids": numbers[:2], "num_bits": 1}

    def segments(models):
        build = partial(dataset.create_index_uncommitted, "v", "IVF_RQ", **shared)
        return [build(fragment_ids=[n], rabitq_model=model) for n, model in enumerate(models)]

    one, other = (model_text(8, 1, np.random.default_rng(seed)) for seed in range(2))
    merged = dataset.merge_existing_index_segments(segments([one, one]))
    assert set(merged.fragment_ids) == {0, 1}
    with pytest.raises(RuntimeError, match="RabitQ models differ"):
        dataset.merge_existing_index_segments(segments([one, other]))


@pytest.mark.oracle
def test_the_oracle_says_the_same_of_a_rotation():
    """But for its signs, which are drawn."""
    from lance.lance import indices

    theirs = json.loads(indices.build_rq_model(32, 3))
    ours = json.loads(model_text(32, 3, np.random.default_rng()))
    signs = theirs.pop("fast_rotation_signs"), ours.pop("fast_rotation_signs")
    assert theirs == ours
    assert len(signs[0]) == len(signs[1])


VECTORS = np.random.default_rng(3).random((400, 8), np.float32)


@pytest.fixture
def builder(tmp_path):
    """Vectors in two fragments."""
    rows = vector_table(VECTORS)
    return IndicesBuilder(pylanceref.write_dataset(rows, tmp_path, max_rows_per_file=200), "v")


@pytest.fixture
def models(builder):
    """Centroids and codewords of 4 bits."""
    ivf = builder.train_ivf(4, sample_rate=8, max_iters=3)
    return ivf, builder.train_pq(ivf, 4, sample_rate=8, max_iters=3, num_bits=4)


def test_steps_make_the_index_of_one_build(builder, models, tmp_path):
    """Each fragment is transformed alone; the rows found are those of a build by the models."""
    ivf, pq = models
    table, names = builder.dataset, []
    for number, fragment in enumerate(table.get_fragments()):
        builder.transform_vectors(ivf, pq, str(tmp_path / f"raw{number}"), [fragment])
        names += builder.shuffle_transformed_vectors(
            [f"raw{number}"], str(tmp_path), ivf, f"part{number}"
        )
    assert ["part0_0.lance", "part1_0.lance"] == names
    rows = LanceFileReader(str(tmp_path / names[0])).read_all().to_table()
    assert sorted(rows["__ivf_part_id"].to_pylist()) == rows["__ivf_part_id"].to_pylist()
    assert (200, pa.list_(pa.uint8(), 2)) == (len(rows), rows.schema.field("__pq_code").type)
    builder.load_shuffled_vectors(names, str(tmp_path), ivf, pq, "steps")
    assert 2 == table.index_statistics("steps")["num_indexed_fragments"]
    asked = {"column": "v", "q": VECTORS[5], "k": 10, "nprobes": 4}
    found = table.to_table(["i"], nearest=asked).to_pylist()
    table.drop_index("steps")
    given = {"ivf_centroids": ivf.centroids, "pq_codebook": pq.codebook, "num_bits": 4}
    table.create_index("v", "IVF_PQ", num_partitions=4, num_sub_vectors=4, **given)
    assert found == table.to_table(["i"], nearest=asked).to_pylist()
    table.validate()


def test_vectors_find_themselves(tmp_path):
    """Null ones are not asked for; others than those of the table do not."""
    values = pa.array([[0.0, 1.0], None, [2.0, 3.0]], pa.list_(pa.float32(), 2))
    dataset = pylanceref.write_dataset(pa.table({"v": values}), tmp_path)
    validate_vector_index(dataset, "v")
    validate_vector_index(dataset, "v", sample_size=2)
    strange = pa.table({"v": pa.array([[0.0, 1.0], [7.0, 7.0]], pa.list_(pa.float32(), 2))})
    dataset.sample = lambda count: strange
    with pytest.raises(ValueError, match="failed sanity check, only 1/2 passed"):
        validate_vector_index(dataset, "v", sample_size=2)
    validate_vector_index(dataset, "v", sample_size=2, pass_threshold=0.5)


def test_clusters_given_by_centroids_are_those_that_were_trained():
    """The cluster of a vector is that of the nearest centroid."""
    noise = np.random.default_rng(0).random((16, 4))
    vectors = (noise + 9 * (np.arange(16) >= 8)[:, None]).astype(np.float32)
    trained = KMeans(2)
    trained.fit(vectors)
    found = trained.predict(vectors).to_pylist()
    centroids = np.stack(trained.centroids.to_numpy_ndarray())
    given = KMeans(2, centroids=fixed(centroids))

    assert 2 == len(set(found))
    assert 1 == len(set(found[:8])) == len(set(found[8:]))
    assert found == given.predict(fixed(vectors)).to_pylist()


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


@pytest.mark.parametrize(
    "data", [np.zeros(4, np.float32), np.zeros((4, 4)), pa.array([1.0]), pa.array([[1.0]])]
)
def test_vectors_of_another_type_are_refused(data):
    """As they are by pylance."""
    with pytest.raises(ValueError, match="float32"):
        KMeans(2).fit(data)
    with pytest.raises(ValueError, match="metric"):
        KMeans(2, "far")
