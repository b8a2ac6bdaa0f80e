"""Recall of vector indices: how many of the nearest rows are found, by the oracle and by us.

Of every type each side builds indices as often as is said, and each side asks all of them. A third
index is ours with the centroids, codewords and rotation of the oracle's: there only how vectors are
encoded, and graphs are built, differs. Over an index of its own a side's training counts too.

Whatever has been measured is kept, a line of JSON each, and is not measured again.

    python -m lance_conformance.campaigns.vector_recall kept.jsonl --data digits --builds 5
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.vector_index import VectorIndex

from lance_conformance.campaigns.recall_data import Data, K, digits, places, sentences
from lance_conformance.campaigns.recall_table import HEADING, REFINED, Measured, table
from lance_conformance.oracle import lance

TYPES: dict[str, dict[str, object]] = {
    "IVF_FLAT": {},
    "IVF_SQ": {},
    "IVF_RQ 1": {"num_bits": 1},
    "IVF_RQ 5": {"num_bits": 5},
    "IVF_RQ 9": {"num_bits": 9},
    "IVF_HNSW_FLAT": {},
    "IVF_HNSW_SQ": {},
    "IVF_PQ": {"num_sub_vectors": 16},
    "IVF_PQ 4": {"num_sub_vectors": 16, "num_bits": 4},
    "IVF_HNSW_PQ": {"num_sub_vectors": 16},
}
"""Parameters by the type, and what tells it from others of the type."""


def ask(module: ModuleType, path: str, data: Data, probes: int, refine: int | None) -> float:
    """Ask every query, and return the recall at K."""
    dataset, found = module.dataset(path), 0
    for query, wanted in zip(data.queries, data.nearest, strict=True):
        nearest = {
            "column": "v",
            "q": query,
            "k": K,
            "nprobes": probes,
            "refine_factor": refine,
        }
        answer = dataset.to_table(nearest=nearest, columns=["i", "_distance"])
        found += len(wanted & set(answer["i"].to_pylist()))
    return found / (K * len(data.queries))


def stored(data: Data, path: str) -> str:
    """Write the vectors with their numbers; return the path."""
    numbers = pa.array(data.vectors.ravel())
    vectors = pa.FixedSizeListArray.from_arrays(numbers, data.vectors.shape[1])
    pylanceref.write_dataset(pa.table({"i": np.arange(len(data.vectors)), "v": vectors}), path)
    return path


def built(module: ModuleType, path: str, name: str, given: Mapping[str, object]) -> float:
    """Build an index over the vectors of a table; return how long that took."""
    dataset, type_ = module.dataset(path), name.partition(" ")[0]
    start = time.process_time()
    dataset.create_index("v", type_, **TYPES[name], **given)
    return time.process_time() - start


def model_of(path: str) -> dict[str, object]:
    """Return what an index has learnt, as arguments of `create_index`."""
    snapshot = pylanceref.dataset(path)._snapshot
    (index,) = snapshot.indices.known
    opened = index.open(index.segments[0]).index
    assert isinstance(opened, VectorIndex)
    centroids, quantizer = opened.head.model.centroids, opened.auxiliary.quantizer
    found: dict[str, object] = {"ivf_centroids": centroids, "num_partitions": len(centroids)}
    said = quantizer.metadata()
    if isinstance(quantizer, Product):
        found["pq_codebook"] = quantizer.quantizer.codebook
    if "rotation_type" in said:
        found["rabitq_model"] = json.dumps(said)
    return found


def measure(name: str, data: Data, root: Path, partitions: int) -> Iterator[Measured]:
    """Build indices of a type on both sides, and ask them."""
    probes = max(1, partitions // 4)
    trained: dict[str, object] = {"num_partitions": partitions}
    oracle = str(root / "oracle")
    for over in ("oracle", "ours", "given"):
        path = stored(data, str(root / over))
        model = model_of(oracle) if over == "given" else trained
        seconds = built(lance() if over == "oracle" else pylanceref, path, name, model)
        for by, module in (("oracle", lance()), ("ours", pylanceref)):
            for refine in REFINED:
                yield Measured(over, by, refine, ask(module, path, data, probes, refine), seconds)


def drawn(name: str, rows: int, kept: Path) -> Data:
    """Return a data set; embeddings are kept beside what was measured."""
    if name == "digits":
        return digits()
    if name == "sentences":
        return sentences(kept.with_name("sentences.npy"))
    return places(rows, 64, 0)


def main() -> None:
    """Measure every type, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("types", nargs="*", default=list(TYPES))
    parser.add_argument("--data", choices=("places", "digits", "sentences"), default="places")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--builds", type=int, default=1)
    given = parser.parse_args()
    lines = given.kept.read_text("utf-8").splitlines() if given.kept.exists() else []
    held = {tuple(json.loads(line)[0]): json.loads(line)[1] for line in lines}
    data = drawn(given.data, given.rows, given.kept)
    for number in range(given.builds):
        for name in given.types:
            key = (given.data, name, number)
            if key in held:
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = measure(name, data, Path(folder), given.partitions)
                held[key] = [one.values for one in found]
            with given.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, held[key]]) + "\n")
            print(*key, flush=True)
    print(HEADING)
    for name in given.types:
        builds = [held[given.data, name, number] for number in range(given.builds)]
        print(table(name, [[Measured(*one) for one in build] for build in builds]), flush=True)


if __name__ == "__main__":
    main()
