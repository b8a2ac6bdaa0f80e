"""Statistics of a dataset: how its rows lie in fragments, and the bytes of each field (face).

Has the names of pylance's `LanceStats`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from lanceref.data_file.data_file import DataFile
from lanceref.table.file_entries import NO_COLUMN

from pylanceref.index_listing import index_statistics
from pylanceref.table_handle import OpenTable


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """Bytes of the pages of one field; those of fields below it are not among them."""

    id: int
    bytes_on_disk: int


@dataclass(frozen=True, slots=True)
class DataStatistics:
    """The bytes on disk of every field, by field id."""

    fields: list[FieldStatistics]


class DatasetStats(TypedDict):
    """Deleted rows, fragments, and fragments of few rows."""

    num_deleted_rows: int
    num_fragments: int
    num_small_files: int


class LanceStats:
    """Statistics of one version of a table."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table
        self._snapshot = table._snapshot

    def dataset_stats(self, max_rows_per_group: int = 1024) -> DatasetStats:
        """Count rows and fragments; a fragment of less than `max_rows_per_group` rows is small."""
        fragments = self._snapshot.fragments
        small = [one for one in fragments if one.columns.stated_rows < max_rows_per_group]
        return DatasetStats(
            num_deleted_rows=sum(one.fragment.num_deleted for one in fragments),
            num_fragments=len(fragments),
            num_small_files=len(small),
        )

    def index_stats(self, index_name: str) -> dict[str, object]:
        """Return the statistics of an index. Raises NotFound."""
        return index_statistics(self._table, index_name)

    def data_stats(self) -> DataStatistics:
        """Return the bytes of the pages of each field; those of 0.1 files are not counted."""
        sizes = {field.id: 0 for field in self._snapshot.manifest.schema.flat()}
        for rows in self._snapshot.fragments:
            for file in rows.fragment.files:
                opened = rows.columns.open(file)
                if not isinstance(opened, DataFile):
                    continue
                for field_id, number in file.columns.items():
                    if field_id in sizes and number != NO_COLUMN:
                        pages = opened.columns[number].pages
                        sizes[field_id] += sum(one.size for page in pages for one in page.extents)
        return DataStatistics([FieldStatistics(*pair) for pair in sorted(sizes.items())])
