"""Release tables: histories of tables, as steps that every release can run.

Tables have 30 rows of one of the types that a release may store, or the columns for operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from lance_conformance.matrix.library_worker import save

ROWS = 30
"""Rows of every table: the first 20 are in the new table, the others are appended."""

_WORDS = ("alpha", "", "beta", "épsilon", "a longer word of the table")
_UNITS = ("s", "ms", "us", "ns")
_PAIR = pa.struct([("a", pa.int32()), ("b", pa.string())])

_PLAIN = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "bool", "null", "date32", "date64"),
    *("string", "large_string", "binary", "large_binary"),
)

TYPES: dict[str, pa.DataType] = {
    **{name: pa.type_for_alias(name) for name in _PLAIN},
    "decimal128": pa.decimal128(10, 2),
    "decimal256": pa.decimal256(50, 4),
    "required": pa.int32(),
    "constant": pa.int64(),
    "nothing": pa.int32(),
    **{f"timestamp-{unit}": pa.timestamp(unit) for unit in _UNITS},
    **{f"duration-{unit}": pa.duration(unit) for unit in _UNITS},
    **{f"time-{unit}": pa.time32(unit) for unit in _UNITS[:2]},
    **{f"time-{unit}": pa.time64(unit) for unit in _UNITS[2:]},
    "timestamp-zone": pa.timestamp("us", tz="Europe/Berlin"),
    **dict.fromkeys(("string-required", "string-nothing", "zstd", "lz4", "full-zip"), pa.string()),
    "fixed_size_binary": pa.binary(5),
    **dict.fromkeys(("dictionary", "dictionary-required"), pa.dictionary(pa.int32(), pa.string())),
    "dictionary-int8": pa.dictionary(pa.int8(), pa.string()),
    "dictionary-uint16": pa.dictionary(pa.uint16(), pa.large_string()),
    "list-int32": pa.list_(pa.int32()),
    "list-string": pa.list_(pa.string()),
    "list-required": pa.list_(pa.int64()),
    "large_list": pa.large_list(pa.int16()),
    "list-list": pa.list_(pa.list_(pa.int64())),
    "fsl-float32": pa.list_(pa.float32(), 4),
    "fsl-float64": pa.list_(pa.float64(), 4),
    "fsl-float16": pa.list_(pa.float16(), 4),
    "fsl-uint8": pa.list_(pa.uint8(), 3),
    "fsl-bool": pa.list_(pa.bool_(), 3),
    "fsl-item-nulls": pa.list_(pa.int32(), 2),
    "fsl-fsl": pa.list_(pa.list_(pa.int16(), 2), 2),
    "list-fsl": pa.list_(pa.list_(pa.int32(), 2)),
    "map": pa.map_(pa.string(), pa.int32()),
    **dict.fromkeys(("struct", "struct-nulls"), _PAIR),
    "struct-struct": pa.struct([("s", _PAIR), ("n", pa.int64())]),
    "struct-list": pa.struct([("l", pa.list_(pa.int32()))]),
    "list-struct": pa.list_(_PAIR),
    "list-struct-list": pa.list_(pa.struct([("l", pa.list_(pa.string()))])),
    "struct-fsl": pa.struct([("v", pa.list_(pa.float32(), 2))]),
    "struct-dictionary": pa.struct([("d", pa.dictionary(pa.int32(), pa.string()))]),
    "packed": pa.struct([("a", pa.int32()), ("b", pa.int64())]),
    "blob": pa.large_binary(),
}
"""Types of the column `c` by the name of its table."""

WITHOUT_NULLS = (
    *("float16", "constant", "zstd", "lz4", "full-zip", "packed", "list-fsl", "list-struct-list"),
    *("fsl-float64", "fsl-float16", "fsl-uint8", "fsl-bool", "fsl-item-nulls", "fsl-fsl"),
    *("struct", "struct-struct", "struct-list", "struct-fsl", "struct-dictionary"),
)
"""Tables with a nullable column without nulls."""

METADATA: Mapping[str, Mapping[str, str]] = {
    "packed": {"packed": "true", "lance-encoding:packed": "true"},
    "blob": {"lance-encoding:blob": "true"},
    "zstd": {"lance-encoding:compression": "zstd"},
    "lz4": {"lance-encoding:compression": "lz4"},
    "full-zip": {"lance-encoding:structural-encoding": "fullzip"},
}
"""Metadata of the column, which selects its encoding."""


def cell(kind: pa.DataType, row: int) -> object:
    """Return the value of a row; the first integers are the limits of their type."""
    types = pa.types
    if types.is_dictionary(kind):
        return cell(kind.value_type, row)
    if types.is_struct(kind):
        return {one.name: cell(one.type, row) for one in kind}
    if types.is_map(kind):
        return [(f"k{i}", i) for i in range(row % 3)]
    if types.is_fixed_size_list(kind):
        return [cell(kind.value_type, row + i) for i in range(kind.list_size)]
    if types.is_list(kind) or types.is_large_list(kind):
        items = [cell(kind.value_type, row + i) for i in range(row % 4)]
        return [*items[:2], None] if len(items) > 2 and types.is_integer(kind.value_type) else items
    if types.is_integer(kind):
        high = 2 ** (kind.bit_width - types.is_signed_integer(kind)) - 1
        low = -high - 1 if types.is_signed_integer(kind) else 0
        return (low, high, 0, 1)[row % 4] if row < 8 else row
    if types.is_floating(kind):
        return float("nan") if row == 5 and kind == pa.float64() else row / 4
    if types.is_boolean(kind):
        return row % 3 == 0
    if types.is_decimal(kind):
        return Decimal(row) / 100
    if types.is_date(kind):
        return date(1969, 12, 20) + timedelta(days=row)
    if types.is_timestamp(kind):
        return datetime(2024, 2, 29, 12, 30) + timedelta(days=row, seconds=row)
    if types.is_time(kind):
        return time(row % 24, row, row)
    if types.is_duration(kind):
        return timedelta(seconds=row - 5)
    if types.is_fixed_size_binary(kind):
        return bytes([row] * kind.byte_width)
    word = _WORDS[row % len(_WORDS)]
    return word.encode() if types.is_binary(kind) or types.is_large_binary(kind) else word


def table_of_type(name: str, kind: pa.DataType) -> pa.Table:
    """Return a table of columns `id` and `c`, where `c` has a type."""
    required, values = "required" in name, [cell(kind, row) for row in range(ROWS)]
    if name == "constant":
        values = [5] * ROWS
    elif name == "fsl-item-nulls":
        values = [[row, None if row % 3 else 2] for row in range(ROWS)]
    elif not required and name not in WITHOUT_NULLS:
        values = [None if row % 7 == 3 else one for row, one in enumerate(values)]
    if "nothing" in name or pa.types.is_null(kind):
        values = [None] * ROWS
    field = pa.field("c", kind, nullable=not required, metadata=METADATA.get(name))
    columns = [pa.array(range(ROWS), pa.int64()), pa.array(values, kind)]
    return pa.Table.from_arrays(columns, schema=pa.schema([pa.field("id", pa.int64()), field]))


_COLUMNS = {
    "i": pa.int32(),
    "s": pa.string(),
    "f": pa.float32(),
    "l": pa.list_(pa.int32()),
    "t": pa.struct([("x", pa.int32()), ("y", pa.string())]),
    "v": pa.list_(pa.float32(), 4),
}


def operation_table(ids: Sequence[int], shift: int = 0) -> pa.Table:
    """Return a table of ids with the columns for operations; `shift` changes the other values."""
    rows = [one + shift for one in ids]
    words = [_WORDS[row % len(_WORDS)] for row in rows]
    values: dict[str, list[object]] = {
        "i": [None if row % 5 == 4 else row * 3 for row in rows],
        "s": [word if row % 6 else None for row, word in zip(rows, words, strict=True)],
        "f": [row / 2 for row in rows],
        "l": [[row] * (row % 3) for row in rows],
        "t": [{"x": row, "y": word} for row, word in zip(rows, words, strict=True)],
        "v": [[row, row % 3, 1, row % 7] for row in rows],
    }
    columns = {name: pa.array(values[name], kind) for name, kind in _COLUMNS.items()}
    return pa.table({"id": pa.array(ids, pa.int64()), **columns})


Step = tuple[object, ...]
"""Name and arguments of a step of `matrix.library_worker`."""


@dataclass(frozen=True, slots=True)
class History:
    """A named table: the steps that create it, and the steps of the other side that continue it.

    `tables` are Arrow files, by the names in the steps; `filters` are predicates of reads.
    """

    name: str
    tables: Mapping[str, pa.Table]
    steps: tuple[Step, ...]
    continuation: tuple[Step, ...]
    filters: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)

    def write_tables(self, folder: Path) -> None:
        """Write the Arrow files to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            save(table, str(folder / name))


CREATED = 20
"""Rows of the new table of a history of a type."""


def of_type(name: str, table: pa.Table) -> History:
    """Return the history of a type: created in two fragments, appended, deleted from, compacted."""
    first, second = f"{name}.first", f"{name}.second"
    return History(
        f"type:{name}",
        {first: table.slice(0, CREATED), second: table.slice(CREATED)},
        (("create", first, 12), ("append", second), ("delete", "id % 5 = 2"), ("compact",)),
        (("append", first), ("delete", "id % 4 = 1")),
        ("id >= 4 and id < 25", "c is null"),
    )


_TABLES = {
    "old": operation_table(range(40)),
    "more": operation_table(range(40, 60)),
    "mixed": operation_table(range(30, 70), 1),
    "new": operation_table(range(55, 80)),
    "side": pa.table({"id": range(0, 40, 2), "extra": [f"e{i}" for i in range(20)]}),
}
_FILTERS = ("i > 30", "s = 'beta' or f < 3", "t.x < 20 and s is not null", "id in (1, 41, 61)")
_CONTINUATION: tuple[Step, ...] = (
    *(("append", "new"), ("delete", "id % 4 = 1")),
    *(("update", {"s": "'again'"}, "id = 6 or id = 44"), ("compact",)),
)


def _operations(
    name: str, *steps: Step, continuation: tuple[Step, ...] = _CONTINUATION, **options: object
) -> History:
    create = ("create", "old", 15)
    return History(name, _TABLES, (create, *steps), continuation, _FILTERS, options)


_EDITS: tuple[Step, ...] = (
    *(("append", "more"), ("delete", "id >= 10 and id < 16"), ("delete", "id % 7 = 3")),
    *(("update", {"i": "i + 1"}, "id > 33"), ("upsert", "mixed"), ("insert_new", "new")),
)

OPERATIONS: tuple[History, ...] = (
    _operations("append", ("append", "more"), ("append", "new")),
    _operations("delete", *_EDITS[1:3], ("delete", "id < 15")),
    _operations("delete-all", ("delete", "true"), ("append", "more")),
    _operations("edits", *_EDITS, ("compact",), ("delete", "id = 50")),
    _operations(
        "columns",
        *(("add", {"twice": "id * 2"}), ("drop", ["f"]), ("rename", "l", "numbers")),
        *(("add", {"text": "cast(id as string)"}), ("drop", ["twice"]), ("nullable", "id")),
        *(("cast", "i", "int64"), ("delete", "id % 3 = 0"), ("compact",)),
        continuation=(
            *(("delete", "id % 4 = 1"), ("update", {"s": "'again'"}, "id = 6"), ("compact",)),
        ),
    ),
    _operations(
        "join",
        *(("join", "side"), ("delete", "id < 7")),
        continuation=(("delete", "id % 4 = 1"), ("compact",)),
    ),
    _operations("overwrite", ("overwrite", "more"), ("append", "new"), ("restore", 1)),
    _operations("tags", ("append", "more"), ("tag", "first", 1), ("config", {"k": "v"})),
    _operations(
        "indices",
        *(("scalar", "id", "BTREE"), ("scalar", "i", "BITMAP"), ("append", "more")),
        *(("delete", "id % 7 = 3"), ("reindex",), ("update", {"i": "i + 1"}, "id > 33")),
    ),
    _operations(
        "vectors",
        *(("vector", "v", "IVF_PQ"), ("append", "more"), ("delete", "id % 7 = 3"), ("compact",)),
    ),
    _operations("v1-names", *_EDITS[:3], enable_v2_manifest_paths=False),
    _operations("v2-names", *_EDITS[:3], enable_v2_manifest_paths=True),
    _operations("moved-names", ("append", "more"), ("move",), ("delete", "id = 2")),
    _operations("stable", *_EDITS, ("compact",), enable_stable_row_ids=True),
)
"""Histories of operations."""

_INDEXED: Mapping[str, tuple[str, ...]] = {
    "BTREE": ("i", "f", "s"),
    "BITMAP": ("i", "s"),
    "ZONEMAP": ("i", "f", "s"),
    "BLOOMFILTER": ("i", "s"),
}
"""Indexed columns by type of index."""

_INDEX_FILTERS: Mapping[str, tuple[str, ...]] = {
    "i": ("i = 30", "i < 40", "i is null", "i in (3, 60) or i > 170"),
    "f": ("f = 3", "f >= 7 and f < 20", "f is null"),
    "s": ("s = 'beta'", "s < 'beta'", "s is null", "s is not null and s != 'beta'"),
}
"""Filters by indexed column."""


def of_index(kind: str, column: str) -> History:
    """Return the history of an index: created, without new rows, and optimized."""
    return History(
        f"index:{kind.lower()}:{column}",
        _TABLES,
        (
            *(("create", "old", 15), ("scalar", column, kind), ("append", "more")),
            *(("delete", "id % 7 = 3"), ("reindex",), ("append", "new")),
        ),
        (("delete", "id % 4 = 1"), ("reindex",), ("compact",)),
        _INDEX_FILTERS[column],
    )


def all_histories() -> list[History]:
    """Return every history: those of types, of operations and of indices."""
    return [
        *(of_type(name, table_of_type(name, kind)) for name, kind in TYPES.items()),
        *OPERATIONS,
        *(of_index(kind, column) for kind, columns in _INDEXED.items() for column in columns),
    ]
