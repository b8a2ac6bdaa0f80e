"""Vector benchmark: indices that both sides build and search, one core, one partition.

Both search the same index, ours, so that they do the same; the index that each has built is asked
by itself for its recall. Where faiss or hnswlib is installed, what these take lies beside it, in
the place of ours: for orientation, not to be judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.race import race
from lance_conformance.bench.recall import ask, stored
from lance_conformance.bench.recall_data import Data, K, places
from lance_conformance.bench.sides import OURS, SIDES

SEED = 11
DIMENSION = 64
ROWS_PER_MIB = 2**18 // DIMENSION

GRAPH_ROWS = 10_000
"""Rows of an index with a graph, at most: one partition has one graph."""

ASKED = 40
"""Queries that are timed; recall counts all there are."""

PRODUCTS = 16
"""Sub-vectors of a product quantizer."""

TYPES: dict[str, dict[str, object]] = {
    "IVF_PQ": {"num_sub_vectors": PRODUCTS},
    "IVF_RQ": {"num_bits": 5},
    "IVF_SQ": {},
    "IVF_HNSW_SQ": {"m": 20, "ef_construction": 150},
}
"""Types that are built, and their parameters."""


def vectors(folder: Path, mib: int, rounds: int) -> Iterator[Figure]:
    """Yield queries and thousands of rows per second, and recall, of every type."""
    whole = places(mib * ROWS_PER_MIB, DIMENSION, SEED)
    small = places(min(GRAPH_ROWS, mib * ROWS_PER_MIB), DIMENSION, SEED)
    for name, parameters in TYPES.items():
        data = small if "HNSW" in name else whole
        paths = {side.name: stored(data, str(folder / f"{name}-{side.name}")) for side in SIDES}
        seconds, recall = {}, {}
        for side in SIDES:
            dataset = side.tables().dataset(paths[side.name])
            build = partial(dataset.create_index, "v", name, num_partitions=1, **parameters)
            seconds[side.name] = _timed(build)
            recall[side.name] = ask(side.tables(), paths[side.name], data, 1, None)
        speed = {side: len(data.vectors) / 1e3 / taken for side, taken in seconds.items()}
        yield Figure("build", name, "", speed["ours"], speed["oracle"], "krows/s")
        yield Figure("recall", name, "", recall["ours"], recall["oracle"], f"of {K}")
        yield _queries(name, data, paths[OURS.name], rounds)
        yield from _orientation(name, data, speed["oracle"])


def _queries(name: str, data: Data, path: str, rounds: int) -> Figure:
    def run(dataset: Any) -> None:
        for query in data.queries[:ASKED]:
            nearest = {"column": "v", "q": query, "k": K, "nprobes": 1}
            dataset.to_table(nearest=nearest, columns=["i", "_distance"])

    times = race({side.name: partial(run, side.tables().dataset(path)) for side in SIDES}, rounds)
    ours, oracle = (ASKED / times[side.name] for side in SIDES)
    return Figure("query", name, "", ours, oracle, "1/s")


def _orientation(name: str, data: Data, oracle: float) -> Iterator[Figure]:
    """Yield how fast others build what is like an index, where they are installed."""
    for package, (like, build) in OTHERS.items():
        if like == name and find_spec(package):
            speed = len(data.vectors) / 1e3 / _timed(partial(build, data))
            yield Figure(f"{package} build", name, "", speed, oracle, "krows/s")


def _faiss(data: Data) -> None:
    index = import_module("faiss").IndexPQ(DIMENSION, PRODUCTS, 8)
    index.train(data.vectors)
    index.add(data.vectors)


def _hnswlib(data: Data) -> None:
    index = import_module("hnswlib").Index(space="l2", dim=DIMENSION)
    index.init_index(max_elements=len(data.vectors), ef_construction=150, M=20)
    index.add_items(data.vectors, np.arange(len(data.vectors)), num_threads=1)


OTHERS: dict[str, tuple[str, Callable[[Data], None]]] = {
    "faiss": ("IVF_PQ", _faiss),
    "hnswlib": ("IVF_HNSW_SQ", _hnswlib),
}
"""Packages by name, the type that is like theirs, and what builds it."""


def _timed(run: Callable[[], object]) -> float:
    """Return the processor seconds of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start
