"""RQ rows."""

import numpy as np
import pytest
from lanceref.index.vector.rq_rows import (
    ADD,
    BLOCKED,
    ERROR,
    FOLLOWING,
    SCALE,
    SIGNS,
    Layout,
    rotated_rows,
)
from lanceref.kernels.rabitq_estimate import MatrixRotation

PLAIN = MatrixRotation(np.eye(8, dtype=np.float32))
CENTER = np.zeros(8, np.float32)


def rows_of(layout, vectors, metric="l2"):
    """Return the columns of vectors around zero, not rotated."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    return layout.encode(vectors, np.zeros_like(vectors), squares, metric)


@pytest.mark.parametrize(
    ("layout", "names"),
    [
        (Layout(8, 1), [SIGNS, ADD, SCALE, ERROR]),
        (Layout(8, 1, residual=True, errors=False), [SIGNS, ADD, SCALE]),
        (Layout(8, 3), [SIGNS, ADD, SCALE, ERROR, BLOCKED, ADD + "_ex", SCALE + "_ex"]),
        (
            Layout(8, 3, blocked=False),
            [SIGNS, ADD, SCALE, ERROR, FOLLOWING, ADD + "_ex", SCALE + "_ex"],
        ),
    ],
)
def test_columns(layout, names):
    """Which there are depends on the bits and on who wrote them."""
    assert [field.name for field in layout.fields] == names
    widths = {f.name: f.type.list_size for f in layout.fields if hasattr(f.type, "list_size")}
    assert widths[SIGNS] == 1
    assert widths.get(BLOCKED, 16) == 16
    assert widths.get(FOLLOWING, 2) == 2


def test_worked_distances():
    """A vector whose components are all as large is its code: the distance is exact."""
    vectors = np.array([[1, -1, 1, -1, 1, 1, 1, 1]], np.float32)
    rows = rows_of(Layout(8, 1), vectors)
    assert rows[SIGNS].tolist() == [[0b11110101]]
    assert (rows[ADD].tolist(), rows[SCALE].tolist()) == ([8], [-4])
    assert rows[ERROR].tolist() == [0]
    stored = rotated_rows(Layout(8, 1), rows, "l2", PLAIN, CENTER, CENTER)
    query = np.arange(8, dtype=np.float32)
    assert stored.score(query, "normal")(slice(None)).tolist() == [
        1 + 4 + 1 + 16 + 9 + 16 + 25 + 36
    ]
    np.testing.assert_array_equal(stored.points(), vectors)


@pytest.mark.parametrize("metric", ["l2", "dot"])
@pytest.mark.parametrize(
    "layout", [Layout(8, 1), Layout(8, 1, residual=True, errors=False), Layout(8, 5), Layout(8, 9)]
)
def test_what_codes_stand_for(layout, metric):
    """Of a vector with components of one size, itself, by both estimators."""
    center = np.arange(8, dtype=np.float32)
    residuals = np.array([[2, -2, 2, -2, 2, 2, 2, 2], [0.5] * 8, [-1] * 8], np.float32)
    squares = np.einsum("ij,ij->i", residuals, residuals)
    rows = layout.encode(residuals, np.tile(center, (3, 1)), squares, metric)
    stored = rotated_rows(layout, rows, metric, PLAIN, center, center)
    np.testing.assert_allclose(stored.points(), center + residuals, rtol=1e-6, atol=1e-6)


def test_codes_that_follow_each_other():
    """Three codes of two bits, 1, 2 and 3, begin with the byte 0b111001."""
    layout = Layout(8, 3, blocked=False)
    rows = rows_of(Layout(8, 3), np.ones((1, 8), np.float32))
    older = {name: column for name, column in rows.items() if name != BLOCKED}
    older[FOLLOWING] = np.array([[0b00111001, 0]], np.uint8)
    assert layout.extended(older)[0].tolist() == [1, 2, 3, 0, 0, 0, 0, 0]
