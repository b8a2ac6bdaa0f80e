"""Values: the columns that tables of a history may begin with, and rows of any schema.

A history names its rows by a schema, a seed and a number, so that a line of it stays short and
both implementations are given the same rows. The functions of `LINE_NAMES` are what lines may say
beside the names of `lance`: each takes the module or a dataset of either implementation.
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
"""Columns by name, first the key; binary ones hold points."""

PLAIN, INDEXED = "sifbdvln", "swifbdlmnvjg"
"""Names of columns beside the key: usual ones, and those that indices are built over."""

POINTS = {b"ARROW:extension:name": b"geoarrow.wkb"}
"""Metadata of a field that holds geometries."""

STORAGE = ("0.1", "2.0", "2.1", "2.1", "2.2", "2.3")
"""File versions to choose from."""

KEYS = 60
"""Keys are drawn from 0 to this: rows of different steps meet."""

NULLS = 0.15
"""Share of nulls in columns that may hold them."""

WORDS = ("", "a", "b", "lance", "Ü", "x" * 40)
"""Texts to choose from."""

TOKENS = ("lance", "reads", "old", "tables", "Über", "running", "the")
"""Words of longer texts."""


def schema_text(random: Random, names: str, *, nullable: bool) -> str:
    """Return words for a schema of a key and other columns; 0.1 knows nulls of few types."""
    chosen = "".join(random.sample(names, random.randrange(1, 5)))
    return f"columns({'k' + chosen!r}{'' if nullable else ', nullable=False'})"


def columns(names: str, *, nullable: bool = True) -> pa.Schema:
    """Return the schema of columns by their names."""
    return pa.schema(
        pa.field(name, COLUMNS[name], nullable, POINTS if name == "g" else None) for name in names
    )


def rows(schema: pa.Schema, seed: int, count: int, *, repeated: bool = False) -> pa.Table:
    """Return `count` rows; the first column of int64 is a key, unique unless `repeated`."""
    random, held, keyed = Random(seed), list[pa.Array](), False
    for field in schema:
        if not keyed and pa.types.is_int64(field.type):
            draw = random.choices if repeated else random.sample
            held.append(pa.array(draw(range(max(KEYS, count)), k=count), field.type))
            keyed = True
            continue
        items = [value(field.type, random) for _ in range(count)]
        if field.nullable:
            items = [None if random.random() < NULLS else item for item in items]
        held.append(pa.array(items, field.type))
    return pa.table(held, schema=schema)


def value(kind: pa.DataType, random: Random) -> object:
    """Return a value of a column that is not null."""
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
    """Return values that conditions on a column are drawn from, of documents those of `a`."""
    if pa.types.is_binary(kind):
        return geometries("geoarrow.wkb")
    if kind == pa.json_():
        return column(pa.int64())
    some = [value(kind, Random(seed)) for seed in range(60)]
    drawn = (*WORDS, *TOKENS) if is_text(kind) else some
    return Column(kind, drawn, sql)


def points(*shape: int) -> np.ndarray:
    """Return vectors, the same each time."""
    return np.random.default_rng(0).integers(0, 100, shape).astype(np.float32) / np.float32(4)


def aligned(table: Any, key: str, source: pa.Table) -> pa.Table:
    """Return rows to be merged: those with a key that the table has first, in the table's order.

    The oracle writes updated rows in the order of whichever side takes less memory; this way both
    orders are one. Of the rows whose key the table has more than once one stays, and alone.
    """
    own = table.to_table(columns=[key])[key].to_pylist()
    keys = source[key].to_pylist()
    matched = [row for row, one in enumerate(keys) if one in own]
    matched.sort(key=lambda row: own.index(keys[row]))
    others = [row for row, one in enumerate(keys) if one not in own]
    twice = [row for row in matched if own.count(keys[row]) > 1]
    return source.take(np.array([*(twice[:1] or matched), *others], np.int64))


def replaced(lance: Any, table: Any, name: str, number: int, seed: int) -> None:
    """Put other values in place of a column of a fragment."""
    schema = pa.schema([table.schema.field(name)])
    values = rows(schema, seed, _fragment(table, number).physical_rows)
    version = table.data_storage_version
    (made,) = lance.fragment.write_fragments(
        values, table.uri, schema, mode="overwrite", data_storage_version=version
    )
    (held,) = made.files
    version = held.file_major_version, held.file_minor_version
    ids, columns = field_ids(pylanceref.dataset(table.uri), name), list(held.column_indices)
    fields = [ids[one] for one in held.fields]  # in the file they count from 0
    file = lance.fragment.DataFile(held.path, fields, columns, *version)
    group = lance.LanceOperation.DataReplacementGroup(number, file)
    operation = lance.LanceOperation.DataReplacement([group])
    lance.LanceDataset.commit(table, operation, read_version=table.version)


def columns_updated(
    lance: Any, table: Any, key: str, name: str, number: int, seed: int
) -> list[int]:
    """Update a column of a fragment in place; return the ids of the fields that changed."""
    fields = [table.schema.field(key), table.schema.field(name)]
    source = rows(pa.schema(fields), seed, 30)
    updated, modified = _fragment(table, number).update_columns(source, left_on=key)
    operation = lance.LanceOperation.Update(
        updated_fragments=[updated], fields_modified=modified, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(table, operation, read_version=table.version)
    return list(modified)


def segmented(
    table: Any, numbers: list[int], merged: bool, column: str, kind: Any, **given: Any
) -> None:
    """Index fragments in segments of their own, the first ones `merged`; commit them together."""
    built = [
        table.create_index_uncommitted(column, kind, fragment_ids=[one], replace=True, **given)
        for one in numbers
    ]
    if merged:
        built = [table.merge_existing_index_segments(built[:2]), *built[2:]]
    table.commit_existing_index_segments(f"{column}_idx", column, built)


def of_member(target: str, lance: Any) -> Any:
    """Return how an index of a type over the member `a` of documents is asked for.

    The oracle can bring those of no other type than BTREE up to date.
    """
    return lance.indices.IndexConfig("json", {"target_index_type": target, "path": "a"})


def detached(lance: Any, table: Any, predicate: str) -> object:
    """Delete rows in a version that is on no line; return what it holds."""
    updated = [fragment.delete(predicate) for fragment in table.get_fragments()]
    gone = [n for n, one in zip((f.fragment_id for f in table.get_fragments()), updated) if not one]
    kept = [one for one in updated if one is not None]
    operation = lance.LanceOperation.Delete(kept, gone, predicate)
    made = lance.LanceDataset.commit(table, operation, read_version=table.version, detached=True)
    return {"rows": made.count_rows(), "detached": made.version >> 63}


def cleaned(table: Any, **options: Any) -> dict[str, int]:
    """Remove old versions; return how many of what went.

    Files that no version ever named are those of a commit that was refused: the reference removes
    them then.
    """
    stats = table.cleanup_old_versions(**options)
    files = 0 if options.get("delete_unverified") else stats.data_files_removed
    return {"versions": stats.old_versions, "files": files}


def _fragment(table: Any, number: int) -> Any:
    """Return a fragment. Raises LookupError."""
    found = table.get_fragment(number)
    if found is None:
        raise LookupError(f"no fragment {number}")
    return found


def field_ids(table: pylanceref.LanceDataset, name: str) -> list[int]:
    """Return the ids of a column and of all below it."""
    top = table._snapshot.manifest.schema.fields
    return [one.id for field in top if field.name == name for one in field.flat()]


LINE_NAMES: Mapping[str, Callable[..., Any]] = {
    made.__name__: made
    for made in (
        *(aligned, cleaned, columns, columns_updated, detached),
        *(of_member, points, replaced, rows, segmented),
    )
}
"""Functions that a line of a history may call."""
