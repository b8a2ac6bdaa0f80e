"""Recall of segments: an index that tasks built in shards finds what one built at once finds.

For each type of vector index four are built over the same eight fragments: at once in one process,
as segments that share a model, as those merged into one, and as segments with models of their own.
All are asked the same queries with the same share of their partitions.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pylanceref
from lanceref_spark.distributed_index import build_index
from lanceref_spark.executor import Tasks
from pyspark.sql import SparkSession

from lance_conformance.bench.recall import ask, stored
from lance_conformance.bench.recall_data import Data, places
from lance_conformance.campaigns.faults.spark.schedules import Told

SHARDS = 8
DIMENSION = 32
PARTITIONS = 8
PROBES = 4
SEED = 5

WORSE = 0.02
"""Recall that segments may lack of an index built at once."""

TYPES: dict[str, dict[str, Any]] = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 8},
    "IVF_SQ": {},
    "IVF_RQ": {},
    "IVF_HNSW_SQ": {"m": 16, "ef_construction": 100},
}
"""Types that are built, and their parameters."""

WAYS: dict[str, dict[str, Any]] = {
    "a shared model": {"shared_model": True},
    "merged": {"shared_model": True, "merged": 1},
    "models of their own": {},
}
"""How tasks build an index."""


def recall(session: SparkSession, folder: Path, rows: int) -> Told:
    """Build and ask every type in every way."""
    data, told, wrong = places(rows, DIMENSION, SEED), [], []
    for name, given in TYPES.items():
        parameters = {"num_partitions": PARTITIONS, **given}
        path = _stored(data, folder / "at-once")
        pylanceref.dataset(path).create_index("v", name, **parameters)
        at_once = ask(pylanceref, path, data, PROBES, None)
        told.append(f"{name} {at_once:.3f}")
        for way, options in WAYS.items():
            path = _stored(data, folder / "segments")
            build_index(Tasks(session), path, "v", name, shards=SHARDS, **options, **parameters)
            found = ask(pylanceref, path, data, PROBES, None)
            told.append(f"{way} {found:.3f}")
            if found < at_once - WORSE:
                wrong.append(f"{name}, {way}: {found:.4f}, at once {at_once:.4f}")
    return ", ".join(told), wrong


def _stored(data: Data, path: Path) -> str:
    """Write the vectors in as many fragments as there are shards; return the path."""
    shutil.rmtree(path, ignore_errors=True)
    return stored(data, str(path), -(-len(data.vectors) // SHARDS))
