"""Texts in an FM index."""

from __future__ import annotations

import random

import pyarrow as pa
import pylanceref
from lanceref.index.fm.partition import Partition, open_partition
from pylanceref.indices import IndexConfig

from ..tables import write

LETTERS = "abcé日 "
SOURCE = random.Random(6)
TEXTS = [
    None if SOURCE.random() < 0.1 else "".join(SOURCE.choices(LETTERS, k=SOURCE.randint(0, 12)))
    for _ in range(400)
]
PARTS = ["".join(SOURCE.choices(LETTERS, k=SOURCE.randint(0, 3))) for _ in range(110)]
CONDITIONS = [
    *(f"contains(s, '{part}')" for part in PARTS),
    *(f"not contains(s, '{part}')" for part in PARTS if " " not in part),
    "contains(s, 'a') and contains(s, 'bc')",
    "contains(s, 'ab') or contains(s, '日')",
    "not (contains(s, 'a') or contains(s, 'é'))",
]


def make(values, root, type_=pa.string(), **options) -> pylanceref.LanceDataset:  # noqa: B008
    """Write values and an FM index over them."""
    dataset = write(pa.table({"s": pa.array(values, type_)}), root, **options)
    dataset.create_scalar_index("s", IndexConfig("fm"))
    return dataset


def partitions(dataset) -> list[Partition]:
    """Return the partitions of the only segment."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    return [open_partition(segment.file(one.path)) for one in segment.entry.files]
