"""Negative cases of what lies around a table's rows: ids, versions, indices, refs, commits.

A plain read needs none of it, so most of these read well and a validation reports them.
"""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.message import Message
from lanceref.proto import rowids_pb2 as pb
from lanceref.proto.table_pb2 import IndexMetadata, IndexSection, Manifest

from lance_conformance.recipes.hand import words
from lance_conformance.recipes.messages import (
    index,
    indices,
    manifest,
    setting,
    transaction,
)
from lance_conformance.recipes.model import (
    Change,
    MessageEdit,
    Negative,
    Resize,
    SpanPatch,
)
from lance_conformance.recipes.tables.edits import table_fault

LAST = "_versions/18446744073709551613.manifest"

_IDS = "table/any/row-ids/segments"
_VERSIONS = "table/any/row-ids/versions"
_INDICES = "table/any/manifest/two-indices"
_REFS = "table/any/manifest/refs"
_COMMIT = "table/any/manifest/one-commit"
_NUMBERS = "table/any/fragments/numbers"
_ARROW = "table/any/deletions/arrow-three"
_BITMAP = "table/any/deletions/bitmap-array"


def _case(parent: str, slug: str, title: str, clause: str, change: Change,
          kind: str = "lint") -> Negative:  # fmt: skip
    return table_fault(parent, slug, title, clause, change, kind=kind)


def _ids(edit: Callable[[pb.RowIdSequence], None]) -> MessageEdit:
    """Change the row ids of the first fragment."""

    def rewrite(message: Manifest) -> None:
        fragment = message.fragments[0]
        sequence = pb.RowIdSequence.FromString(fragment.inline_row_ids)
        edit(sequence)
        fragment.inline_row_ids = sequence.SerializeToString()

    return manifest(rewrite)


def _segment(number: int, path: str, value: object) -> MessageEdit:
    """Set a field of one segment of the row ids."""

    def edit(sequence: pb.RowIdSequence) -> None:
        *way, last = path.split(".")
        message: Message = sequence.segments[number]
        for name in way:
            message = getattr(message, name)
        setattr(message, last, value)

    return _ids(edit)


def _index(edit: Callable[[IndexMetadata], None]) -> MessageEdit:
    """Change the first index of the last version."""
    return index(edit, "_versions/18446744073709551612.manifest")


def _garbage(message: Manifest) -> None:
    message.fragments[0].inline_row_ids = b"\xff\xff"


def _no_arm(sequence: pb.RowIdSequence) -> None:
    sequence.segments[0].ClearField("range")


def _shorter(sequence: pb.RowIdSequence) -> None:
    del sequence.segments[-1]


def _next_id(message: Manifest) -> None:
    message.next_row_id = 50


def _late(message: Manifest) -> None:
    """Say that every row was created after the last version."""
    fragment = message.fragments[0]
    sequence = pb.RowDatasetVersionSequence.FromString(fragment.inline_created_at_versions)
    sequence.runs[0].version = 9
    fragment.inline_created_at_versions = sequence.SerializeToString()


def _column_ids(message: Manifest) -> None:
    message.fragments[0].column_row_ids.SetInParent()
    for word in ("reader_feature_flags", "writer_feature_flags"):
        setattr(message, word, getattr(message, word) | 2048)


_ROW_IDS = (
    _case(_IDS, "ids-message", "row ids that do not parse", "L.table.row-ids.message",
          manifest(_garbage)),
    _case(_IDS, "ids-segment", "a segment of no kind", "L.table.row-ids.segment", _ids(_no_arm)),
    _case(_IDS, "ids-range", "a range that ends before it starts", "L.table.row-ids.range",
          _segment(0, "range.start", 7)),
    _case(_IDS, "ids-holes", "a hole outside of its range", "L.table.row-ids.holes",
          _segment(1, "range_with_holes.holes.u32_array.base", 20)),
    _case(_IDS, "ids-width", "an array of a byte and a half", "L.table.row-ids.array-width",
          _segment(3, "sorted_array.u16_array.offsets", bytes(3))),
    _case(_IDS, "ids-sorted", "a sorted array that falls", "L.table.row-ids.sorted",
          _segment(3, "sorted_array.u16_array.offsets", words(4, 0, width=2))),
    _case(_IDS, "ids-overflow", "an id beyond 64 bits", "L.table.row-ids.overflow",
          _segment(3, "sorted_array.u16_array.base", 2**64 - 2)),
    _case(_IDS, "ids-length", "eleven ids for thirteen rows", "L.table.row-ids.length",
          _ids(_shorter)),
    _case(_IDS, "ids-unique", "an id of two rows", "L.table.row-ids.unique",
          _segment(4, "array.u64_array.values", words(50, 30))),
    *(
        _case(_IDS, f"ids-unique-{segment}", f"an id of two rows, one of them in {what}",
              "L.table.row-ids.unique", _segment(4, "array.u64_array.values", words(50, twice)))
        for segment, what, twice in (
            ("range", "a range", 2),
            ("holes", "a range after its holes", 14),
            ("bitmap", "a range with a bitmap", 22),
            ("sorted", "a sorted array", 34),
            ("array", "the same array", 50),
        )
    ),
    _case(_IDS, "ids-bitmap-short", "a bitmap of no bytes", "L.table.row-ids.bitmap",
          _segment(2, "range_with_bitmap.bitmap", b"")),
    _case(_IDS, "ids-bitmap-long", "a bitmap of two bytes for three ids",
          "L.table.row-ids.bitmap", _segment(2, "range_with_bitmap.bitmap", b"\5\0")),
    _case(_IDS, "ids-hole-end", "a hole one after its range", "L.table.row-ids.holes",
          _segment(1, "range_with_holes.holes.u32_array.base", 13)),
    _case(_IDS, "ids-longer", "one id more than rows", "L.table.row-ids.length",
          _segment(0, "range.end", 4)),
    _case(_IDS, "ids-sorted-same", "a sorted array that repeats", "L.table.row-ids.sorted",
          _segment(3, "sorted_array.u16_array.offsets", words(4, 4, width=2))),
    _case(_IDS, "ids-u32", "an array of 32 bits of six bytes", "L.table.row-ids.array-width",
          _segment(1, "range_with_holes.holes.u32_array.offsets", bytes(6))),
    _case(_IDS, "ids-u64", "an array of 64 bits of twelve bytes", "L.table.row-ids.array-width",
          _segment(4, "array.u64_array.values", bytes(12))),
    _case(_IDS, "ids-next", "an id that is still to be given", "L.table.row-ids.next",
          manifest(_next_id)),
    _case(_VERSIONS, "versions-order", "rows created after the last version",
          "L.table.row-versions.order", manifest(_late)),
    _case(_VERSIONS, "ids-column", "row ids in a column that no file has",
          "L.table.row-ids.column", manifest(_column_ids)),
)  # fmt: skip


def _same_uuid(section: IndexSection) -> None:
    first, second = section.indices
    second.uuid.uuid = first.uuid.uuid


def _other_field(message: IndexMetadata) -> None:
    message.fields[0] = 9


def _covering(message: IndexMetadata) -> None:
    message.covering_fields.append(message.fields[0])


def _useless(message: Manifest) -> None:
    """List the data file again, for a field that the table does not have."""
    files = message.fragments[0].files
    files.add().CopyFrom(files[0])
    files[1].fields[0] = 9


def _year_10000(message: Manifest) -> None:
    message.timestamp.seconds = 253402300800


def _no_max_id(message: Manifest) -> None:
    message.ClearField("max_fragment_id")


def _low_field_id(message: Manifest) -> None:
    """Say that no field has an id above -1, with the flag that goes with it."""
    message.max_allocated_field_id = -1
    message.writer_feature_flags |= 32768


def _many_rows(message: Manifest) -> None:
    message.fragments[0].physical_rows = 2**32


_MARKS = (
    _case(_INDICES, "index-unique", "two indices of one uuid", "L.table.index.unique",
          indices(_same_uuid, "_versions/18446744073709551612.manifest")),
    _case(_INDICES, "index-bitmap", "fragments of an index that are no bitmap",
          "L.table.index.fragment-bitmap", _index(setting(fragment_bitmap=b"\0\0\0\0")),
          kind="negative-dataset"),
    _case(_INDICES, "index-fields", "an index of a field that is not there",
          "L.table.index.fields", _index(_other_field)),
    _case(_INDICES, "index-covering", "an index that covers all of its fields",
          "L.table.index.covering", _index(_covering)),
    _case(_REFS, "tag", "a tag that is no JSON", "L.table.refs.tag",
          Resize(keep=-1, target="_refs/tags/*.json")),
    _case(_REFS, "branch", "a branch without its parent's version", "L.table.refs.branch",
          Resize(keep=0, append=b"{}", target="_refs/branches/*.json")),
    _case(_REFS, "tag-version", "a tag of a version that does not exist", "L.table.refs.exists",
          Resize(keep=0, append=b'{"branch":null,"version":9,"manifestSize":1}',
                 target="_refs/tags/*.json")),
    _case(_COMMIT, "txn-message", "a transaction file that does not parse", "L.txn.file.message",
          Resize(append=b"\xff", target="_transactions/*.txn")),
    _case(_COMMIT, "txn-same", "a transaction file of another read version", "L.txn.inline.same",
          transaction(setting(read_version=7), "_transactions/*.txn")),
    _case(_COMMIT, "txn-name", "a transaction file of another uuid than its name",
          "L.txn.file.name",
          transaction(setting(uuid="00000000-0000-4000-8000-000000000000"),
                      "_transactions/*.txn")),
    _case(_COMMIT, "timestamp", "a manifest of the year 10000", "L.table.manifest.timestamp",
          manifest(_year_10000), kind="negative-dataset"),
    _case(_COMMIT, "useless-file", "a data file of no field of the table",
          "L.table.datafile.no-field", manifest(_useless)),
    _case(_NUMBERS, "max-id-absent", "no highest fragment id beside fragment 2",
          "L.table.fragments.max-id-present", manifest(_no_max_id)),
    _case(_NUMBERS, "max-field-id", "a highest field id below that of a field",
          "L.table.schema.max-id", manifest(_low_field_id)),
    _case(_NUMBERS, "address", "a fragment of 2**32 rows", "L.table.fragments.address",
          manifest(_many_rows), kind="negative-dataset"),
    _case(_ARROW, "arrow-distinct", "a row deleted twice", "L.table.deletions.arrow-distinct",
          SpanPatch(("row_id",), words(2, 2, 8, width=4), target="_deletions/*.arrow"),
          kind="negative-dataset"),
    _case(_BITMAP, "bitmap-order", "values of a container that fall", "L.table.roaring.order",
          SpanPatch(("container 0",), words(3, 1, width=2), target="_deletions/*.bin"),
          kind="negative-dataset"),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_ROW_IDS, *_MARKS)
"""Every negative case of the marks of a table."""
