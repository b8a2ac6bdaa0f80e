"""Values: columns of the tables of histories, random rows of any schema, functions of lines.

A line gives rows by a schema, a seed and a number, so that it stays short and both implementations
get the same rows. Lines may call `LINE_FUNCTIONS` beside the names of `lance`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref
import shapely
from lanceref_testing.columns import Column, geometries, sql
from pylanceref.sql.strict import is_text

COLUMNS: dict[str, pa.DataType] = {
    "k": pa.int64(),
    "s": pa.string(),
    "w": pa.large_string(),
    "i": pa.int32(),
    "f": pa.float64(),
    "b": pa.bool_(),
    "d": pa.date32(),
    "l": pa.list_(pa.int32()),
    "m": pa.list_(pa.string()),
    "n": pa.struct([("x", pa.int32()), ("y", pa.string())]),
    "v": pa.list_(pa.float32(), 8),
    "j": pa.json_(),
    "g": pa.binary(),
}
"""Types of columns by name, first the key; binary ones have points."""

PLAIN, INDEXED = "sifbdvln", "swifbdlmnvjg"
"""Names of columns without the key: for all operations, and for operations on indices."""

POINTS = {b"ARROW:extension:name": b"geoarrow.wkb"}
"""Metadata of a field of geometries."""

STORAGE = ("0.1", "2.0", "2.1", "2.1", "2.2", "2.3")
"""File versions of new tables."""

KEYS, NULLS = 60, 0.15
"""Number of keys, which rows of different steps share; share of nulls in nullable columns."""

WORDS = ("", "a", "b", "lance", "Ü", "x" * 40)
TOKENS = ("lance", "reads", "old", "tables", "Über", "running", "the")
"""Values of text columns, and words of longer texts."""


def schema_text(random: Random, names: str, *, nullable: bool) -> str:
    """Return the expression of a random schema; 0.1 has nulls of few types."""
    chosen = "".join(random.sample(names, random.randrange(1, 5)))
    return f"columns({'k' + chosen!r}{'' if nullable else ', nullable=False'})"


def columns(names: str, *, nullable: bool = True) -> pa.Schema:
    """Return the schema of columns by their names."""
    return pa.schema(
        pa.field(name, COLUMNS[name], nullable, POINTS if name == "g" else None) for name in names
    )


def rows(schema: pa.Schema, seed: int, count: int, *, repeated: bool = False) -> pa.Table:
    """Return `count` rows; the first column of int64 is a key, unique unless `repeated`."""
    random, arrays, has_key = Random(seed), list[pa.Array](), False
    for field in schema:
        if not has_key and pa.types.is_int64(field.type):
            draw = random.choices if repeated else random.sample
            arrays.append(pa.array(draw(range(max(KEYS, count)), k=count), field.type))
            has_key = True
            continue
        items = [value(field.type, random) for _ in range(count)]
        if field.nullable:
            items = [None if random.random() < NULLS else item for item in items]
        arrays.append(pa.array(items, field.type))
    return pa.table(arrays, schema=schema)


def value(kind: pa.DataType, random: Random) -> object:
    """Return a random value of a type, not null."""
    types = pa.types
    if types.is_struct(kind):
        return {field.name: value(field.type, random) for field in kind}
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        size = random.randrange(4) if types.is_list(kind) else kind.list_size
        return [value(kind.value_type, random) for _ in range(size)]
    if types.is_boolean(kind):
        return random.random() < 0.5
    if kind == pa.json_():
        return json.dumps({"a": random.randrange(KEYS), "b": random.choice(WORDS)})
    if types.is_integer(kind):
        return random.randrange(100)
    if types.is_floating(kind):
        return random.randrange(100) / 4
    if types.is_large_string(kind):
        return " ".join(random.choices(TOKENS, k=random.randrange(6)))
    if types.is_string(kind):
        return random.choice(WORDS)
    if types.is_binary(kind):
        return shapely.to_wkb(shapely.Point(random.randrange(20), random.randrange(20) / 2))
    return datetime.date(1970, 1, 1) + datetime.timedelta(random.randrange(10_000))


def column(kind: pa.DataType) -> Column:
    """Return the values for conditions on a column; for JSON documents those of member `a`."""
    if pa.types.is_binary(kind):
        return geometries("geoarrow.wkb")
    if kind == pa.json_():
        return column(pa.int64())
    values = [value(kind, Random(seed)) for seed in range(60)]
    return Column(kind, (*WORDS, *TOKENS) if is_text(kind) else values, sql)


def points(*shape: int) -> np.ndarray:
    """Return float32 vectors of a shape, always the same."""
    return np.random.default_rng(0).integers(0, 100, shape).astype(np.float32) / np.float32(4)


def order_by_table(table: Any, key: str, source: pa.Table) -> pa.Table:
    """Return the source of a merge with the matching rows first, in the order of the table.

    The oracle writes updated rows in the order of the smaller side; so both orders are equal. If
    the table has a key of the source several times, only one such row remains of those that match.
    """
    table_keys = table.to_table(columns=[key])[key].to_pylist()
    keys = source[key].to_pylist()
    matched = [row for row, one in enumerate(keys) if one in table_keys]
    matched.sort(key=lambda row: table_keys.index(keys[row]))
    others = [row for row, one in enumerate(keys) if one not in table_keys]
    repeated = [row for row in matched if table_keys.count(keys[row]) > 1]
    return source.take(np.array([*(repeated[:1] or matched), *others], np.int64))


def replace_column(lance: Any, table: Any, name: str, number: int, seed: int) -> None:
    """Replace the values of a column of a fragment by a new data file."""
    schema = pa.schema([table.schema.field(name)])
    values = rows(schema, seed, _fragment(table, number).physical_rows)
    version = table.data_storage_version
    (fragment,) = lance.fragment.write_fragments(
        values, table.uri, schema, mode="overwrite", data_storage_version=version
    )
    (new,) = fragment.files
    version = new.file_major_version, new.file_minor_version
    ids, columns = field_ids(pylanceref.dataset(table.uri), name), list(new.column_indices)
    fields = [ids[one] for one in new.fields]  # ids in the file count from 0
    file = lance.fragment.DataFile(new.path, fields, columns, *version)
    group = lance.LanceOperation.DataReplacementGroup(number, file)
    operation = lance.LanceOperation.DataReplacement([group])
    lance.LanceDataset.commit(table, operation, read_version=table.version)


def update_column(lance: Any, table: Any, key: str, name: str, number: int, seed: int) -> list[int]:
    """Update a column of a fragment in place; return the ids of the fields that changed."""
    fields = [table.schema.field(key), table.schema.field(name)]
    source = rows(pa.schema(fields), seed, 30)
    updated, modified = _fragment(table, number).update_columns(source, left_on=key)
    operation = lance.LanceOperation.Update(
        updated_fragments=[updated], fields_modified=modified, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(table, operation, read_version=table.version)
    return list(modified)


def commit_segments(
    table: Any, numbers: list[int], is_merged: bool, column: str, kind: Any, **options: Any
) -> None:
    """Build an index segment of each fragment, merge the first two or not, and commit all."""
    segments = [
        table.create_index_uncommitted(column, kind, fragment_ids=[one], replace=True, **options)
        for one in numbers
    ]
    if is_merged:
        segments = [table.merge_existing_index_segments(segments[:2]), *segments[2:]]
    table.commit_existing_index_segments(f"{column}_idx", column, segments)


def json_index(target: str, lance: Any) -> Any:
    """Return the configuration of an index on member `a` of documents.

    The oracle can only update those of type BTREE.
    """
    return lance.indices.IndexConfig("json", {"target_index_type": target, "path": "a"})


def delete_detached(lance: Any, table: Any, predicate: str) -> object:
    """Delete rows in a detached version; return its number of rows and whether it is detached."""
    results = {one.fragment_id: one.delete(predicate) for one in table.get_fragments()}
    removed = [number for number, one in results.items() if not one]
    updated = [one for one in results.values() if one is not None]
    operation = lance.LanceOperation.Delete(updated, removed, predicate)
    version = lance.LanceDataset.commit(table, operation, read_version=table.version, detached=True)
    return {"rows": version.count_rows(), "detached": version.version >> 63}


def clean_up(table: Any, **options: Any) -> dict[str, int]:
    """Remove old versions; return the numbers of removed versions and files.

    Without unverified files: the reference has removed those of refused commits already.
    """
    stats = table.cleanup_old_versions(**options)
    files = 0 if options.get("delete_unverified") else stats.data_files_removed
    return {"versions": stats.old_versions, "files": files}


def _fragment(table: Any, number: int) -> Any:
    """Return a fragment. Raises LookupError."""
    fragment = table.get_fragment(number)
    if fragment is None:
        raise LookupError(f"no fragment {number}")
    return fragment


def field_ids(table: pylanceref.LanceDataset, name: str) -> list[int]:
    """Return the ids of a column and of its nested fields."""
    top = table._snapshot.manifest.schema.fields
    return [one.id for field in top if field.name == name for one in field.flat()]


LINE_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(clean_up, columns, commit_segments, delete_detached, json_index),
        *(order_by_table, points, replace_column, rows, update_column),
    )
}
"""Functions that lines of a history may call."""
