"""What an index is asked to be: scalar, full-text and vector requests."""

import numpy as np
import pyarrow as pa
import pylanceref.indices
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import LanceSchema
from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.kernels.hnsw_graph import GraphParameters
from pylanceref.errors import ColumnRefused, KeyMissing
from pylanceref.index_request import index_request, vector_request
from pylanceref.indices import IndexConfig

SCHEMA = schema_of(
    pa.schema([("i", pa.int8()), ("l", pa.list_(pa.int8())), ("a", pa.struct([("b", pa.int8())]))])
)


def test_a_type_by_name_or_by_its_configuration():
    """Case does not matter; parameters go along, those by keyword only for full text."""
    request = index_request(SCHEMA, ["i"], "btree", {"k": 1})
    assert (request.kind.name, request.column, request.parameters) == ("BTREE", "i", {})
    request = index_request(SCHEMA, "a.b", IndexConfig("bitmap", {"q": 2}), {})
    assert ("BITMAP", {"q": 2}) == (request.kind.name, request.parameters)


def test_columns_are_named_as_in_the_schema():
    """Whatever the case asked for, the very name first; odd names are put in backticks."""
    odd = pa.struct([("user-id", pa.int8()), ("Key", pa.int8())])
    schema = schema_of(pa.schema([("aB", pa.int8()), ("Ab", pa.int8()), ("row-id", odd)]))
    for asked, path in (
        ("Ab", "Ab"),
        ("AB", "aB"),
        ("`row-id`.`user-id`", "row-id.user-id"),
        ("row-id.user-id", "row-id.user-id"),
        ("`ROW-ID`.key", "row-id.Key"),
    ):
        assert index_request(schema, asked, "BTREE", {}).column == path
    with pytest.raises(LookupError, match="several fields are named i"):
        index_request(LanceSchema((SCHEMA.fields[0], VECTORS.fields[-1])), "i", "BTREE", {})


@pytest.mark.parametrize(
    ("column", "index_type", "error"),
    [
        ("zz", "BTREE", KeyMissing),
        ("i", "NOPE", NotImplementedError),
        (["i", "l"], "BTREE", NotImplementedError),
        *(("l", "BTREE", ColumnRefused), ("a", "BTREE", ColumnRefused)),
        ("i", "LABEL_LIST", ColumnRefused),
        *(("i", 5, TypeError), ("i", IndexConfig("nope"), NotImplementedError)),
    ],
)
def test_what_is_refused(column, index_type, error):
    """With the classes that pylance raises."""
    with pytest.raises(error):
        index_request(SCHEMA, column, index_type, {})


def test_a_full_text_index_says_what_is_a_document():
    """By keyword whatever says the rest; elements have a name of their own, and need a list."""
    schema = schema_of(pa.schema([("s", pa.utf8()), ("l", pa.list_(pa.utf8())), ("i", pa.int8())]))
    element = {"document_granularity": DocumentGranularity.LIST_ELEMENT}
    for given in ("FTS", IndexConfig("inverted", {"with_position": True})):
        assert index_request(schema, "l", given, element).named == "l_list_element"
        assert index_request(schema, "l", given, {}).named == "l"
    assert index_request(schema, "i", "BTREE", element).named == "i"
    with pytest.raises(ValueError, match="'s' has no List layer"):
        index_request(schema, "s", "FTS", element)
    with pytest.raises(ColumnRefused, match="INVERTED cannot index column i"):
        index_request(schema, "i", "FTS", {})
    with pytest.raises(RuntimeError, match=r"'l\[\*\]' does not exist"):
        index_request(schema, "l[*]", "FTS", element)


KINDS = {
    "v": pa.list_(pa.float32(), 4),
    "u": pa.list_(pa.uint8(), 4),
    "b": pa.list_(pa.int8(), 4),
    "m": pa.list_(pa.list_(pa.float32(), 4)),
    "i": pa.int64(),
}
VECTORS = schema_of(pa.schema(KINDS))
CENTROIDS = np.arange(8, dtype=np.float32).reshape(2, 4)


def asked(column="v", index_type="IVF_FLAT", metric="L2", **given):
    """Return what is to be built."""
    return vector_request(VECTORS, column, index_type, metric, given).parameters["vector"]


def test_defaults():
    """Where nothing is said of partitions their number depends on the rows."""
    found = asked(index_type="ivf_flat")
    assert ("IVF_FLAT", "l2", None) == (found.type.name, found.metric, found.num_partitions)
    assert {
        "lance.ivf.max_iters": "50",
        "lance.ivf.sample_rate": "256",
        "lance.ivf.shuffle_partition_batches": "10240",
        "lance.ivf.shuffle_partition_concurrency": "2",
        "lance.skip_transpose": "false",
    } == found.hints
    assert "2" == asked(index_type="IVF_HNSW_FLAT").hints["lance.hnsw.prefetch_distance"]
    assert GraphParameters(m=8) == asked(index_type="IVF_HNSW_FLAT", m=8).graph


def test_centroids():
    """They are an array, or lists of fixed size, and say how many there are: a whole number."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(CENTROIDS.ravel()), 4)
    for given in ({"ivf_centroids": CENTROIDS}, {"ivf_centroids": lists}):
        found = asked(**given)
        assert (2, CENTROIDS.tolist()) == (found.num_partitions, found.centroids.tolist())
    with pytest.warns(UserWarning, match="float"):
        assert 2 == asked(num_partitions=2.0).num_partitions


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (KeyMissing, {"column": "x"}),
        (ColumnRefused, {"column": "i"}),
        (ColumnRefused, {"column": "b"}),
        (ColumnRefused, {"column": ["v", "i"]}),
        (ValueError, {"metric": "x"}),
        (ValueError, {"metric": "hamming"}),
        (ValueError, {"column": "u"}),
        (ValueError, {"column": "m"}),
        (NotImplementedError, {"index_type": "IVF_FOO"}),
        (TypeError, {"num_partitions": "2"}),
        (ValueError, {"num_partitions": 0}),
        (OverflowError, {"num_partitions": -1}),
        (ValueError, {"sample_rate": 0}),
        (ValueError, {"max_iters": 0}),
        (ValueError, {"num_sub_vectors": 3}),
        (ValueError, {"ivf_centroids": CENTROIDS, "num_partitions": 3}),
        (ValueError, {"ivf_centroids": CENTROIDS[0]}),
        (ValueError, {"ivf_centroids": CENTROIDS[:, :2]}),
        (ValueError, {"ivf_centroids": CENTROIDS[:0]}),
        (TypeError, {"ivf_centroids": CENTROIDS.astype(int)}),
        (TypeError, {"ivf_centroids": "x"}),
    ],
)
def test_wrong_arguments(error, given):
    """Wrong arguments of a vector index raise the classes that pylance raises."""
    with pytest.raises(error):
        asked(**given)


def test_models_are_imported_when_they_are_asked_for():
    """The names are those of the modules they live in; another one there is not."""
    from pylanceref.indices import IndicesBuilder, IvfModel, PqModel

    assert pylanceref.indices.IndicesBuilder is IndicesBuilder
    assert (pylanceref.indices.IvfModel, pylanceref.indices.PqModel) == (IvfModel, PqModel)
    lazy = {"IndicesBuilder", "IvfModel", "PqModel"}
    assert set(pylanceref.indices.__all__) <= set(dir(pylanceref.indices)) | lazy
    with pytest.raises(AttributeError, match="Nobody"):
        _ = pylanceref.indices.Nobody


@pytest.mark.oracle
def test_the_same_types_may_be_asked_to_be_merged():
    """By the names that the oracle has."""
    import lance.indices

    theirs = lance.indices.SupportedDistributedIndices
    ours = pylanceref.indices.SupportedDistributedIndices
    assert {one.name: one.value for one in theirs} == {one.name: one.value for one in ours}


@pytest.mark.parametrize("parts", [-1, 0, 1, 2, 3, 8])
def test_a_codebook_has_the_shape_of_its_parts(parts):
    """Codewords for another number of parts, or of none, are refused."""
    given = {"num_sub_vectors": parts, "ivf_centroids": np.zeros((1, 4), np.float32)}
    book = np.zeros((max(0, parts), 256, 1), np.float32)
    with pytest.raises(ValueError, match=r"PQ codebook must be 3D array|must be divisible"):
        vector_request(VECTORS, "v", "IVF_PQ", "L2", {**given, "pq_codebook": book})


def test_a_codebook_may_be_a_tensor():
    """Of each part its codewords; it means what the same numbers mean as an array."""
    numbers = np.arange(2 * 256 * 2, dtype=np.float32).reshape(2, 256, 2)
    given = {"num_sub_vectors": 2, "ivf_centroids": np.zeros((1, 4), np.float32)}
    found = [
        vector_request(VECTORS, "v", "IVF_PQ", "L2", {**given, "pq_codebook": book}).parameters[
            "vector"
        ]
        for book in (numbers, pa.FixedShapeTensorArray.from_numpy_ndarray(numbers))
    ]
    assert np.array_equal(*(one.storage["pq_codebook"] for one in found))
