"""Words: what the lines of a history may say beside the names of `lance`.

Each takes the module or a dataset of either implementation, so that both follow the same line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pylanceref

from lance_conformance.campaigns.histories.values import columns, points, rows

__all__ = [
    "aligned",
    "cleaned",
    "columns",
    "columns_updated",
    "detached",
    "of_member",
    "points",
    "replaced",
    "rows",
    "segmented",
]


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
    ids, columns = _fields(table, name), list(held.column_indices)
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


def _fields(table: Any, name: str) -> list[int]:
    """Return the ids of a column and all below it that have one of the file."""
    (found,) = (
        one
        for one in pylanceref.dataset(table.uri)._snapshot.manifest.schema.fields
        if one.name == name
    )
    return [one.id for one in found.flat()]
