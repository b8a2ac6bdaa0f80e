"""Descriptions of indices, and how one is configured (face).

Has the dataclasses of pylance's `lance.indices`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pylanceref.bitmap import Bitmap


@dataclass(frozen=True)
class IndexConfig:
    """A type of index by name, and its parameters."""

    index_type: str
    parameters: dict[str, object] = field(default_factory=dict)


class IndexFileVersion(StrEnum):
    """Versions of vector index files."""

    LEGACY = "Legacy"
    V3 = "V3"


class SupportedDistributedIndices(StrEnum):
    """Types whose metadata may be asked to be merged; only a full-text index has any."""

    BTREE = "BTREE"
    INVERTED = "INVERTED"
    IVF_FLAT = "IVF_FLAT"
    IVF_PQ = "IVF_PQ"
    IVF_SQ = "IVF_SQ"
    VECTOR = "VECTOR"


@dataclass(frozen=True)
class IndexSegmentDescription:
    """One segment of an index."""

    uuid: str
    dataset_version_at_last_update: int
    fragment_ids: Bitmap
    index_version: int
    created_at: datetime | None
    size_bytes: int | None
    base_id: int | None
    covering_fields: list[int]


@dataclass(frozen=True)
class IndexDescription:
    """An index with all its segments."""

    name: str
    type_url: str
    index_type: str
    num_rows_indexed: int
    fields: list[int]
    field_names: list[str]
    segments: list[IndexSegmentDescription]
    details: dict[str, object]
    total_size_bytes: int | None

    def __repr__(self) -> str:
        shown = ", ".join(f'"{name}"' for name in self.field_names)
        return (
            f"IndexDescription(name={self.name!r}, type_url={self.type_url!r}, "
            f"num_rows_indexed={self.num_rows_indexed}, fields={self.fields}, "
            f"field_names=[{shown}], num_segments={len(self.segments)}, "
            f"total_size_bytes={self.total_size_bytes})"
        )
