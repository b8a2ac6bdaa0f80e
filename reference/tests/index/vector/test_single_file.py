"""Single files of early releases."""

import numpy as np
import pylanceref
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.single_file import is_single_file, open_single_file, single_file
from lanceref.index.vector.storage import Model
from lanceref.kernels.product_quantizer import ProductQuantizer
from lanceref.storage import BytesSource
from pyarrow import ArrowInvalid

from .agreement import agree, built, clustered, found_by
from .indexed import opened


def data_of(num_bits=4, metric="l2"):
    """Return a file of two partitions of 1 and 2 rows, dimension 2, and its quantizer."""
    model = Model(metric, np.array([(0, 0), (8, 8)], np.float32))
    words = np.arange(2**num_bits, dtype=np.float32)
    codebook = np.stack([words, 2 * words])[:, :, None]
    quantizer = Product(model, ProductQuantizer(codebook, model.of_vectors), True)
    width = num_bits * 2 // 8
    parts = [
        (np.array([5], np.uint64), {COLUMN: np.full((1, width), 0x21, np.uint8)}),
        (np.array([7, 9], np.uint64), {COLUMN: np.full((2, width), 0x43, np.uint8)}),
    ]
    return single_file(quantizer, parts, 1.5, "v"), quantizer


def opened_bytes(data):
    """Open bytes as a file."""
    return open_single_file(BytesSource(data), Context("index.idx"))


def test_layout():
    """Codes, then row ids, of each partition; message, its place, version and magic at the end."""
    data, _ = data_of()
    assert data[:9] == b"\x21" + (5).to_bytes(8, "little")
    assert data[9:27] == b"\x43\x43" + (7).to_bytes(8, "little") + (9).to_bytes(8, "little")
    assert data[-16:] == (27).to_bytes(8, "little") + b"\0\0\1\0LANC"
    assert int.from_bytes(data[27:31], "little") == len(data) - 16 - 31


@pytest.mark.parametrize("num_bits", [4, 8])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_what_is_written_comes_back(num_bits, metric):
    """Model, codewords and rows; a file of another kind is recognised."""
    data, quantizer = data_of(num_bits, metric)
    assert is_single_file(BytesSource(data))
    assert not is_single_file(BytesSource(data[:-8] + b"\2\0\1\0LANC"))
    assert not is_single_file(BytesSource(b"LANC"))
    file = opened_bytes(data)
    assert (file.model.metric, list(file.message.lengths)) == (metric, [1, 2])
    np.testing.assert_array_equal(file.model.centroids, quantizer.model.centroids)
    np.testing.assert_array_equal(file.quantizer.quantizer.codebook, quantizer.quantizer.codebook)
    keys, rows = file.partition(1)
    assert (keys.tolist(), set(rows[COLUMN].ravel().tolist())) == ([7, 9], {0x43})


@pytest.mark.parametrize(
    ("place", "found", "clause"),
    [
        (-16, b"\xff" * 8, "message"),
        (-16, (0).to_bytes(8, "little"), "message"),
        (27, b"\xff\xff\xff\x7f", "message"),
    ],
)
def test_messages_that_are_not_there(place, found, clause):
    """A position or size that leaves the file is refused."""
    data, _ = data_of()
    place %= len(data)
    with pytest.raises(FormatError) as caught:
        opened_bytes(data[:place] + found + data[place + len(found) :])
    assert caught.value.clause == f"L.index.vector.single.{clause}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.data())
def test_damaged_bytes_are_only_refused(data):
    """Whatever is flipped or cut, rows come out or an error of the family."""
    whole = bytearray(data_of()[0])
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(27, len(whole) - 9))] = data.draw(st.integers(0, 255))
    try:
        file = opened_bytes(bytes(whole))
        rows = [len(file.partition(number)[0]) for number in range(len(file.message.lengths))]
        assert rows == list(file.message.lengths)
    except LanceError:
        pass


def test_partitions_outside_the_file():
    """More rows than there are bytes are refused before they are read."""
    data, _ = data_of()
    file = opened_bytes(data)
    file.message.lengths[1] = 2**31
    with pytest.raises(FormatError) as caught:
        file.partition(1)
    assert caught.value.clause == "L.index.vector.single.partitions"


@pytest.mark.parametrize("num_bits", [4, 8])
def test_early_indices_answer_as_later_ones(tmp_path, num_bits):
    """With the same centroids and codewords the answers are the same, also after an update."""
    values, queries = clustered("f4")
    said = {
        "num_sub_vectors": 8,
        "num_bits": num_bits,
        "ivf_centroids": values[:3],
        "pq_codebook": np.random.default_rng(1).normal(size=(8, 2**num_bits, 2)).astype("f4"),
    }
    found = []
    for name, version in (("a", "V3"), ("b", "LEGACY")):
        path = built(
            tmp_path / name, values, pylanceref, "IVF_PQ", index_file_version=version, **said
        )
        dataset = pylanceref.dataset(path)
        statistics = dataset.stats.index_stats("v_idx")["indices"][0]
        assert statistics["index_file_version"].lower() == version.lower()
        dataset.insert(dataset.to_table())
        for _ in range(2):
            nearest = {"column": "v", "q": queries[0], "k": 30, "nprobes": 2}
            found.append(dataset.to_table(nearest=nearest, columns=["_distance"]))
            dataset.optimize.optimize_indices()
        assert (tmp_path / name).exists()
    assert found[0].equals(found[2])
    assert found[1].equals(found[3])


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_both_answer_over_both(tmp_path, metric, dtype):
    """Of a file by either, both find the same rows, as far away."""
    import lance

    values, queries = clustered(dtype)
    said = {"num_sub_vectors": 8, "metric": metric, "index_file_version": "LEGACY"}
    for name, by in (("a", lance), ("b", pylanceref)):
        path = built(tmp_path / name, values, by, "IVF_PQ", **said)
        agree(path, lance, queries)
        assert len(list((tmp_path / name).rglob("*.idx"))) == 1


@pytest.mark.oracle
def test_four_bits_are_read_though_the_oracle_cannot(tmp_path):
    """It reads a byte for each code, which is more than there are."""
    import lance

    values, queries = clustered("f4")
    said = {"num_sub_vectors": 8, "num_bits": 4, "index_file_version": "LEGACY"}
    path = built(tmp_path, values, lance, "IVF_PQ", **said)
    with pytest.raises(ArrowInvalid):
        next(found_by(lance, path, queries))
    index = opened(pylanceref.dataset(path))
    for number in range(3):
        keys = index.keys(number).astype(int)
        made = index.auxiliary.quantizer.encode(values[keys], np.full(len(keys), number))
        np.testing.assert_array_equal(made[COLUMN], index.rows(number)[COLUMN])
