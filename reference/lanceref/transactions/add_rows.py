"""Append and Overwrite: new fragments behind those there are, or in place of them.

Clauses: L.table.fragments.ids, L.table.row-ids.next, L.table.row-versions.new,
L.table.format.version, L.txn.op.overwrite
"""

from __future__ import annotations

from collections.abc import Iterable

from lanceref.core.file_versions import V0_1
from lanceref.proto import table_pb2
from lanceref.table.appended import check_whole
from lanceref.transactions.manifest_builder import Making, storage_version_of
from lanceref.transactions.row_lineage import identify, set_born


def append(making: Making) -> None:
    """Add the fragments of an Append. Raises AppendRefused for files of 0.1 without all fields."""
    given = making.transaction.append.fragments
    if storage_version_of(making.message) == V0_1:
        for fragment in given:
            check_whole(making.field_ids, {one for file in fragment.files for one in file.fields})
    _add(making, given)


def overwrite(making: Making) -> None:
    """Put the fragments, schema and storage version of an Overwrite in place of the old ones."""
    staged, message = making.staged, making.message
    given = making.transaction.overwrite
    making.indices.clear()
    making.dictionaries = dict(staged.dictionaries)
    making.replace_fragments(())
    if staged.schema is not None:
        making.set_schema(staged.schema)
    message.data_format.file_format = "lance"
    message.data_format.version = str(staged.storage_version)
    for key, text in given.config_upsert_values.items():
        message.config[key] = text
    message.base_paths.extend(given.initial_bases)
    _add(making, given.fragments)


def _add(making: Making, fragments: Iterable[table_pb2.DataFragment]) -> None:
    """Add fragments under new ids; in a stable table their rows get ids and versions."""
    added = making.new_ids(fragments)
    if making.stable:
        for fragment in added:
            identify(making, fragment)
            set_born(making, fragment)
    making.message.fragments.extend(added)
