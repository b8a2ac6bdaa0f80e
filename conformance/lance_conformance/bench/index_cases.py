"""Cases of the benchmark of indices: a column, an index over it, and queries.

Each function takes the number of rows, and returns a column from a fixed seed, for geometries a
table. Queries are arguments of a scan, or a text `alike` for similar texts; they do not depend on
the number of rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEED = 20_261_121
"""Seed of every column."""

WORDS = 20_000
"""Distinct words of the texts."""

DIMENSION = 64
"""Dimension of vectors."""

Query = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Case:
    """An index: `parameters` are those of its type, `config` those of an `IndexConfig`."""

    type: str
    column: Callable[[int], pa.Array | pa.Table]
    queries: Mapping[str, Query]
    parameters: Mapping[str, object] = field(default_factory=dict)
    config: Mapping[str, object] | None = None

    @property
    def is_vector(self) -> bool:
        """Whether it is a vector index."""
        return self.type.startswith("IVF")

    def table(self, rows: int) -> pa.Table:
        """Return a table of `rows` rows."""
        column = self.column(rows)
        return column if isinstance(column, pa.Table) else pa.table({"c": column})


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def shuffled(rows: int) -> pa.Array:
    """int64, the even numbers below twice the number of rows, in random order."""
    return pa.array(_rng().permutation(np.arange(0, 2 * rows, 2)))


def ascending(rows: int) -> pa.Array:
    """int64, the even numbers in ascending order."""
    return pa.array(np.arange(0, 2 * rows, 2))


def few(rows: int) -> pa.Array:
    """int64, uniform below 100."""
    return pa.array(_rng().integers(0, 100, rows))


def lists(rows: int) -> pa.Array:
    """Lists of 0 to 4 int64 below 1 000."""
    rng = _rng()
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(rng.integers(0, 5, rows), out=offsets[1:])
    items = rng.integers(0, 1000, int(offsets[-1]))
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(items))


def names(rows: int) -> pa.Array:
    """Strings with a common prefix and suffix around a hash of the row number in base 36."""
    numbers = (np.arange(rows, dtype=np.uint64) * np.uint64(2_654_435_761)) % np.uint64(2**32)
    return pa.array([f"user {np.base_repr(number, 36).lower()} of item" for number in numbers])


def documents(rows: int) -> pa.Array:
    """JSON documents with a number below 1 000 and a word."""
    numbers = _rng().integers(0, 1000, rows).tolist()
    texts = [json.dumps({"n": number, "s": f"word{number % 7}"}) for number in numbers]
    return pa.array(texts, pa.json_())


def texts(rows: int) -> pa.Array:
    """Texts of 10 words from a Zipf distribution."""
    rng = _rng()
    words = pa.array([_word(number) for number in range(WORDS)])
    drawn = np.minimum(rng.zipf(1.3, 10 * rows) - 1, WORDS - 1)
    offsets = pa.array(np.arange(0, 10 * rows + 1, 10, dtype=np.int32))
    return pc.binary_join(pa.ListArray.from_arrays(offsets, words.take(drawn)), " ")


def points(rows: int) -> pa.Table:
    """Points in a square with sides of 1 000."""
    type_ = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])
    x, y = (pa.array(axis) for axis in _rng().uniform(0, 1000, (2, rows)))
    name = {"ARROW:extension:name": "geoarrow.point"}
    schema = pa.schema([pa.field("c", type_, metadata=name)])
    return pa.table([pa.StructArray.from_arrays([x, y], fields=list(type_))], schema)


def vectors(rows: int) -> pa.Array:
    """Vectors of 64 float32 around 1 000 centers."""
    rng = _rng()
    centers = rng.normal(size=(1000, DIMENSION)).astype(np.float32)
    noise = 0.3 * rng.normal(size=(rows, DIMENSION)).astype(np.float32)
    numbers = centers[rng.integers(0, len(centers), rows)] + noise
    return pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), DIMENSION)


def _word(number: int) -> str:
    """Return a word of three syllables for a number below 125 000."""
    syllables = [f"{head}{tail}" for head in "bdfklmnprt" for tail in "aeiou"]
    return "".join(syllables[number // 50**place % 50] for place in range(3))


def _filters(**conditions: str) -> dict[str, Query]:
    """Return conditions as arguments of scans of row ids."""
    return {
        name: {"filter": text, "columns": [], "with_row_id": True}
        for name, text in conditions.items()
    }


def _searches(**words: str) -> dict[str, Query]:
    """Return searches for the ten best rows."""
    return {
        name: {"full_text_query": text, "columns": ["_score"], "with_row_id": True, "limit": 10}
        for name, text in words.items()
    }


def _nearest(**options: object) -> Query:
    """Return a search for the ten nearest vectors."""
    nearest = {"column": "c", "q": np.full(DIMENSION, 0.25, np.float32), "k": 10, **options}
    return {"nearest": nearest, "columns": ["_distance"], "with_row_id": True}


SEARCHES = {"few": _nearest(nprobes=2), "many": _nearest(nprobes=16)}
PARTITIONS: Mapping[str, object] = {"num_partitions": 16}
GRAPH: Mapping[str, object] = {**PARTITIONS, "m": 20, "ef_construction": 150}
PRODUCTS: Mapping[str, object] = {"num_sub_vectors": 16}

ORDERED = _filters(point="c = 500", range="c >= 400 AND c < 900", several="c IN (2, 400, 1000)")

ALIKE = " ".join(map(_word, range(10)))
"""A text of the most frequent words."""

CASES = (
    Case("BTREE", shuffled, ORDERED),
    Case("BITMAP", few, _filters(point="c = 42", range="c < 3", several="c IN (2, 40, 70)")),
    Case("ZONEMAP", ascending, ORDERED),
    Case("BLOOMFILTER", ascending, _filters(point="c = 500", several="c IN (2, 400, 1000)")),
    Case("NGRAM", names, _filters(rare="contains(c, '1z1')", common="contains(c, 'r 1')")),
    Case(
        "LABEL_LIST",
        lists,
        _filters(
            point="array_has(c, 42)",
            any="array_has_any(c, [1, 2, 3])",
            all="array_has_all(c, [1, 2])",
        ),
    ),
    Case("INVERTED", texts, _searches(rare=_word(15_000), common=_word(3), two="bebaba dadaba")),
    Case(
        "JSON",
        documents,
        _filters(point="json_get_int(c, 'n') = 42", range="json_get_int(c, 'n') < 3"),
        config={"target_index_type": "btree", "path": "n"},
    ),
    Case("FM", names, _filters(rare="contains(c, '1z1z')", common="contains(c, '1z')"), {}, {}),
    Case(
        "RTREE",
        points,
        _filters(box="st_intersects(c, st_geomfromtext('POLYGON((2 2,9 2,9 9,2 9,2 2))'))"),
    ),
    Case("MINHASHLSH", texts, {"alike": {"alike": ALIKE, "columns": [], "with_row_id": True}}),
    Case("IVF_FLAT", vectors, SEARCHES, PARTITIONS),
    Case("IVF_PQ", vectors, SEARCHES, {**PARTITIONS, **PRODUCTS}),
    Case("IVF_SQ", vectors, SEARCHES, PARTITIONS),
    Case("IVF_RQ", vectors, SEARCHES, {**PARTITIONS, "num_bits": 5}),
    Case("IVF_HNSW_FLAT", vectors, SEARCHES, GRAPH),
    Case("IVF_HNSW_PQ", vectors, SEARCHES, {**GRAPH, **PRODUCTS}),
    Case("IVF_HNSW_SQ", vectors, SEARCHES, GRAPH),
)
"""Every type of index with its queries."""
