"""Operations: what a transaction does to a table, as plain values (face).

Files are written anywhere first; an operation lists them and becomes part of a table by one commit.
"""

from __future__ import annotations

import uuid as uuids
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from pylanceref.metadata import DataFile, DataOverlayFile, FragmentMetadata
from pylanceref.schema import LanceSchema


@dataclass(slots=True)
class DatasetBasePath:
    """A place besides the table's root where its files may lie; the commit gives it an id."""

    path: str
    name: str | None = None
    is_dataset_root: bool = False
    id: int | None = None


@dataclass(slots=True)
class IndexFile:
    """One file of an index segment, and its size."""

    path: str
    size_bytes: int


@dataclass(slots=True)
class Index:
    """One segment of an index; `fragment_ids` are those it covers."""

    uuid: str
    name: str
    fields: list[int]
    dataset_version: int
    fragment_ids: Iterable[int]
    index_version: int
    created_at: datetime | None = None
    base_id: int | None = None
    files: list[IndexFile] | None = None
    index_details: tuple[str, bytes] | None = None
    covering_fields: list[int] = field(default_factory=list)


def _check(fragments: object) -> None:
    """Raise TypeError for something else than a list of fragments."""
    if not isinstance(fragments, list):
        raise TypeError(f"fragments must be list[FragmentMetadata], got {type(fragments)}")
    for one in fragments:
        if not isinstance(one, FragmentMetadata):
            raise TypeError(f"fragments must be list[FragmentMetadata], got {type(one)}")


class LanceOperation:
    """The operations that a transaction can hold, as nested classes."""

    class BaseOperation:
        """Base of all operations that a transaction can hold."""

        def __post_init__(self) -> None:
            for name in ("fragments", "updated_fragments", "new_fragments"):
                _check(getattr(self, name, []))

    @dataclass
    class Append(BaseOperation):
        """Adds fragments after those that the table has."""

        fragments: Iterable[FragmentMetadata]

    @dataclass
    class Overwrite(BaseOperation):
        """Rows and schema in place of those the table has, or of a new table."""

        new_schema: LanceSchema | pa.Schema
        fragments: Iterable[FragmentMetadata]
        initial_bases: list[DatasetBasePath] | None = None

    @dataclass
    class Delete(BaseOperation):
        """Fragments with other deletion files, and fragments that go."""

        updated_fragments: Iterable[FragmentMetadata]
        deleted_fragment_ids: Iterable[int]
        predicate: str

    @dataclass
    class Update(BaseOperation):
        """Rows moved to new fragments (`rewrite_rows`), or columns anew (`rewrite_columns`)."""

        removed_fragment_ids: list[int] = field(default_factory=list)
        updated_fragments: list[FragmentMetadata] = field(default_factory=list)
        new_fragments: list[FragmentMetadata] = field(default_factory=list)
        fields_modified: list[int] = field(default_factory=list)
        fields_for_preserving_frag_bitmap: list[int] = field(default_factory=list)
        update_mode: str = ""
        updated_fragment_offsets: dict[int, bytes] | None = None

    @dataclass
    class Merge(BaseOperation):
        """All fragments and the schema anew: columns were added or changed."""

        fragments: Iterable[FragmentMetadata]
        schema: LanceSchema | pa.Schema
        preserves_nullability: bool = False

        def __post_init__(self) -> None:
            super().__post_init__()
            if isinstance(self.schema, pa.Schema):
                told = "Passing a pyarrow.Schema to Merge is deprecated: use a LanceSchema"
                warnings.warn(told, DeprecationWarning, stacklevel=3)

    @dataclass
    class Restore(BaseOperation):
        """Makes the content of an older version the newest one."""

        version: int

    @dataclass
    class Clone(BaseOperation):
        """Makes the first version of a clone of a table."""

        is_shallow: bool
        ref_name: str | None
        ref_version: int
        ref_path: str
        branch_name: str | None

    @dataclass
    class RewriteGroup:
        """Fragments, and those that hold the same rows in their place."""

        old_fragments: Iterable[FragmentMetadata]
        new_fragments: Iterable[FragmentMetadata]

    @dataclass
    class RewrittenIndex:
        """An index segment and the one in its place."""

        old_id: str
        new_id: str
        new_details_type_url: str
        new_details_value: bytes
        new_index_version: int

    @dataclass
    class Rewrite(BaseOperation):
        """Replaces fragments by others that hold the same rows."""

        groups: Iterable[LanceOperation.RewriteGroup]
        rewritten_indices: Iterable[LanceOperation.RewrittenIndex]

        def __post_init__(self) -> None:
            for group in self.groups:
                _check([*group.old_fragments, *group.new_fragments])

    @dataclass
    class ReserveFragments(BaseOperation):
        """Reserves fragment ids, which no other writer gets."""

        num_fragments: int

    @dataclass
    class CreateIndex(BaseOperation):
        """Adds index segments, and removes those that they replace."""

        new_indices: list[Index]
        removed_indices: list[Index]

    @dataclass
    class DataReplacementGroup:
        """A file, and the fragment whose columns it holds from now on."""

        fragment_id: int
        new_file: DataFile

    @dataclass
    class DataReplacement(BaseOperation):
        """Replaces the data files of some columns by others."""

        replacements: list[LanceOperation.DataReplacementGroup]

    DataOverlayFile = DataOverlayFile

    @dataclass
    class DataOverlayGroup:
        """Overlay files of one fragment, oldest first."""

        fragment_id: int
        overlays: list[DataOverlayFile]

    @dataclass
    class DataOverlay(BaseOperation):
        """New values for some rows of fragments, beside the files that hold the others."""

        groups: list[LanceOperation.DataOverlayGroup]

    @dataclass
    class Project(BaseOperation):
        """Gives the table another schema over the same files."""

        schema: LanceSchema
        preserves_nullability: bool = False

    @dataclass
    class UpdateMap:
        """Keys to set, or (None) to take out; `replace` empties the map first."""

        updates: Mapping[str, str | None]
        replace: bool = False

    @dataclass
    class UpdateConfig(BaseOperation):
        """Settings: of the table, of its schema, of fields by id."""

        config_updates: LanceOperation.UpdateMap | None = None
        table_metadata_updates: LanceOperation.UpdateMap | None = None
        schema_metadata_updates: LanceOperation.UpdateMap | None = None
        field_metadata_updates: dict[int, LanceOperation.UpdateMap] | None = None

    @dataclass
    class UpdateBases(BaseOperation):
        """Adds base paths, below which data files may lie."""

        new_bases: list[DatasetBasePath]


@dataclass(slots=True)
class Transaction:
    """An operation, and the version it was made for."""

    read_version: int
    operation: LanceOperation.BaseOperation
    uuid: str = field(default_factory=lambda: str(uuids.uuid4()))
    transaction_properties: dict[str, str] | None = field(default_factory=dict)
