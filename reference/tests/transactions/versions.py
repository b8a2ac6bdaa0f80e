"""Versions made by hand, and what an operation makes of them."""

from dataclasses import replace

from lanceref.core.context import Context
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import LocalStore
from lanceref.table.lineage import encode_row_ids, encode_versions
from lanceref.table.manifest import Manifest
from lanceref.transactions.apply import encode_next
from lanceref.transactions.manifest_builder import Staged, StoredVersions
from pyroaring import BitMap

from tests.table import manifests


class SizedPast(StoredVersions):
    """A past whose data files are all of 1 000 bytes, wherever they are."""

    def __init__(self) -> None:
        super().__init__(LocalStore("nowhere"), Context("nowhere"))

    def file_size(self, before: Manifest, file: table_pb2.DataFile) -> int:
        """Look nothing up."""
        return 1000


NOWHERE = SizedPast()
"""For operations that look up nothing else."""

FIELDS = [
    {"name": name, "id": number, "parent_id": -1, "logical_type": "int64"}
    for number, name in enumerate("abc")
]


def files(*fields: int, path: str = "f.lance") -> dict[str, object]:
    """A data file of the fields."""
    return manifests.data_file(path=path, fields=fields, column_indices=range(len(fields)))


def group(old: list[int], new: list[int]) -> dict[str, object]:
    """Fragments of a rewrite: those that go, and those that come in their place."""
    return {
        "old_fragments": [manifests.fragment(n, files(0)) for n in old],
        "new_fragments": [manifests.fragment(n, files(0, 1, 2)) for n in new],
    }


def table(count: int = 2, **fields: object) -> Manifest:
    """Version 1 of a table of columns a, b, c: fragments of ten rows in one file each."""
    fragments = [manifests.fragment(n, files(0, 1, 2, path=f"{n}.lance")) for n in range(count)]
    given = {"fields": FIELDS, "fragments": fragments, "max_fragment_id": count - 1}
    return manifests.parse(manifests.minimal(**{**given, **fields}))


def stable(count: int = 2) -> Manifest:
    """The same with stable row ids 0, 1, … and all rows of version 1."""
    fragments = [
        manifests.fragment(
            n,
            files(0, 1, 2, path=f"{n}.lance"),
            inline_row_ids=encode_row_ids(10 * n, 10 * n + 10),
            inline_created_at_versions=encode_versions(10, 1),
            inline_last_updated_at_versions=encode_versions(10, 1),
        )
        for n in range(count)
    ]
    flags = {"reader_feature_flags": 2, "writer_feature_flags": 2}
    return table(count, fragments=fragments, next_row_id=10 * count, **flags)


def indexed(before: Manifest, *entries: table_pb2.IndexMetadata) -> Manifest:
    """The version with index entries."""
    return replace(before, indices=entries)


def index(name: str, field: int, covers: list[int], number: int = 1) -> table_pb2.IndexMetadata:
    """The entry of an index over a field."""
    made = table_pb2.IndexMetadata(name=name, fields=[field])
    made.uuid.uuid = number.to_bytes(16, "big")
    made.fragment_bitmap = BitMap(covers).serialize()
    return made


def covers(after: Manifest) -> dict[str, list[int]]:
    """Fragments by index name."""
    return {one.name: list(BitMap.deserialize(one.fragment_bitmap)) for one in after.indices}


def transaction(read_version: int = 1, **operation: object) -> Transaction:
    """A transaction of one operation."""
    return Transaction(read_version=read_version, uuid="u", **operation)


def after(
    before: Manifest, past: StoredVersions = NOWHERE, staged: object = (), **operation: object
) -> Manifest:
    """The version after an operation."""
    made = Staged(transaction(before.version, **operation), **dict(staged))
    return manifests.parse(encode_next(before, made, past))


def ids(manifest: Manifest) -> list[int]:
    """Ids of the fragments."""
    return [one.id for one in manifest.fragments]
