"""Negative cases of tables: manifests, flags, fragments, deletion files, row ids."""

from __future__ import annotations

from lanceref.proto.table_pb2 import DataFragment, Manifest

from lance_conformance.recipes.messages import (
    MANIFEST,
    data_file,
    descriptor,
    fragment,
    index,
    manifest,
    setting,
)
from lance_conformance.recipes.model import (
    Change,
    MessageEdit,
    Negative,
    Remove,
    Rename,
    Resize,
    SpanPatch,
)
from lance_conformance.recipes.tables.edits import table_fault

LAST = "_versions/1844674407370955161[0-3].manifest"
PLAIN = "table/any/manifest/plain"


def _case(
    slug: str,
    title: str,
    clause: str,
    change: Change,
    parent: str = PLAIN,
    stage: str = "any",
    kind: str = "negative-dataset",
) -> Negative:
    return table_fault(parent, slug, title, clause, change, stage=stage, kind=kind)


def _flags(reader: int | None = None, writer: int | None = None) -> MessageEdit:
    def edit(message: Manifest) -> None:
        if reader is not None:
            message.reader_feature_flags = reader
        if writer is not None:
            message.writer_feature_flags = writer

    return manifest(edit)


def _again(message: Manifest) -> None:
    """List the first fragment twice."""
    message.fragments.add().CopyFrom(message.fragments[0])


def _swap(message: Manifest) -> None:
    first = message.fragments[0].id
    message.fragments[0].id = message.fragments[1].id
    message.fragments[1].id = first


def _twice(message: DataFragment) -> None:
    message.files.add().CopyFrom(message.files[0])


def _overlay(message: DataFragment) -> None:
    message.overlays.add().shared_offset_bitmap = b""


_MANIFEST = (
    _case("empty", "a manifest of no bytes", "L.table.manifest.size",
          Resize(keep=0, target=MANIFEST)),
    _case("magic", "a manifest with the magic LANX", "L.table.manifest.magic",
          SpanPatch(("footer", "magic"), b"LANX", target=MANIFEST)),
    _case("position", "a manifest beyond the file", "L.table.manifest.section",
          SpanPatch(("footer", "manifest_position"), 2**40, target=MANIFEST)),
    _case("length", "a manifest longer than the file", "L.table.manifest.section",
          SpanPatch(("manifest section", "length"), 2**31, target=MANIFEST)),
    _case("end", "a manifest of no bytes before the footer", "L.table.manifest.end",
          SpanPatch(("manifest section", "length"), 0, target=MANIFEST)),
    _case("message", "a manifest that does not parse", "L.table.manifest.message",
          SpanPatch(("manifest section", "tag and length of fields"), b"\xff\xff",
                    target=MANIFEST)),
    _case("index-section", "an index section beyond the file", "L.table.manifest.section",
          manifest(setting(index_section=2**40))),
    _case("file-format", "a table of Parquet files", "L.table.format.file-format",
          manifest(lambda m: setting(file_format="parquet")(m.data_format))),
    _case("format-version", "a storage version of 9.9", "L.table.format.version",
          manifest(lambda m: setting(version="9.9")(m.data_format))),
    _case("field-type", "a field of an unknown type", "L.file.schema.logical-type",
          manifest(lambda m: setting(logical_type="jnt64")(m.fields[0]))),
    _case("field-parent", "a field whose parent is missing", "L.file.schema.parent-first",
          manifest(lambda m: setting(parent_id=5)(m.fields[0]))),
    _case("one-scheme", "a manifest named in the other scheme", "L.table.naming.one-scheme",
          Rename(LAST, "_versions/2.manifest"), "table/any/manifest/v2-names"),
    _case("index-uuid", "an index whose uuid has 15 bytes", "L.table.index.uuid",
          index(lambda m: setting(uuid=bytes(15))(m.uuid), LAST),
          "table/any/manifest/index"),
    _case("footer-version", "a footer that says 2, 1", "L.table.manifest.footer-version",
          SpanPatch(("footer", "major"), 2, target=MANIFEST), kind="lint"),
    _case("version-name", "a manifest that says another version than its name",
          "L.table.naming.version", manifest(setting(version=77)), kind="lint"),
    _case("transaction", "an inline transaction that does not parse", "L.txn.inline.message",
          SpanPatch(("transaction section", "length"), 2**20, target=MANIFEST), kind="lint"),
)  # fmt: skip

_FLAGS = (
    *(
        _case(f"flag-{bit}", f"the unknown reader flag {bit}",
              "L.table.flags.unknown-reader-bit", _flags(reader=bit))
        for bit in (512, 4096, 8192, 2**17, 2**40)
    ),
    *(
        _case(f"half-{bit}-{word}", f"flag {bit} in the {word} word only",
              "L.table.flags.paired", _flags(**{word: bit}))
        for bit, word in ((256, "reader"), (256, "writer"), (1024, "reader"), (16384, "writer"))
    ),
    _case("flag-32768", "a writer flag in the reader word", "L.table.flags.writer-only",
          _flags(reader=32768)),
    _case("field-ids", "max_allocated_field_id without its flag", "L.table.flags.field-ids",
          manifest(setting(max_allocated_field_id=9))),
    _case("overlay", "an overlay without its flag", "L.table.flags.content", fragment(_overlay)),
    _case("row-ids-missing", "stable row ids, and a fragment without",
          "L.table.flags.stable-row-ids", _flags(reader=2, writer=2)),
    _case("deletion-flag", "a deletion file without its flag", "L.table.flags.content",
          manifest(setting(reader_feature_flags=0, writer_feature_flags=0), LAST),
          "table/any/deletions/arrow", kind="lint"),
)  # fmt: skip

_FRAGMENTS = (
    _case("duplicate-id", "a fragment listed twice", "L.table.fragments.ids", manifest(_again)),
    _case("order", "fragments in another order than their ids", "L.table.fragments.order",
          manifest(_swap), "table/any/fragments/three"),
    _case("max-id", "a fragment above max_fragment_id", "L.table.fragments.max-id",
          fragment(setting(id=7))),
    _case("rows", "more rows than the file has", "L.table.fragments.rows",
          fragment(setting(physical_rows=6))),
    _case("rows-fewer", "fewer rows than the file has", "L.table.fragments.rows",
          fragment(setting(physical_rows=3)), "table/any/fragments/version-2-2"),
    _case("file-missing", "the data file is gone", "L.table.files.exist", Remove("data/*.lance")),
    _case("file-size", "a file size that is wrong", "L.table.datafile.size",
          data_file(lambda f: setting(file_size_bytes=f.file_size_bytes + 1)(f))),
    _case("file-version", "an unknown file version", "L.table.datafile.version",
          data_file(setting(file_minor_version=9))),
    _case("file-version-other", "a 2.2 file in a table of 2.1", "L.table.datafile.version",
          data_file(setting(file_minor_version=2)), "table/any/fragments/three"),
    _case("indices", "two column indices for one field", "L.table.datafile.indices",
          data_file(lambda f: f.column_indices.append(1))),
    _case("index-negative", "a column index of -1", "L.table.datafile.indices",
          data_file(lambda f: f.column_indices.__setitem__(0, -1)),
          "table/any/fragments/version-2-0"),
    _case("index-range", "a column the file does not have", "L.file.schema.num-columns",
          data_file(lambda f: f.column_indices.__setitem__(0, 9))),
    _case("field-id", "a field id of -1", "L.table.datafile.field-id",
          data_file(lambda f: f.fields.__setitem__(0, -1))),
    _case("field-twice", "a field in two files of a fragment", "L.table.datafile.once",
          fragment(_twice)),
    _case("base", "a base that is not there", "L.table.base.resolves",
          data_file(setting(base_id=3))),
)  # fmt: skip


def _deleted(**values: object) -> MessageEdit:
    return fragment(lambda f: setting(**values)(f.deletion_file), LAST)


_ARROW = "table/any/deletions/arrow"
_BITMAP = "table/any/deletions/bitmap"
_BIN = "_deletions/*.bin"


def _move_last(bitmap: bytes) -> bytes:
    """Clear the first value of a bitmap and set its last bit: as many values, one out of range."""
    first = next(i for i, byte in enumerate(bitmap) if byte)
    cleared = bitmap[first] & (bitmap[first] - 1)
    return bitmap[:first] + bytes([cleared]) + bitmap[first + 1 : -1] + b"\x80"


_DELETIONS = (
    _case("missing", "the deletion file is gone", "L.table.files.exist",
          Remove("_deletions/*.arrow"), _ARROW),
    _case("count", "three deleted rows stated, two in the file", "L.table.deletions.count",
          _deleted(num_deleted_rows=3), _ARROW),
    _case("type", "a deletion file of type 7", "L.table.deletions.type", _deleted(file_type=7),
          _ARROW),
    _case("range", "a deleted row after the last", "L.table.deletions.range",
          SpanPatch(("container 0",), _move_last, target=_BIN), _BITMAP),
    _case("arrow", "an Arrow file that is cut short", "L.table.deletions.arrow",
          Resize(keep=-20, target="_deletions/*.arrow"), _ARROW),
    _case("cookie", "a bitmap with another cookie", "L.table.roaring.cookie",
          SpanPatch(("cookie",), 12345, target=_BIN), _BITMAP),
    _case("containers", "a bitmap that claims 2**16 containers", "L.table.roaring.containers",
          SpanPatch(("containers",), 2**16, target=_BIN), _BITMAP),
    _case("trailing", "a byte after the bitmap", "L.table.roaring.end",
          Resize(append=b"\0", target=_BIN), _BITMAP),
    _case("container-offset", "a container said to stand one byte before its place",
          "L.table.roaring.offsets", SpanPatch(("container offsets",), 15, target=_BIN), _BITMAP,
          kind="lint"),
)  # fmt: skip

_TYPES = "table/any/manifest/two-types"
_ZSTD = "table/any/deletions/arrow-zstd"


def _two_bases(message: Manifest) -> None:
    for path in ("file:///first", "file:///second"):
        message.base_paths.add(id=1, path=path)
    setting(reader_feature_flags=16, writer_feature_flags=16)(message)


_PLACES = (
    _case("path-absolute", "a data file at an absolute path", "L.table.datafile.path",
          data_file(setting(path="/etc/hosts")), _TYPES),
    _case("path-parent", "a data file outside of its folder", "L.table.datafile.path",
          data_file(setting(path="../data/x.lance")), _TYPES),
    _case("bases-alike", "two base paths of one id", "L.table.base.unique",
          manifest(_two_bases), _TYPES),
    _case("other-type", "a file that calls a number of the table a float",
          "L.table.datafile.type",
          descriptor(lambda m: setting(logical_type="float")(m.schema.fields[0]),
                     "data/*.lance"), _TYPES, kind="lint"),
    _case("arrow-magic", "an Arrow file that begins with ARROWX", "L.table.deletions.arrow-magic",
          SpanPatch(("magic",), lambda old: b"ARROWX"[: len(old)], target="_deletions/*.arrow"),
          _ZSTD),
    _case("arrow-bomb", "a compressed batch that claims 2**40 bytes",
          "L.table.limits.deletions",
          SpanPatch(("plain size of row_id",), 2**40, target="_deletions/*.arrow"), _ZSTD),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_MANIFEST, *_FLAGS, *_FRAGMENTS, *_DELETIONS, *_PLACES)
"""Every negative case of tables."""
