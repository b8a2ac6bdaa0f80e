"""Fragment metadata: what a manifest or transaction lists of a fragment, as plain values (face).

Has the names and the JSON of pylance's `FragmentMetadata`.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field

from lanceref.proto import table_pb2

from pylanceref.file_metadata import DataFile, DeletionFile, RowDatasetVersionMeta, RowIdMeta
from pylanceref.overlay_messages import (
    DataOverlayFile,
    overlay_from_json,
    overlay_json,
    overlay_message,
    overlay_of,
)

__all__ = ["DataFile", "DeletionFile", "FragmentMetadata", "RowDatasetVersionMeta", "RowIdMeta"]

_VERSION_ARMS = {
    "created_at_version_meta": ("inline_created_at_versions", "column_created_at_versions"),
    "last_updated_at_version_meta": (
        "inline_last_updated_at_versions",
        "column_last_updated_at_versions",
    ),
}
_ID_ARMS = ("inline_row_ids", "column_row_ids")


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
        """Rows that are deleted."""
        return 0 if self.deletion_file is None else self.deletion_file.num_deleted_rows

    @property
    def num_rows(self) -> int:
        """Rows that are not deleted."""
        return self.physical_rows - self.num_deletions

    def data_files(self) -> list[DataFile]:
        """Return the data files."""
        warnings.warn(
            "FragmentMetadata.data_files is deprecated. Use .files instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.files

    @classmethod
    def from_message(cls, message: table_pb2.DataFragment) -> FragmentMetadata:
        """Return what a manifest or transaction lists."""
        made = cls(message.id, [DataFile.from_message(one) for one in message.files], 0)
        made.physical_rows = message.physical_rows
        if message.HasField("deletion_file"):
            made.deletion_file = DeletionFile.from_message(message.deletion_file)
        if message.WhichOneof("row_id_sequence"):
            made.row_id_meta = RowIdMeta(_arm(message, _ID_ARMS))
        for name, arms in _VERSION_ARMS.items():
            if any(message.HasField(arm) for arm in arms):
                setattr(made, name, RowDatasetVersionMeta(_arm(message, arms)))
        if message.overlays:
            made.overlays = [overlay_of(one) for one in message.overlays]
        return made

    def to_message(self) -> table_pb2.DataFragment:
        """Return the message."""
        files = [one.to_message() for one in self.files]
        message = table_pb2.DataFragment(id=self.id, files=files, physical_rows=self.physical_rows)
        if self.deletion_file is not None:
            message.deletion_file.CopyFrom(self.deletion_file.to_message())
        if self.row_id_meta is not None:
            _set_arm(message, _ID_ARMS, self.row_id_meta.inline)
        for name, arms in _VERSION_ARMS.items():
            held = getattr(self, name)
            if held is not None:
                _set_arm(message, arms, held.inline)
        if self.overlays:
            message.overlays.extend(overlay_message(one) for one in self.overlays)
        return message

    def to_json(self) -> dict[str, object]:
        """Return what `json.dumps` takes."""
        versions = {name: getattr(self, name) for name in _VERSION_ARMS}
        return {
            "id": self.id,
            "files": [one.asdict() for one in self.files],
            "overlays": [overlay_json(one) for one in self.overlays],
            "physical_rows": self.physical_rows,
            "deletion_file": None if self.deletion_file is None else self.deletion_file.asdict(),
            "row_id_meta": None if self.row_id_meta is None else self.row_id_meta.asdict(),
            **{
                name: None if held is None else json.loads(held.json())
                for name, held in versions.items()
            },
        }

    @staticmethod
    def from_json(json_data: str) -> FragmentMetadata:
        """Return the fragment of a JSON text."""
        held = json.loads(json_data)
        files = [DataFile(**one) for one in held["files"]]
        made = FragmentMetadata(held["id"], files, held["physical_rows"])
        if held.get("deletion_file") is not None:
            made.deletion_file = DeletionFile(**held["deletion_file"])
        if held.get("row_id_meta") is not None:
            made.row_id_meta = RowIdMeta.from_dict(held["row_id_meta"])
        if held.get("overlays"):
            made.overlays = [overlay_from_json(one) for one in held["overlays"]]
        for name in _VERSION_ARMS:
            if held.get(name) is not None:
                setattr(made, name, RowDatasetVersionMeta.from_json(json.dumps(held[name])))
        return made


def _arm(message: table_pb2.DataFragment, arms: tuple[str, str]) -> bytes | None:
    return bytes(getattr(message, arms[0])) if message.HasField(arms[0]) else None


def _set_arm(message: table_pb2.DataFragment, arms: tuple[str, str], inline: bytes | None) -> None:
    if inline is None:
        getattr(message, arms[1]).SetInParent()
    else:
        setattr(message, arms[0], inline)
