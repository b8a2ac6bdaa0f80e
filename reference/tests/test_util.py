"""The check of an index over vectors: each vector finds itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from pylanceref.util import KMeans, validate_vector_index


def test_vectors_find_themselves(tmp_path):
    """Null ones are not asked for; others than those of the table do not."""
    values = pa.array([[0.0, 1.0], None, [2.0, 3.0]], pa.list_(pa.float32(), 2))
    dataset = pylanceref.write_dataset(pa.table({"v": values}), tmp_path)
    validate_vector_index(dataset, "v")
    validate_vector_index(dataset, "v", sample_size=2)
    strange = pa.table({"v": pa.array([[0.0, 1.0], [7.0, 7.0]], pa.list_(pa.float32(), 2))})
    dataset.sample = lambda count: strange
    with pytest.raises(ValueError, match="Vector index failed sanity check, only 1/2 passed"):
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
    given = KMeans(2, centroids=pa.FixedSizeListArray.from_arrays(centroids.ravel(), 4))

    assert 2 == len(set(found))
    assert 1 == len(set(found[:8])) == len(set(found[8:]))
    assert found == given.predict(pa.FixedSizeListArray.from_arrays(vectors.ravel(), 4)).to_pylist()


@pytest.mark.parametrize(
    "data", [np.zeros(4, np.float32), np.zeros((4, 4)), pa.array([1.0]), pa.array([[1.0]])]
)
def test_vectors_of_another_type_are_refused(data):
    """As they are by pylance."""
    with pytest.raises(ValueError, match="float32"):
        KMeans(2).fit(data)
    with pytest.raises(ValueError, match="metric"):
        KMeans(2, "far")
