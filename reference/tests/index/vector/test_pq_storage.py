"""PQ storage."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, IndexRefused, OperationRefused, Place
from lanceref.index.vector.pq_storage import COLUMN, Product, parse, train
from lanceref.index.vector.storage import Model, tensor_of
from lanceref.kernels.distance import distances
from lanceref.kernels.product_quantizer import ProductQuantizer

from .agreement import agree, built, clustered, found_by
from .indexed import opened

PLACE = Place("auxiliary.idx", 0)
SAID = {
    "codebook_position": 2,
    "nbits": 4,
    "num_sub_vectors": 2,
    "dimension": 2,
    "codebook_tensor": [],
    "transposed": True,
}


def line(metric="l2", dtype=np.float32, transposed=True):
    """Return a quantizer of pairs: codewords 0 .. 15 and 0 .. 30, centroids (0, 0), (8, 8)."""
    words = np.arange(16, dtype=dtype)
    codebook = np.stack([words, 2 * words])[:, :, None]
    model = Model(metric, np.array([(0, 0), (8, 8)], dtype))
    return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed)


def file_of(quantizer):
    """Return a file whose global buffer 2 is the codebook of a quantizer."""

    def message(number, kind):
        assert number == 2
        return kind.FromString(quantizer.buffers()[0])

    return SimpleNamespace(message=message, ctx=Context("auxiliary.idx"))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("metric", "wanted"), [("l2", [0x12, 0x20]), ("dot", [0x5A, 0x68])])
def test_codes_are_of_residuals_but_for_dot(metric, wanted, dtype):
    """(10, 10) in the partition of (8, 8) is (2, 2), codes 2 and 1; for dot it is 10 and 5."""
    quantizer = line(metric, dtype)
    vectors = np.array([(10, 10), (8, 12)], dtype)
    rows = quantizer.encode(vectors, np.array([1, 1]))
    assert rows[COLUMN].tolist() == [[one] for one in wanted]


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_distances_are_from_what_codes_stand_for(metric):
    """A query has its own residual: distances are those between the vectors themselves."""
    quantizer = line(metric)
    vectors = np.array([(10, 10), (8, 12), (9, 18)], np.float32)
    stored = quantizer.open_rows(quantizer.encode(vectors, np.array([1, 1, 1])), 1)
    query = np.array((9, 9), np.float32)
    score = stored.score(query, "normal")
    of_vectors = "dot" if metric == "dot" else "l2"
    wanted = distances(query[None], vectors, of_vectors)[0]
    np.testing.assert_array_equal(score(slice(None)), wanted)
    np.testing.assert_array_equal(score(np.array([2, 0])), score(slice(None))[[2, 0]])
    apart = distances(stored.points(), stored.points(), of_vectors)
    np.testing.assert_array_equal(apart, distances(vectors, vectors, of_vectors))


@pytest.mark.parametrize("transposed", [True, False])
def test_rows_come_back_from_a_file(transposed):
    """Packed rows of a partition are the rows again; transposed ones differ from them."""
    random = np.random.default_rng(1)
    codebook = random.normal(size=(4, 256, 2)).astype(np.float32)
    model = Model("l2", np.zeros((1, 8), np.float32))
    quantizer = Product(model, ProductQuantizer(codebook, "l2"), transposed)
    rows = quantizer.encode(random.normal(size=(30, 8)).astype(np.float32), np.zeros(30, int))
    packed = quantizer.pack(rows)
    assert (packed[COLUMN].tolist() == rows[COLUMN].tolist()) is not transposed
    assert quantizer.unpack(packed)[COLUMN].tolist() == rows[COLUMN].tolist()


def test_what_a_file_says_comes_back():
    """Metadata and codebook make the same quantizer."""
    written = line()
    assert written.metadata() == SAID
    assert written.fields == [pa.field(COLUMN, pa.list_(pa.uint8(), 1))]
    read = parse(written.metadata(), file_of(written), written.model, PLACE)
    np.testing.assert_array_equal(read.quantizer.codebook, written.quantizer.codebook)
    assert read.transposed


def test_early_releases_keep_the_codewords_in_the_metadata():
    """As a list of the bytes of the message."""
    written = line()
    octets = list(written.buffers()[0])
    said = {**SAID, "codebook_position": 0, "codebook_tensor": octets}
    read = parse(said, file_of(written), written.model, PLACE)
    np.testing.assert_array_equal(read.quantizer.codebook, written.quantizer.codebook)


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        ({"nbits": 6}, "bits"),
        ({"nbits": 8}, "codebook"),
        ({"nbits": "4"}, "metadata"),
        ({"nbits": True}, "metadata"),
        ({"num_sub_vectors": 0}, "sub-vectors"),
        ({"num_sub_vectors": 1}, "sub-vectors"),
        ({"num_sub_vectors": 10**30}, "sub-vectors"),
        ({"num_sub_vectors": -2}, "metadata"),
        ({"codebook_position": None}, "metadata"),
        ({"codebook_tensor": None}, "metadata"),
        ({"transposed": 1}, "metadata"),
    ],
)
def test_what_a_file_may_not_say(change, clause):
    """Each is refused under its clause, and so is metadata where something is missing."""
    quantizer = line()
    with pytest.raises(FormatError) as caught:
        parse({**SAID, **change}, file_of(quantizer), quantizer.model, PLACE)
    assert caught.value.clause == f"L.index.vector.pq.{clause}"
    (key,) = change
    short = {name: value for name, value in SAID.items() if name != key}
    with pytest.raises(FormatError) as caught:
        parse(short, file_of(quantizer), quantizer.model, PLACE)
    assert caught.value.clause == "L.index.vector.pq.metadata"


@pytest.mark.parametrize(
    ("octets", "clause"),
    [
        ([256], "pq.metadata"),
        ([-1], "pq.metadata"),
        ([[1]], "pq.metadata"),
        (["8"], "pq.metadata"),
        ([10, 200], "pq.metadata"),
        ([8, 2], "tensor.shape"),
    ],
)
def test_codewords_in_the_metadata_are_bytes_of_a_tensor(octets, clause):
    """Anything else is refused."""
    quantizer = line()
    said = {**SAID, "codebook_position": 0, "codebook_tensor": octets}
    with pytest.raises(FormatError) as caught:
        parse(said, file_of(quantizer), quantizer.model, PLACE)
    assert caught.value.clause == f"L.index.vector.{clause}"


def test_a_codebook_of_another_type():
    """Codewords have the type of the centroids."""
    quantizer = line()
    with pytest.raises(FormatError) as caught:
        parse(SAID, file_of(line(dtype=np.float64)), quantizer.model, PLACE)
    assert caught.value.clause == "L.index.vector.pq.codebook"


def test_equal_codebooks_are_joined():
    """Rows of a quantizer with the same codewords are kept as they are, those of others not."""
    ours, theirs = line(transposed=False), line()
    joined = ours.merge([theirs])
    rows = theirs.encode(np.array([(10, 10)], np.float32), np.array([1]))
    assert joined.transposed
    assert joined.convert(theirs, rows) is rows
    other = Product(ours.model, ProductQuantizer(ours.quantizer.codebook + 1, "l2"), True)
    with pytest.raises(OperationRefused, match="codebook"):
        ours.merge([other])


def test_training_uses_residuals_or_what_is_given():
    """Of vectors at their centroids codewords are zero; a codebook is used as it is."""
    model = Model("l2", np.array([(1, 2), (3, 4)], np.float32))
    partitions = np.arange(300) % 2

    def sample(most):
        assert most == 256 * 16
        return model.centroids[partitions], partitions

    said = {"num_sub_vectors": 2, "num_bits": 4}
    assert not train(sample, model, said).quantizer.codebook.any()
    given = np.random.default_rng(1).normal(size=(2, 16, 1))
    found = train(sample, model, {**said, "pq_codebook": given, "skip_transpose": True})
    np.testing.assert_array_equal(found.quantizer.codebook, given.astype(np.float32))
    assert not found.transposed
    for wrong in ({"num_bits": 6}, {"num_sub_vectors": 1}):
        with pytest.raises(IndexRefused):
            train(sample, model, {**said, **wrong})


def test_tensors_of_codebooks_have_two_sizes():
    """The envelope is [16, d] whatever the sub-vectors."""
    quantizer = line()
    words = quantizer.quantizer.codebook.reshape(16, 2)
    assert quantizer.buffers() == [tensor_of(words).SerializeToString()]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [4, 8])
def test_both_answer_over_both(tmp_path, num_bits, metric, dtype):
    """Of an index by either, both find the same rows, as far away."""
    import lance

    values, queries = clustered(dtype)
    said = {"num_sub_vectors": 8, "num_bits": num_bits, "metric": metric}
    for name, by in (("a", lance), ("b", pylanceref)):
        path = built(tmp_path / name, values, by, "IVF_PQ", **said)
        agree(path, lance, queries)
        agree(path, lance, queries, refine_factor=3)


@pytest.mark.oracle
def test_codes_that_are_not_transposed(tmp_path):
    """They are read and written row by row."""
    import lance

    values, queries = clustered("f4")
    for name, by in (("a", lance), ("b", pylanceref)):
        said = {"num_sub_vectors": 4, "skip_transpose": True}
        path = built(tmp_path / name, values, by, "IVF_PQ", **said)
        agree(path, lance, queries)


@pytest.mark.oracle
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [4, 8])
def test_codes_are_those_of_the_oracle(tmp_path, num_bits, metric):
    """With the same centroids and codewords, files have the same rows and codes."""
    import lance

    values, _ = clustered("f4")
    source = np.random.default_rng(1)
    said = {
        "num_sub_vectors": 8,
        "num_bits": num_bits,
        "metric": metric,
        "ivf_centroids": values[:3] / (4 if metric == "cosine" else 1),
        "pq_codebook": source.normal(size=(8, 2**num_bits, 2)).astype("f4"),
    }
    ours, theirs = (
        opened(pylanceref.dataset(built(tmp_path / name, values, by, "IVF_PQ", **said)))
        for name, by in (("a", pylanceref), ("b", lance))
    )
    assert ours.head.message.loss == pytest.approx(theirs.head.message.loss, rel=1e-5)
    for number in range(3):
        np.testing.assert_array_equal(ours.keys(number), theirs.keys(number))
        np.testing.assert_array_equal(ours.rows(number)[COLUMN], theirs.rows(number)[COLUMN])


@pytest.mark.oracle
def test_cosine_of_codes_is_twice_that_of_vectors(tmp_path):
    """By either, distances are squared ones of normalized vectors, and the cosine when refined."""
    import lance

    values, queries = clustered("f4")
    said = {"num_sub_vectors": 16, "metric": "cosine"}
    path = built(tmp_path, values, lance, "IVF_PQ", **said)
    for module in (lance, pylanceref):
        (_, codes), *_ = found_by(module, path, queries)
        (_, exact), *_ = found_by(module, path, queries, refine_factor=5)
        np.testing.assert_allclose(codes[5:] / exact[5:], 2, rtol=0.2)


@pytest.mark.oracle
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_statistics_are_those_of_the_oracle(tmp_path, metric):
    """The metric is that between vectors as they are kept."""
    import lance

    vectors = np.random.default_rng(1).normal(size=(300, 8)).astype(np.float32)
    table = pa.table({"v": pa.FixedSizeListArray.from_arrays(vectors.ravel(), 8)})
    theirs = lance.write_dataset(table, str(tmp_path / "t"))
    theirs.create_index("v", "IVF_PQ", metric=metric, num_partitions=1, num_sub_vectors=2)
    found = [
        library.dataset(str(tmp_path / "t")).stats.index_stats("v_idx")["indices"][0]["sub_index"]
        for library in (lance, pylanceref)
    ]
    assert found[0] == found[1]
