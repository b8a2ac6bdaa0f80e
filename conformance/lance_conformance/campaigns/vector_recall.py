"""Recall of vector indices: how many of the nearest rows are found, by the oracle and by us.

Vectors are drawn around places, queries near some of them. Of every type, indices are built by each
side as often as is said; each side then asks all of them. Over one index both have the same
centroids, codewords and rotations: their recall is the same but for what a bound leaves out. Over
indices of their own, what differs is the training.

    python -m lance_conformance.campaigns.vector_recall --rows 100000 --builds 5
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import lanceref
import numpy as np
import pyarrow as pa
from lanceref.kernels.distance import Floats, distances
from lanceref.kernels.top_k import smallest

from lance_conformance.oracle import lance

K = 10
QUERIES = 200
PLACES = 300

TYPES: dict[str, dict[str, object]] = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 16},
    "IVF_PQ 4": {"num_sub_vectors": 16, "num_bits": 4},
    "IVF_SQ": {},
    "IVF_RQ 1": {"num_bits": 1},
    "IVF_RQ 5": {"num_bits": 5},
    "IVF_RQ 9": {"num_bits": 9},
    "IVF_HNSW_FLAT": {},
    "IVF_HNSW_PQ": {"num_sub_vectors": 16},
    "IVF_HNSW_SQ": {},
}
"""Parameters by the type, and what tells it from others of the type."""


@dataclass(frozen=True, slots=True)
class Data:
    """Vectors and queries, and for each query the nearest rows, all of one size."""

    vectors: Floats
    queries: Floats
    nearest: list[frozenset[int]]


def draw(rows: int, dimension: int, seed: int) -> Data:
    """Return vectors around places, the queries apart from them."""
    random = np.random.default_rng(seed)
    places = random.normal(size=(PLACES, dimension))
    drawn = places[random.integers(0, PLACES, rows + QUERIES)]
    moved: Floats = np.asarray(drawn + 0.5 * random.normal(size=drawn.shape), np.float32)
    vectors, queries = moved[:rows], moved[rows:]
    near = (distances(query[None], vectors, "l2")[0] for query in queries)
    return Data(vectors, queries, [frozenset(smallest(one, K).tolist()) for one in near])


@dataclass(frozen=True, slots=True)
class Answers:
    """Recall at K of one side over one index, and the seconds that a query takes."""

    recall: float
    seconds: float


def ask(module: ModuleType, path: str, data: Data, probes: int, refine: int | None) -> Answers:
    """Ask every query."""
    dataset, found = module.dataset(path), 0
    start = time.perf_counter()
    for query, wanted in zip(data.queries, data.nearest, strict=True):
        nearest = {
            "column": "v",
            "q": query,
            "k": K,
            "nprobes": probes,
            "refine_factor": refine,
        }
        table = dataset.to_table(nearest=nearest, columns=["i"])
        found += len(wanted & set(table["i"].to_pylist()))
    seconds = (time.perf_counter() - start) / len(data.queries)
    return Answers(found / (K * len(data.queries)), seconds)


def built(module: ModuleType, source: str, path: str, name: str, partitions: int) -> float:
    """Build an index in a new table with the rows of another; return how long that took."""
    table = lanceref.dataset(source).to_table()
    lanceref.write_dataset(table, path)
    dataset = module.dataset(path)
    start = time.perf_counter()
    type_ = name.partition(" ")[0]
    dataset.create_index("v", type_, num_partitions=partitions, **TYPES[name])
    return time.perf_counter() - start


def line(name: str, refine: int | None, rows: Sequence[Sequence[Answers]]) -> str:
    """Return what is printed of a type: over the oracle's indices and over ours, by both sides."""
    cells = [float(np.mean([one.recall for one in column])) for column in rows]
    times = [float(np.mean([one.seconds for one in column])) * 1000 for column in rows]
    shown = " ".join(f"{one:9.4f}" for one in cells)
    return f"{name:14} {refine or '-':>6} {shown}  {times[0]:7.2f} {times[1]:7.2f}"


HEADING = (
    "over the index of    oracle    oracle      ours      ours    ms by   ms by\n"
    "type           refine by oracle   by ours by oracle   by ours   oracle    ours"
)


def measure(name: str, data: Data, root: Path, builds: int, partitions: int) -> None:
    """Build indices of a type on both sides, ask them, and print."""
    probes, source = max(1, partitions // 4), str(root / "rows")
    took: dict[str, list[float]] = {"oracle": [], "ours": []}
    found: dict[int | None, list[list[Answers]]] = {None: [[], [], [], []], 4: [[], [], [], []]}
    for number in range(builds):
        for side, (who, module) in enumerate((("oracle", lance()), ("ours", lanceref))):
            path = str(root / f"{name} {who} {number}")
            took[who].append(built(module, source, path, name, partitions))
            for refine, columns in found.items():
                for other, asking in enumerate((lance(), lanceref)):
                    columns[2 * side + other].append(ask(asking, path, data, probes, refine))
    for refine, columns in found.items():
        print(line(name, refine, columns), flush=True)
    seconds = ", ".join(f"{who} {np.mean(times):.2f} s" for who, times in took.items())
    print(f"{'':14} built in {seconds}", flush=True)


def main() -> None:
    """Measure every type, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("types", nargs="*", default=list(TYPES))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=64)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--builds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    data = draw(given.rows, given.dimension, given.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        numbers = pa.array(data.vectors.ravel())
        vectors = pa.FixedSizeListArray.from_arrays(numbers, given.dimension)
        table = pa.table({"i": np.arange(given.rows), "v": vectors})
        lanceref.write_dataset(table, str(root / "rows"))
        print(HEADING)
        for name in given.types:
            measure(name, data, root, given.builds, given.partitions)


if __name__ == "__main__":
    main()
