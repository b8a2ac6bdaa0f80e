"""Vector models: what is saved is loaded, by either implementation."""

import json

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from pylanceref.vector_models import IvfModel, PqModel, build_rq_model

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


def test_segments_share_a_rotation_that_is_given_as_text(tmp_path):
    """Built apart with it, they are merged; drawn apart, they are not."""
    numbers = np.random.default_rng(2).normal(size=(64, 8)).astype(np.float32)
    table = pa.table({"v": pa.FixedSizeListArray.from_arrays(numbers.ravel(), 8)})
    dataset = pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=32)
    shared = {"ivf_centroids": numbers[:2], "num_bits": 1}

    def segments(models):
        return [
            dataset.create_index_uncommitted(
                "v", "IVF_RQ", fragment_ids=[number], rabitq_model=model, **shared
            )
            for number, model in enumerate(models)
        ]

    one, other = (build_rq_model(8, 1) for _ in range(2))
    merged = dataset.merge_existing_index_segments(segments([one, one]))
    assert set(merged.fragment_ids) == {0, 1}
    with pytest.raises(RuntimeError, match="RabitQ models differ"):
        dataset.merge_existing_index_segments(segments([one, other]))


@pytest.mark.parametrize(
    ("given", "error"),
    [((20,), ValueError), ((-8,), OverflowError), ((8, 1, "int8"), ValueError)],
)
def test_rotations_that_cannot_be_are_refused(given, error):
    """A dimension that is no multiple of 8, and numbers that are no floats."""
    with pytest.raises(error):
        build_rq_model(*given)


@pytest.mark.oracle
def test_the_oracle_says_the_same_of_a_rotation():
    """But for its signs, which are drawn."""
    from lance.lance import indices

    theirs, ours = json.loads(indices.build_rq_model(32, 3)), json.loads(build_rq_model(32, 3))
    signs = theirs.pop("fast_rotation_signs"), ours.pop("fast_rotation_signs")
    assert theirs == ours
    assert len(signs[0]) == len(signs[1])
