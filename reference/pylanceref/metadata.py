"""Fragment metadata: what a manifest or transaction lists of a fragment, as plain values (face).

Has the names and the JSON of pylance. Each value converts to its protobuf message and back.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.proto import table_pb2
from lanceref.table.deletions import deletion_path
from lanceref.table.file_entries import parse_offsets
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID, STORED
from pyroaring import BitMap

if TYPE_CHECKING:
    from pylanceref.table_handle import OpenTable

_NOWHERE = Place("metadata", 0, 0)

_DELETION_TYPES = {
    "array": table_pb2.DeletionFile.ARROW_ARRAY,
    "bitmap": table_pb2.DeletionFile.BITMAP,
}
_DELETION_NAMES = {value: name for name, value in _DELETION_TYPES.items()}

_ARMS = {
    "row_id_meta": STORED[ROW_ID][:2],
    "created_at_version_meta": STORED[CREATED_AT][:2],
    "last_updated_at_version_meta": STORED[LAST_UPDATED_AT][:2],
}
"""Fields of the message for row ids and versions that it holds, and for those in a column."""


class _Path(str):
    """A path that may be called: `DataFile.path` was a method once."""

    __slots__ = ()

    def __call__(self) -> str:
        told = "DataFile.path() is deprecated, use DataFile.path instead"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return str(self)


@dataclass
class DataFile:
    """A data file of a fragment as the manifest lists it; `size` in bytes, None when unknown."""

    path: str
    fields: list[int]
    column_indices: list[int] = field(default_factory=list)
    file_major_version: int = 0
    file_minor_version: int = 0
    file_size_bytes: int | None = None
    base_id: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.path, self.column_indices = _Path(self.path), self.column_indices or []

    def asdict(self) -> dict[str, object]:
        """Return the entry as objects that `json.dumps` takes."""
        return asdict(self)

    @classmethod
    def create(cls, dataset: OpenTable, path: str, *, base_id: int | None = None) -> DataFile:
        """Describe a file below the data folder or a base. Raises NotFound, SchemaRefused."""
        from lanceref.operations.new_data import external_file

        return cls.from_message(external_file(dataset._snapshot, path, base_id)[0])

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
        """Return the entry as the protobuf message that manifests store."""
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

    def asdict(self) -> dict[str, object]:
        """Return the entry as objects that `json.dumps` takes."""
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
        given = {**self.asdict(), "file_type": _DELETION_TYPES[self.file_type]}
        return table_pb2.DeletionFile(**given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class RowIdMeta:
    """The row ids of a fragment: a `RowIdSequence` message, None when a column holds them."""

    inline: bytes | None
    _names: ClassVar = ("Inline", "Column")

    def asdict(self) -> dict[str, object]:
        """Return the row ids as objects that `json.dumps` takes."""
        inline, column = self._names
        return {column: None} if self.inline is None else {inline: list(self.inline)}

    @classmethod
    def from_dict(cls, held: Mapping[str, object]) -> Self:
        """Return the ids of what `asdict` gave."""
        inline = cast("list[int] | None", held.get(cls._names[0]))
        return cls(None if inline is None else bytes(inline))


@dataclass(frozen=True, slots=True)
class RowDatasetVersionMeta(RowIdMeta):
    """Row versions of a fragment: a message, None when a column holds them."""

    _names: ClassVar = ("inline", "column")


_OFFSETS_WANTED = (
    "DataOverlayFile.offsets must be an iterable of ints (dense coverage shared by every field) "
    "or an iterable of per-field int iterables (sparse coverage)"
)


@dataclass
class DataOverlayFile:
    """New values for rows at some offsets: the same for each field of the file, or a set each.

    The value of the n-th offset, in ascending order, is row n of the file. The commit sets
    `committed_version`.
    """

    data_file: DataFile
    offsets: Iterable[int] | list[Iterable[int]]
    committed_version: int | None = None

    def to_message(self) -> table_pb2.DataOverlayFile:
        """Return the message. Raises TypeError, ValueError for what is no set of offsets."""
        made = table_pb2.DataOverlayFile(
            data_file=self.data_file.to_message(), committed_version=self.committed_version or 0
        )
        if not isinstance(self.offsets, Iterable):
            raise ValueError(_OFFSETS_WANTED)
        offsets = list(self.offsets)
        if any(isinstance(one, Iterable) and not isinstance(one, str) for one in offsets):
            made.field_coverage.SetInParent()
            made.field_coverage.offset_bitmaps.extend(_serialized(one) for one in offsets)
        else:
            made.shared_offset_bitmap = _serialized(offsets)
        return made

    @classmethod
    def from_message(cls, message: table_pb2.DataOverlayFile) -> DataOverlayFile:
        """Return what a manifest or transaction lists. Raises FormatError."""
        offsets: BitMap | list[Iterable[int]]
        if message.HasField("field_coverage"):
            offsets = [_bitmap(one) for one in message.field_coverage.offset_bitmaps]
        else:
            offsets = _bitmap(message.shared_offset_bitmap)
        return cls(DataFile.from_message(message.data_file), offsets, message.committed_version)

    def asdict(self) -> dict[str, object]:
        """Return the entry as objects that `json.dumps` takes."""
        return {
            "data_file": self.data_file.asdict(),
            "offsets": [list(one) if isinstance(one, Iterable) else one for one in self.offsets],
            "committed_version": self.committed_version,
        }


def _serialized(offsets: object) -> bytes:
    """Return the bitmap of offsets, which may come in any order. Raises TypeError, ValueError."""
    if not isinstance(offsets, Iterable):
        raise ValueError(_OFFSETS_WANTED)
    bitmap = BitMap()
    for one in offsets:
        if not isinstance(one, int):
            raise TypeError(f"{type(one).__name__!r} object cannot be interpreted as an integer")
        if not 0 <= one < 2**32:
            raise ValueError(f"Bitmap values must fit in an unsigned 32-bit integer, got {one}")
        if one in bitmap:
            raise ValueError(f"DataOverlayFile.offsets: {one} appears more than once")
        bitmap.add(one)
    return bytes(bitmap.serialize())


def _bitmap(data: bytes) -> BitMap:
    return parse_offsets(data, Context("overlay"), Place("overlay", 0, len(data)))


@dataclass(slots=True)
class FragmentMetadata:
    """A fragment; a new one has id 0 until its commit."""

    id: int
    files: list[DataFile]
    physical_rows: int
    deletion_file: DeletionFile | None = None
    row_id_meta: RowIdMeta | None = None
    created_at_version_meta: RowDatasetVersionMeta | None = None
    last_updated_at_version_meta: RowDatasetVersionMeta | None = None
    overlays: list[DataOverlayFile] = field(default_factory=list)

    @property
    def num_deletions(self) -> int:
        """Number of rows of the fragment that are deleted."""
        return 0 if self.deletion_file is None else self.deletion_file.num_deleted_rows

    @property
    def num_rows(self) -> int:
        """Number of rows of the fragment that are not deleted."""
        return self.physical_rows - self.num_deletions

    @classmethod
    def from_message(cls, message: table_pb2.DataFragment) -> FragmentMetadata:
        """Return what a manifest or transaction lists."""
        made = cls(message.id, list(map(DataFile.from_message, message.files)), 0)
        made.physical_rows = message.physical_rows
        if message.HasField("deletion_file"):
            made.deletion_file = DeletionFile.from_message(message.deletion_file)
        for name, (inline, column) in _ARMS.items():
            kind = RowIdMeta if name == "row_id_meta" else RowDatasetVersionMeta
            if message.HasField(inline):
                setattr(made, name, kind(getattr(message, inline)))
            elif message.HasField(column):
                setattr(made, name, kind(None))
        made.overlays = list(map(DataOverlayFile.from_message, message.overlays))
        return made

    def to_message(self) -> table_pb2.DataFragment:
        """Return the fragment as the protobuf message that manifests store."""
        message = table_pb2.DataFragment(
            id=self.id,
            files=[one.to_message() for one in self.files],
            physical_rows=self.physical_rows,
            overlays=[one.to_message() for one in self.overlays],
        )
        if self.deletion_file is not None:
            message.deletion_file.CopyFrom(self.deletion_file.to_message())
        for name, (inline, column) in _ARMS.items():
            held = getattr(self, name)
            if held is not None and held.inline is None:
                getattr(message, column).SetInParent()
            elif held is not None:
                setattr(message, inline, held.inline)
        return message

    def to_json(self) -> dict[str, object]:
        """Return the fragment as objects that `json.dumps` takes."""
        return {name: _json(getattr(self, name)) for name in self.__match_args__}

    @staticmethod
    def from_json(json_data: str) -> FragmentMetadata:
        """Return the fragment of a JSON text."""
        held: dict[str, Any] = json.loads(json_data)
        readers: dict[str, Callable[[Any], object]] = {
            "files": lambda every: [DataFile(**one) for one in every],
            "deletion_file": lambda one: DeletionFile(**one),
            "overlays": lambda every: [
                DataOverlayFile(**{**one, "data_file": DataFile(**one["data_file"])})
                for one in every
            ],
            **dict.fromkeys(_ARMS, RowDatasetVersionMeta.from_dict),
            "row_id_meta": RowIdMeta.from_dict,
        }
        given = {name: value for name, value in held.items() if value is not None}
        given |= {name: read(given[name]) for name, read in readers.items() if name in given}
        return FragmentMetadata(**given)


def _json(value: object) -> object:
    """Return what `json.dumps` takes for a value."""
    if isinstance(value, list):
        return [_json(one) for one in value]
    described: Callable[[], object] | None = getattr(value, "asdict", None)
    return value if described is None else described()
