"""Vector models: what is saved is loaded, by either implementation."""

import pyarrow as pa
import pytest
from lanceref.vector_models import IvfModel, PqModel

CENTROIDS = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()), 2)


def test_centroids_are_saved_and_loaded(tmp_path):
    """With the distance they were trained for."""
    IvfModel(CENTROIDS, "cosine").save(str(tmp_path / "ivf.lance"))
    found = IvfModel.load(str(tmp_path / "ivf.lance"))
    assert (found.centroids, found.distance_type, found.num_partitions) == (CENTROIDS, "cosine", 2)


def test_codebooks_are_saved_and_loaded(tmp_path):
    """With the number of sub-vectors and of bits."""
    PqModel(2, CENTROIDS, num_bits=4).save(str(tmp_path / "pq.lance"))
    found = PqModel.load(str(tmp_path / "pq.lance"))
    assert (found.codebook, found.num_subvectors) == (CENTROIDS, 2)
    assert (found.num_bits, found.dimension) == (4, 2)


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
