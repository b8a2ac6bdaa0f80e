"""Random tables: a few columns, options of a writer, and labels of their properties."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pyarrow as pa
from hypothesis import strategies as st
from lanceref.core.file_versions import FileVersion

from lanceref_testing.arrays import random_array
from lanceref_testing.encoding_metadata import packed_struct, random_metadata
from lanceref_testing.types import nesting, random_type, type_names

NUM_ROWS = (0, 1, 7, 100, 300, 1000, 1025, 3000, 9000, 25_000)
"""Numbers of rows: none, few, near the thresholds of writers, several chunks."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A table to be written as a file of `version`.

    Each batch has `batch_rows` rows; a writer may buffer `cache_bytes` before it starts a page
    (None: its default). `labels` are properties to be counted: types (`type int8`), nesting (`depth
    2`), patterns of nulls (`nulls some`) and values, and encoding metadata (`knob ...`).
    """

    table: pa.Table
    version: FileVersion
    batch_rows: int
    cache_bytes: int | None
    labels: frozenset[str]


def random_sample(seed: int, version: FileVersion, max_depth: int = 4) -> Sample:
    """Return the sample of a seed: the same one every time."""
    return draw_sample(Random(seed), version, max_depth)


def tables(version: FileVersion, max_depth: int = 4) -> st.SearchStrategy[Sample]:
    """Strategy: tables that files of `version` can store."""
    return st.randoms(use_true_random=False).map(lambda rng: draw_sample(rng, version, max_depth))


def draw_sample(rng: Random, version: FileVersion, max_depth: int) -> Sample:
    """Draw a table of one to four columns, and the options of a writer."""
    num_rows = rng.choice(NUM_ROWS)
    labels: set[str] = set()
    columns = [
        _draw_column(rng, f"c{i}", num_rows, version, max_depth, labels)
        for i in range(rng.randint(1, 4))
    ]
    schema = pa.schema([field for field, _ in columns])
    table = pa.Table.from_arrays([array for _, array in columns], schema=schema)
    batch_rows = max(1, rng.choice((num_rows, num_rows, num_rows // 3, 100)))
    cache_bytes = rng.choice((None, None, 1024, 20_000))
    if cache_bytes is not None and batch_rows < num_rows:
        labels.add("many pages")
    labels.add(f"rows {num_rows}")
    return Sample(table, version, batch_rows, cache_bytes, frozenset(labels))


def _draw_column(
    rng: Random, name: str, num_rows: int, version: FileVersion, max_depth: int, labels: set[str]
) -> tuple[pa.Field, pa.Array]:
    if rng.random() < 0.08:
        type_, metadata, nullable = packed_struct(rng, version), {"packed": "true"}, False
        labels.add("packed struct")
        children = [
            random_array(rng, f.type, num_rows, version, nullable=False, labels=labels)
            for f in type_
        ]
        array = pa.StructArray.from_arrays(children, fields=list(type_))
    else:
        type_ = random_type(rng, version, rng.randint(0, max_depth))
        metadata = random_metadata(rng, type_, version)
        nullable = pa.types.is_null(type_) or rng.random() < 0.85
        array = random_array(rng, type_, num_rows, version, nullable=nullable, labels=labels)
    labels |= {f"type {one}" for one in type_names(type_)}
    labels |= {f"knob {key.rpartition(':')[2]}={value}" for key, value in metadata.items()}
    labels.add(f"depth {nesting(type_)}")
    return pa.field(name, type_, nullable, metadata), array
