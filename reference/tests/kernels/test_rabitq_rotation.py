"""The rotation of RabitQ."""

import numpy as np
import pytest
from lanceref.kernels import rabitq_estimate
from lanceref.kernels.rabitq_estimate import FastRotation, MatrixRotation, draw_rotation


def test_worked_numbers():
    """Without turned signs four transforms of a power of two are none; a turned sign stays in."""
    one = np.arange(1, 9, dtype=np.float32)[None]
    plain = FastRotation(np.zeros((4, 1), np.uint8))
    np.testing.assert_allclose(plain.rotate(one), one, rtol=1e-6)
    last = FastRotation(np.array([[0], [0], [0b101], [0]], np.uint8))
    wanted = one - 2 * np.array([1, 0, 3, 0, 0, 0, 0, 0]) @ np.eye(8)
    np.testing.assert_allclose(last.rotate(one), wanted, rtol=1e-5, atol=1e-5)


def test_one_transform_by_hand():
    """Turning all signs round in the first round turns the result round."""
    one = np.eye(8, dtype=np.float32)[:1]
    turned = FastRotation(np.array([[255], [0], [0], [0]], np.uint8))
    np.testing.assert_allclose(turned.rotate(one), -one, atol=1e-6)
    before_last = FastRotation(np.array([[0], [0], [0], [0b10]], np.uint8))
    wanted = np.array([[1, 0, 0, 0, 0, 0, 0, 0]]) - 2 / 8 * np.array([[1, -1] * 4])
    np.testing.assert_allclose(before_last.rotate(one), wanted, atol=1e-6)


@pytest.mark.parametrize("dim", [8, 24, 40, 64, 72, 120])
def test_lengths_and_angles_stay(dim):
    """Products of vectors are those of the rotated ones, also where d is no power of two."""
    random = np.random.default_rng(dim)
    vectors = random.normal(size=(30, dim)).astype(np.float32)
    rotated = draw_rotation(dim, random).rotate(vectors)
    np.testing.assert_allclose(rotated @ rotated.T, vectors @ vectors.T, atol=1e-3)
    assert np.abs(rotated - vectors).max() > 0.5


def test_each_vector_is_rotated_on_its_own(monkeypatch):
    """However many are rotated together, the same bits come out."""
    random = np.random.default_rng(3)
    vectors, rotation = random.normal(size=(40, 24)).astype(np.float32), draw_rotation(24, random)
    whole = rotation.rotate(vectors)
    monkeypatch.setattr(rabitq_estimate, "ROTATED_ROWS", 7)
    np.testing.assert_array_equal(rotation.rotate(vectors), whole)
    alone = [rotation.rotate(vector[None])[0] for vector in vectors]
    np.testing.assert_array_equal(alone, whole)


def test_rows_of_a_matrix_are_components():
    """The first row gives the first component."""
    rotation = MatrixRotation(np.array([[0, 1], [-1, 0]], np.float32))
    assert rotation.rotate(np.array([[3, 4]], np.float32)).tolist() == [[4, -3]]
