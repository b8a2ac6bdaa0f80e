"""Fast forms of kernels: each gives what its plain form gives."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis.extra import numpy as hnp
from lanceref.fast import indices as fast
from lanceref.kernels import kmeans

WHOLE = st.integers(-50, 50)


@pytest.mark.parametrize("metric", ["l2", "dot", "hamming"])
@given(st.data(), st.integers(1, 40), st.integers(1, 9), st.integers(1, 6))
def test_vectors_are_assigned_and_summed_alike(metric, draw, count, k, dim):
    """Of whole numbers, whose products are exact, also where centroids are equally near."""
    dtype = np.uint8 if metric == "hamming" else draw.draw(st.sampled_from(["f2", "f4", "f8"]))
    numbers = st.integers(0, 255) if metric == "hamming" else WHOLE
    vectors, centroids = (
        draw.draw(hnp.arrays(np.int16, (rows, dim), elements=numbers)).astype(dtype)
        for rows in (count, k)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast, "BLOCK_SCORES", 20)
        ids, partial = (
            [call(vectors, centroids, metric) for call in (form.plain, form.fast)]
            for form in (kmeans.assign, kmeans.partial_sums)
        )

    assert ids[0].tolist() == ids[1].tolist()
    one, other = partial
    assert (one.sums.dtype, one.sums.tolist()) == (other.sums.dtype, other.sums.tolist())
    assert (one.counts.tolist(), one.loss) == (other.counts.tolist(), other.loss)


@given(
    hnp.arrays(np.float32, (30, 3), elements=st.floats(-10, 10, width=32)),
    hnp.arrays(np.float32, (5, 3), elements=st.floats(-10, 10, width=32)),
)
@example(np.ones((30, 3), np.float32), np.float32([[-1e-42] * 3, [0, -1e-42, -1e-42]]))
@example(np.full((30, 3), 1e-22, np.float32), np.float32([[1e-22, 0, 0], [2e-22, 2e-22, 0]]))
def test_any_vectors_are_assigned_alike_by_l2(vectors, centroids):
    """Where products are rounded the nearest centroids are the same, and the sum of distances."""
    ids = [call(vectors, centroids, "l2") for call in (kmeans.assign.plain, kmeans.assign.fast)]
    one = kmeans.partial_sums.plain(vectors, centroids, "l2").loss
    other = kmeans.partial_sums.fast(vectors, centroids, "l2").loss

    assert ids[0].tolist() == ids[1].tolist()
    size = kmeans.squared_lengths(vectors, "l2") + kmeans.squared_lengths(centroids, "l2") * 30
    assert abs(one - other) <= 1e-5 * size + 1e-30
