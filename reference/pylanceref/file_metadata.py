"""Metadata of files: what a fragment lists of its files and row ids, as plain values (face).

Has the names and the JSON of pylance's `DataFile`, `DeletionFile`, `RowIdMeta` and
`RowDatasetVersionMeta`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from lanceref.core.errors import Place
from lanceref.proto import table_pb2
from lanceref.table.deletions import deletion_path

if TYPE_CHECKING:
    from pylanceref.table_handle import OpenTable

_NOWHERE = Place("metadata", 0, 0)

_DELETION_TYPES = {
    "array": table_pb2.DeletionFile.ARROW_ARRAY,
    "bitmap": table_pb2.DeletionFile.BITMAP,
}
_DELETION_NAMES = {value: name for name, value in _DELETION_TYPES.items()}


class _Path(str):
    """A path that may be called, as it once was a method."""

    def __call__(self) -> str:
        warnings.warn(
            "DataFile.path() is deprecated, use DataFile.path instead",
            DeprecationWarning,
            stacklevel=2,
        )
        return str(self)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


@dataclass(init=False, repr=False)
class DataFile:
    """A data file of a fragment as the manifest lists it; `size` in bytes, None when unknown."""

    _path: str
    fields: list[int]
    column_indices: list[int]
    file_major_version: int
    file_minor_version: int
    file_size_bytes: int | None
    base_id: int | None

    def __init__(
        self,
        path: str,
        fields: list[int],
        column_indices: list[int] | None = None,
        file_major_version: int = 0,
        file_minor_version: int = 0,
        file_size_bytes: int | None = None,
        base_id: int | None = None,
    ) -> None:
        self._path = str(path)
        self.fields = fields
        self.column_indices = column_indices or []
        self.file_major_version = file_major_version
        self.file_minor_version = file_minor_version
        self.file_size_bytes = file_size_bytes
        self.base_id = base_id

    @property
    def path(self) -> str:
        """Path below the data folder."""
        return _Path(self._path)

    def __repr__(self) -> str:
        return (
            f"DataFile(path='{self._path}', fields={self.fields}, "
            f"column_indices={self.column_indices}, "
            f"file_major_version={self.file_major_version}, "
            f"file_minor_version={self.file_minor_version}, "
            f"file_size_bytes={self.file_size_bytes})"
        )

    def field_ids(self) -> list[int]:
        """Return the ids of the fields the file holds."""
        warnings.warn(
            "DataFile.field_ids is deprecated, use DataFile.fields instead",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.fields

    def asdict(self) -> dict[str, object]:
        """Return what `json.dumps` takes."""
        held = asdict(self)
        return {"path": held.pop("_path"), **held}

    @classmethod
    def create(cls, dataset: OpenTable, path: str, *, base_id: int | None = None) -> DataFile:
        """Describe a file below the data folder of a table, or below a base.

        Raises NotFound, AppendRefused for a column that is none of the table.
        """
        from lanceref.operations.external_files import adopt

        return cls.from_message(adopt(dataset._snapshot, path, base_id).entry)

    @classmethod
    def from_message(cls, entry: table_pb2.DataFile) -> DataFile:
        """Return what a manifest or transaction lists."""
        return cls(
            entry.path,
            list(entry.fields),
            list(entry.column_indices),
            entry.file_major_version,
            entry.file_minor_version,
            entry.file_size_bytes or None,
            entry.base_id if entry.HasField("base_id") else None,
        )

    def to_message(self) -> table_pb2.DataFile:
        """Return the message."""
        given = {name: value for name, value in self.asdict().items() if value is not None}
        return table_pb2.DataFile(**given)  # type: ignore[arg-type]


@dataclass(slots=True, repr=False)
class DeletionFile:
    """The deletion file of a fragment; `file_type` is `array` or `bitmap`."""

    read_version: int
    id: int
    file_type: str
    num_deleted_rows: int
    base_id: int | None = None

    def __repr__(self) -> str:
        return f"DeletionFile(type='{self.file_type}', num_deleted_rows={self.num_deleted_rows})"

    def json(self) -> str:
        """Return the JSON text."""
        return json.dumps(self.asdict())

    @classmethod
    def from_json(cls, json_data: str) -> DeletionFile:
        """Return the file of a JSON text."""
        return cls(**json.loads(json_data))

    def asdict(self) -> dict[str, object]:
        """Return what `json.dumps` takes."""
        return asdict(self)

    def path(self, fragment_id: int, base_uri: str | None = None) -> str:
        """Return the path of the file, below the table's root or as a URI."""
        below = deletion_path(fragment_id, self.to_message(), _NOWHERE)
        return below if base_uri is None else f"{base_uri}/{below}"

    @classmethod
    def from_message(cls, entry: table_pb2.DeletionFile) -> DeletionFile:
        """Return what a manifest or transaction lists. Raises FormatError for an unknown type."""
        base = entry.base_id if entry.HasField("base_id") else None
        deletion_path(0, entry, _NOWHERE)
        kind = _DELETION_NAMES[entry.file_type]
        return cls(entry.read_version, entry.id, kind, entry.num_deleted_rows, base)

    def to_message(self) -> table_pb2.DeletionFile:
        """Return the message. Raises ValueError for an unknown type."""
        if self.file_type not in _DELETION_TYPES:
            raise ValueError(f"Invalid file type: {self.file_type}")
        return table_pb2.DeletionFile(
            file_type=_DELETION_TYPES[self.file_type],
            read_version=self.read_version,
            id=self.id,
            num_deleted_rows=self.num_deleted_rows,
            base_id=self.base_id,
        )


@dataclass(frozen=True, slots=True)
class RowIdMeta:
    """The row ids of a fragment: a `RowIdSequence` message, None when a column holds them."""

    inline: bytes | None

    def asdict(self) -> dict[str, object]:
        """Return what `json.dumps` takes."""
        return {"Inline": list(self.inline)} if self.inline is not None else {"Column": None}

    def json(self) -> str:
        """Return the JSON text."""
        return json.dumps(self.asdict())

    @staticmethod
    def from_json(text: str) -> RowIdMeta:
        """Return the ids of a JSON text."""
        return RowIdMeta.from_dict(json.loads(text))

    @staticmethod
    def from_dict(held: Mapping[str, object]) -> RowIdMeta:
        """Return the ids of what `asdict` gave."""
        return RowIdMeta(bytes(cast("list[int]", held["Inline"])) if "Inline" in held else None)


@dataclass(frozen=True, slots=True)
class RowDatasetVersionMeta:
    """Row versions of a fragment: a message, None when a column holds them."""

    inline: bytes | None

    def json(self) -> str:
        """Return the JSON text."""
        held = {"inline": list(self.inline)} if self.inline is not None else {"column": None}
        return json.dumps(held)

    @staticmethod
    def from_json(text: str) -> RowDatasetVersionMeta:
        """Return the versions of a JSON text."""
        held = json.loads(text)
        return RowDatasetVersionMeta(bytes(held["inline"]) if "inline" in held else None)
