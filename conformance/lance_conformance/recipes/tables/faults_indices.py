"""Negative cases of scalar indices: entries, files, sets of rows, and what each type holds."""

from __future__ import annotations

from pathlib import PurePosixPath

from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.proto.table_pb2 import IndexSection

from lance_conformance.recipes.messages import array, descriptor, index, indices, setting
from lance_conformance.recipes.model import Change, MessageEdit, Negative, Remove, Resize, SpanPatch
from lance_conformance.recipes.tables.indices_segments import LAST, reuse


def fault(
    parent: str, slug: str, title: str, clause: str, change: Change, kind: str = "negative-dataset"
) -> Negative:
    """Return the case of a parent below `index/any`; what only writers must not do is a `lint`."""
    place = PurePosixPath("index/any", parent)
    prefix = "lint" if kind == "lint" else "neg"
    return Negative(
        id=f"{place.parent}/{prefix}-{place.name}-{slug}",
        title=title,
        clause=clause,
        parent=str(place),
        change=change,
        meaning=title,
        kind=kind,
    )


def lint(parent: str, slug: str, title: str, clause: str, change: Change) -> Negative:
    """Return the case of a fault that only `validate` must see."""
    return fault(parent, slug, title, clause, change, "lint")


def values(file: str, column: str, new: bytes, at: int = 0, leaf: str = "values") -> SpanPatch:
    """Write over bytes of a column."""
    return SpanPatch((f"field {column}", leaf), new, at=at, target=f"_indices/*/{file}")


def held(file: str, new: bytes, at: int) -> SpanPatch:
    """Write over bytes of the first global buffer that is no descriptor."""
    return SpanPatch(("global buffer 1",), new, at=at, target=f"_indices/*/{file}")


def metadata(file: str, key: str, value: str | None) -> MessageEdit:
    """Set an entry of the metadata of a file, or take it out."""

    def edit(message: FileDescriptor) -> None:
        if value is None:
            del message.schema.metadata[key]
        else:
            message.schema.metadata[key] = value.encode()

    return descriptor(edit, f"_indices/*/{file}")


def renamed(file: str, column: str) -> MessageEdit:
    """Give a column another name."""

    def edit(message: FileDescriptor) -> None:
        (own,) = (field for field in message.schema.fields if field.name == column)
        own.name = f"{column}x"

    return descriptor(edit, f"_indices/*/{file}")


def nulls(file: str, column: int) -> MessageEdit:
    """Make every value of a column null."""
    edit = array(lambda message: message.nullable.all_nulls.SetInParent(), column)
    return MessageEdit(edit.where, edit.edit, f"_indices/*/{file}")


def _overlap(section: IndexSection) -> None:
    for entry in section.indices:
        entry.fragment_bitmap = section.indices[0].fragment_bitmap


_DATA, _LOOKUP, _BITMAP = "page_data.lance", "page_lookup.lance", "bitmap_page_lookup.lance"
_ZONES, _BLOOM, _NGRAM = "zonemap.lance", "bloomfilter.lance", "ngram_postings.lance"

_ENTRIES = (
    fault("btree/early", "gone", "a file of the index is missing", "L.index.segment.files",
          Remove(f"_indices/*/{_DATA}")),
    fault("btree/early", "longer", "a file of the index is longer than the entry says",
          "L.index.files.size", Resize(None, b"\0APPEND", f"_indices/*/{_DATA}")),
    lint("btree/early", "future", "an index of a version that is still to come",
         "L.index.segment.dataset-version", index(setting(dataset_version=99), LAST)),
    lint("btree/segments", "overlap", "two segments of one name that cover the same fragments",
         "L.index.segment.disjoint",
         indices(_overlap, "_versions/18446744073709551610.manifest")),
    lint("bitmap/plain", "complete", "a value that no row has, in place of one that a row has",
         "L.index.segment.complete", values(_BITMAP, "keys", b"\x0a", 20)),
)  # fmt: skip

_FILES = (
    fault("btree/plain", "column", "a column has another name", "L.index.files.column",
          renamed(_DATA, "ids")),
    fault("label-list/plain", "metadata", "nothing names the buffer of the lists that are null",
          "L.index.files.metadata", metadata(_BITMAP, "lance:label_list_nulls", None)),
    fault("zonemap/plain", "metadata", "the number of a buffer is no number",
          "L.index.files.metadata", metadata(_ZONES, "null_bitmap", "one")),
    fault("zonemap/plain", "buffer", "the metadata name a buffer that is not there",
          "L.index.files.buffer", metadata(_ZONES, "null_bitmap", "7")),
)  # fmt: skip

_SETS = (
    fault("zonemap/plain", "rows-count", "a set of more fragments than it has bytes",
          "L.index.rows.count", held(_ZONES, b"\xff\xff\xff\xff", 0)),
    fault("zonemap/plain", "rows-order", "a fragment that occurs twice in a set of rows",
          "L.index.rows.order", held(_ZONES, b"\0", 30)),
    fault("zonemap/plain", "rows-bitmap", "a bitmap that ends after its set",
          "L.index.rows.bitmap", held(_ZONES, b"\xff", 9)),
    fault("zonemap/plain", "rows-cookie", "a bitmap with another first word",
          "L.table.roaring.cookie", held(_ZONES, b"\0", 12)),
    fault("zonemap/plain", "rows-end", "bytes after the last fragment of a set",
          "L.index.rows.end", held(_ZONES, b"\1", 0)),
    lint("bitmap/plain", "fragment", "a row of a fragment that never was", "L.index.rows.fragment",
         values(_BITMAP, "bitmaps", b"\3", 116, "bytes")),
    fault("ngram/plain", "treemap-count", "a treemap of more bitmaps than it has bytes",
          "L.index.treemap.count", values(_NGRAM, "posting_list", b"\xff" * 4, 0, "bytes")),
    fault("ngram/plain", "treemap-order", "an upper half that occurs twice in a treemap",
          "L.index.treemap.order", values(_NGRAM, "posting_list", b"\0", 38, "bytes")),
    fault("ngram/plain", "treemap-end", "bytes after the last bitmap of a treemap",
          "L.index.treemap.end", values(_NGRAM, "posting_list", b"\1", 0, "bytes")),
)  # fmt: skip

_VALUES = (
    lint("btree/plain", "order", "values that fall", "L.index.btree.order",
         values(_DATA, "values", b"\4", 8)),
    fault("btree/plain", "pages", "a page after the last", "L.index.btree.pages",
          values(_LOOKUP, "page_idx", b"\x63", 4)),
    lint("btree/plain", "bounds", "a greatest value that is not that of its page",
         "L.index.btree.bounds", values(_LOOKUP, "max", b"\x63", 8)),
    lint("btree/plain", "ids", "a row that occurs twice", "L.index.btree.ids",
         values(_DATA, "ids", b"\4", 40)),
    fault("bitmap/plain", "null", "null in place of a set of rows", "L.index.bitmap.columns",
          nulls(_BITMAP, 1)),
    lint("bitmap/plain", "disjoint", "a row in the sets of two values",
         "L.index.bitmap.disjoint", values(_BITMAP, "bitmaps", b"\1", 140, "bytes")),
    lint("bitmap/plain", "statistics", "another number of keys", "L.index.bitmap.statistics",
         metadata(_BITMAP, "lance:index_stats", '{"num_bitmaps":7}')),
    lint("label-list/plain", "disjoint", "an item of a list that is null",
         "L.index.label-list.disjoint", held(_BITMAP, b"\0", 28)),
    fault("zonemap/plain", "order", "a zone that begins after every row", "L.index.zones.order",
          values(_ZONES, "zone_start", b"\1", 4)),
    lint("zonemap/plain", "nulls", "a zone counts more rows that are null than the set has",
         "L.index.zones.nulls", values(_ZONES, "null_count", b"\2")),
    fault("bloomfilter/plain", "size", "filters of two sizes", "L.index.bloom.data",
          values(_BLOOM, "bloom_filter_data", b"\x1f", 0, "string ends")),
    fault("ngram/plain", "order", "tokens that do not rise", "L.index.ngram.order",
          values(_NGRAM, "tokens", b"\xff\xb0", 0)),
    fault("ngram/plain", "token", "a token that no three letters have", "L.index.ngram.order",
          values(_NGRAM, "tokens", b"\xff\xff\xff", 4)),
)  # fmt: skip


def _elsewhere(details: FragmentReuseIndexDetails) -> None:
    details.external.path = "../details.binpb"


def _longer(details: FragmentReuseIndexDetails) -> None:
    details.external.size += 1


def _missing(details: FragmentReuseIndexDetails) -> None:
    details.external.path = "other.binpb"


def _more_rows(details: FragmentReuseIndexDetails) -> None:
    details.inline.versions[0].groups[0].new_fragments[0].physical_rows += 1


def _other_fragments(details: FragmentReuseIndexDetails) -> None:
    details.inline.versions[0].groups[0].old_fragments[0].physical_rows = 2


def _twice(details: FragmentReuseIndexDetails) -> None:
    details.inline.versions.add().CopyFrom(details.inline.versions[0])
    del details.inline.versions[1].groups[:]


_REUSE = (
    fault("btree/moved-beside", "missing", "a file beside that is not there",
          "L.index.segment.files", reuse(_missing)),
    fault("btree/moved-beside", "longer", "a file beside that is shorter than the entry says",
          "L.index.reuse.external", reuse(_longer)),
    fault("btree/moved-beside", "elsewhere", "a file beside in another folder",
          "L.index.reuse.external", reuse(_elsewhere)),
    fault("btree/moved", "rows", "fewer rows were written on than the new fragments have",
          "L.index.reuse.rows", reuse(_more_rows)),
    fault("btree/moved", "fragments", "rows were written on that the old fragments do not have",
          "L.index.reuse.fragments", reuse(_other_fragments)),
    lint("btree/moved", "order", "a version that occurs twice", "L.index.reuse.order",
         reuse(_twice)),
)  # fmt: skip

NEGATIVES = (*_ENTRIES, *_FILES, *_SETS, *_VALUES, *_REUSE)
