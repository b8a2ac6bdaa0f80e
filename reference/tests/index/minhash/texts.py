"""Texts in a MINHASHLSH index."""

from __future__ import annotations

import random

import pyarrow as pa
import pylanceref
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from pylanceref.indices import IndexConfig
from pylanceref.query import MinHashQuery

from ..tables import write

SOURCE = random.Random(8)
WORDS = ["alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "Été", "ſtraße", "日本", "..."]


def some_text() -> str:
    """Return a few words."""
    return " ".join(SOURCE.choices(WORDS, k=SOURCE.randint(0, 7)))


TEXTS = [None if SOURCE.random() < 0.05 else some_text() for _ in range(600)]
PARAMETERS: tuple[dict[str, object], ...] = (
    {},
    {"num_hashes": 60, "num_bands": 20, "shingle_size": 1},
    {"shingle_size": 2, "tokenizer": {"stem": True, "base_tokenizer": "whitespace"}},
)


def make(values, root, parameters=None, type_=pa.string(), **options):  # noqa: B008
    """Write values and a MINHASHLSH index over them."""
    table = pa.table({"s": pa.array(values, type_), "i": range(len(values))})
    dataset = write(table, root, **options)
    dataset.create_scalar_index("s", IndexConfig("minhashlsh", dict(parameters or {})))
    return dataset


def opened(dataset) -> MinHashLsh:
    """Return the only segment, opened."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    return MinHashLsh(segment)


def alike(dataset, text, **scan) -> list[tuple[int, float]]:
    """Return the rows that are found, and their distances."""
    found = dataset.to_table(nearest=MinHashQuery(text, "s"), columns=["i", "_distance"], **scan)
    return list(zip(found["i"].to_pylist(), found["_distance"].to_pylist(), strict=True))
