"""The worked numbers of chapter 66, computed again from the bytes of the cases that it names.

What is computed here follows the text alone; the reference is only asked for columns of files.
"""

import json
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance import resources
from lance_conformance.suite.case_storage import case_folder, materialise

CHAPTER = (resources.fixtures().parent / "spec/66-vector-indices.md").read_text("utf-8")
pytestmark = pytest.mark.filterwarnings("error")


def _index_path(case: str, name: str) -> Path:
    home = case_folder(resources.fixtures() / "index/any" / case)
    (path,) = home.glob(f"dataset/_indices/*/{name}")
    return path


def _index_file(case: str, name: str) -> pa.Table:
    return lanceref.open_file(str(_index_path(case, name))).read()


def _query(case: str) -> np.ndarray:
    home = case_folder(resources.fixtures() / "index/any" / case)
    manifest = json.loads(Path(home / "case.json").read_text("utf-8"))
    return np.array(manifest["input"]["args"]["nearest"]["q"], np.float32)


def _shown(*numbers: str) -> None:
    """Check that the chapter has the numbers, one after the other."""
    place = 0
    for number in numbers:
        place = CHAPTER.find(number, place)
        assert place >= 0, f"chapter 66 lacks {number}"


def test_the_distance_by_codewords():
    """A query at a vector whose residual is 0: as far as the codewords nearest to 0 are from it."""
    table = pylanceref.dataset(materialise(resources.fixtures() / "index/any/ivf-pq/plain/dataset"))
    query = table.take([0])["v"][0].as_py()
    nearest = {"column": "v", "q": query, "k": 80, "nprobes": 2}

    found = table.to_table(columns=["id"], nearest=nearest).to_pylist()
    (distance,) = (row["_distance"] for row in found if row["id"] == 0)

    assert 0.4824 == pytest.approx(distance, abs=5e-5)
    assert 0.4824 == pytest.approx(0.0843 + 0.1022 + 0.0378 + 0.2581)


def test_a_walk_through_a_graph():
    """From node 17 down to the three nearest of 53, by the way that the table of the text shows."""
    graph = _index_file("ivf-hnsw-flat/plain", "index.idx")
    vectors = np.array(_index_file("ivf-hnsw-flat/plain", "auxiliary.idx")["flat"].to_pylist())[:53]
    distances = ((vectors - _query("ivf-hnsw-flat/plain")) ** 2).sum(axis=1)
    rows = list(
        zip(graph["__vector_id"].to_pylist(), graph["__neighbors"].to_pylist(), strict=True)
    )
    levels = {2: dict(rows[64:66]), 1: dict(rows[53:64]), 0: dict(rows[:53])}

    node, visited = 17, [17]
    for level in (2, 1):
        while (
            distances[best := min(levels[level][node], key=lambda n: distances[n])]
            < distances[node]
        ):
            node = best
            visited.append(node)
    nearest, waiting, met = [node], [node], {node}
    while waiting:
        node = min(waiting, key=lambda n: distances[n])
        waiting.remove(node)
        if distances[node] > distances[nearest[-1]]:
            break
        visited.append(node)
        for neighbour in set(levels[0][node]) - met:
            met.add(neighbour)
            nearest.append(neighbour)
            waiting.append(neighbour)
        nearest = sorted(nearest, key=lambda n: distances[n])[:3]

    assert [17, 25, 30, 30, 32, 51, 52] == visited
    assert (36, [32, 51, 52]) == (node, nearest)
    assert nearest == np.argsort(distances)[:3].tolist()
    for node in (17, 44, 49, 20, 25, 16, 30, 6, 41, 18, 27, 32, 36, 51, 52):
        _shown(f"{node} ({distances[node]:.2f})")


def test_the_distance_by_rotated_signs():
    """Signs, factors and the estimated distance of a row, by the formulas of the text."""
    row = _index_file("ivf-rq/plain", "auxiliary.idx").slice(0, 1).to_pylist()[0]
    table = pylanceref.dataset(materialise(resources.fixtures() / "index/any/ivf-rq/plain/dataset"))
    (x,) = table.to_table(filter="id = 1")["v"].to_pylist()
    x, q = np.array(x, np.float64), _query("ivf-rq/plain").astype(np.float64)
    head = _index_path("ivf-rq/plain", "index.idx").read_bytes()
    c = np.frombuffer(head, "<f4", 8, 18).astype(np.float64)

    n2, z, g, y = ((x - c) ** 2).sum(), _rotated(x - c), _rotated(c), _rotated(q)
    w = np.where(z >= 0, 0.5, -0.5)
    a, h, s = z @ w, g @ w, y[z >= 0].sum()
    add, scale = n2 + 2 * n2 * h / a, -2 * n2 / a
    error = 2 * np.sqrt(n2) * 1.9 * np.sqrt((n2 * 8 / 4 / a**2 - 1) / 7)
    distance = (s - y.sum() / 2) * scale + add + ((q - c) ** 2).sum()

    assert row["_rabit_codes"] == [sum(1 << i for i in range(8) if z[i] >= 0)]
    assert row["__add_factors"] == pytest.approx(add, rel=1e-6)
    assert row["__scale_factors"] == pytest.approx(scale, rel=1e-6)
    assert row["__error_factors"] == pytest.approx(error, rel=1e-5)
    nearest = {"column": "v", "q": q.astype(np.float32), "k": 100, "nprobes": 2}
    found = table.to_table(columns=["id"], nearest=nearest).to_pylist()
    assert [distance] == pytest.approx([one["_distance"] for one in found if one["id"] == 1])
    _shown(f"{n2:.3f}", f"{a:.4f}", f"{h:.4f}", f"{add:.3f}", f"{scale:.3f}", f"{error:.3f}")
    _shown(f"S = {y.sum():.3f}", f"{s:.4f}", f"{((q - c) ** 2).sum():.3f}", f"{distance:.3f}")
    _shown(f"{((x - q) ** 2).sum():.3f}")


def _rotated(vector: np.ndarray) -> np.ndarray:
    """Rotate 8 components by four rounds of turned signs and a Walsh-Hadamard transform."""
    for signs in (94, 79, 151, 200):
        vector = np.array([-x if signs >> i & 1 else x for i, x in enumerate(vector)])
        for half in (1, 2, 4):
            pairs = vector.reshape(-1, 2, half)
            sums, differences = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
            vector = np.stack([sums, differences], axis=1).reshape(-1)
        vector = vector / np.sqrt(8)
    return vector
