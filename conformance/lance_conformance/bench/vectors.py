"""Vector benchmark: both implementations build and search indices of one partition, on one core.

Both search the index of the reference, so that they do the same work; the recall is that of the
index that each has built. If faiss or hnswlib is installed, its build time is reported in place of
the reference's, without a goal.
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

from lance_conformance.bench.engines import ENGINES, OURS
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.recall import recall, store
from lance_conformance.bench.recall_data import Data, K, clustered
from lance_conformance.bench.timing import time_in_turn

SEED = 11
DIMENSION = 64
ROWS_PER_MIB = 2**18 // DIMENSION

GRAPH_ROWS = 10_000
"""Most rows of an index with a graph."""

TIMED_QUERIES = 40
"""Queries that are timed; the recall is over all."""

PRODUCTS = 16
"""Sub-vectors of a product quantizer."""

TYPES: dict[str, dict[str, object]] = {
    "IVF_PQ": {"num_sub_vectors": PRODUCTS},
    "IVF_RQ": {"num_bits": 5},
    "IVF_SQ": {},
    "IVF_HNSW_SQ": {"m": 20, "ef_construction": 150},
}
"""Types of indices, and their parameters."""


def vectors(folder: Path, mib: int, rounds: int) -> Iterator[Figure]:
    """Yield queries and thousands of rows per second, and recall, of every type."""
    whole = clustered(mib * ROWS_PER_MIB, DIMENSION, SEED)
    small = clustered(min(GRAPH_ROWS, mib * ROWS_PER_MIB), DIMENSION, SEED)
    for name, parameters in TYPES.items():
        data = small if "HNSW" in name else whole
        paths = {
            engine.name: store(data, str(folder / f"{name}-{engine.name}")) for engine in ENGINES
        }
        seconds, recalls = {}, {}
        for engine in ENGINES:
            dataset = engine.tables().dataset(paths[engine.name])
            build = partial(dataset.create_index, "v", name, num_partitions=1, **parameters)
            seconds[engine.name] = _timed(build)
            recalls[engine.name] = recall(engine.tables(), paths[engine.name], data, 1, None)
        speed = {engine: len(data.vectors) / 1e3 / taken for engine, taken in seconds.items()}
        yield Figure("build", name, "", speed["ours"], speed["oracle"], "krows/s")
        yield Figure("recall", name, "", recalls["ours"], recalls["oracle"], f"of {K}")
        yield _queries(name, data, paths[OURS.name], rounds)
        yield from _orientation(name, data, speed["oracle"])


def _queries(name: str, data: Data, path: str, rounds: int) -> Figure:
    def run(dataset: Any) -> None:
        for query in data.queries[:TIMED_QUERIES]:
            nearest = {"column": "v", "q": query, "k": K, "nprobes": 1}
            dataset.to_table(nearest=nearest, columns=["i", "_distance"])

    times = time_in_turn(
        {engine.name: partial(run, engine.tables().dataset(path)) for engine in ENGINES}, rounds
    )
    ours, oracle = (TIMED_QUERIES / times[engine.name] for engine in ENGINES)
    return Figure("query", name, "", ours, oracle, "1/s")


def _orientation(name: str, data: Data, oracle: float) -> Iterator[Figure]:
    """Yield the speed of building an equivalent index by other packages, if installed."""
    for package, (equivalent, build) in OTHERS.items():
        if equivalent == name and find_spec(package):
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
"""By package, the equivalent type and the function that builds the index."""


def _timed(run: Callable[[], object]) -> float:
    """Return the processor seconds of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start
