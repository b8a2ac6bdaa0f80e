"""Feature flags: what a reader and a writer must know to touch a table.

Two u64 words of the manifest. A reader refuses a table whose reader word has a bit it does not
know; a writer looks at both words. Some bits are only valid in both words at once.

Clauses: L.table.flags.unknown-reader-bit, L.table.flags.unknown-writer-bit, L.table.flags.paired,
L.table.flags.writer-only, L.table.flags.content, L.table.flags.stable-row-ids,
L.table.flags.field-ids, L.table.flags.writer-refuses
"""

from __future__ import annotations

from collections.abc import Iterator

from lanceref.core.context import Context
from lanceref.core.errors import Place, UnknownFlag
from lanceref.proto import table_pb2

DELETION_FILES = 1
STABLE_ROW_IDS = 2
USE_V2_FORMAT = 4
TABLE_CONFIG = 8
BASE_PATHS = 16
DISABLE_TRANSACTION_FILE = 32
DATA_OVERLAY_FILES = 64
COVERED_INDEX_METADATA = 128
MIXED_DATA_FILE_VERSIONS = 256
FRAGMENT_REUSE_INDEX = 1024
SPILLED_ROW_LINEAGE = 2048
MANAGED_BLOBS = 16384
NON_REUSABLE_FIELD_IDS = 32768
ZONE_WRITE_SEED = 65536

MANAGED_KEY = "lance.blob.managed"
"""Schema metadata of a table that keeps blobs in objects of its own."""
PAIRED = (MIXED_DATA_FILE_VERSIONS, FRAGMENT_REUSE_INDEX, MANAGED_BLOBS, ZONE_WRITE_SEED)
"""Bits that are set in both words or in none."""

READABLE = 2**15 - 1 - 512 - 4096 - 8192
"""Bits of the reader word that this reader honours: all that are named above but the last two."""

STICKY = MIXED_DATA_FILE_VERSIONS | MANAGED_BLOBS
"""Bits that stay set in every later version."""


def check_writable(manifest: table_pb2.Manifest, place: Place) -> None:
    """Refuse to build on a version whose writer word has a bit this writer does not know."""
    unknown = manifest.writer_feature_flags & ~READABLE
    if unknown:
        found, wanted = f"writer flags {unknown}", f"flags among {READABLE}"
        raise UnknownFlag("L.table.flags.writer-refuses", place, found, wanted)


def set_flags(manifest: table_pb2.Manifest, kept: int) -> None:
    """Set both words from what the version holds, and from the reader flags `kept` from before."""
    flags = kept
    for bit, _, _ in _content(manifest):
        if bit != TABLE_CONFIG:
            flags |= bit
    manifest.reader_feature_flags = flags
    manifest.writer_feature_flags = flags | (TABLE_CONFIG if manifest.config else 0)


def check_flags(manifest: table_pb2.Manifest, ctx: Context, place: Place) -> None:
    """Refuse words that contradict themselves, then bits this reader does not know.

    What the table has is compared with the flags that it sets.
    """
    reader, writer = manifest.reader_feature_flags, manifest.writer_feature_flags
    words = f"reader flags {reader}, writer flags {writer}"
    for bit in PAIRED:
        if (reader ^ writer) & bit:
            ctx.reject("L.table.flags.paired", place, words, f"flag {bit} in both or in none")
    if reader & NON_REUSABLE_FIELD_IDS:
        wanted = f"no reader flag {NON_REUSABLE_FIELD_IDS}"
        ctx.reject("L.table.flags.writer-only", place, words, wanted)
    has_ids = manifest.HasField("max_allocated_field_id")
    if bool(writer & NON_REUSABLE_FIELD_IDS) != has_ids:
        found = f"writer flags {writer}, max_allocated_field_id {has_ids}"
        ctx.reject("L.table.flags.field-ids", place, found, "both or neither")
    unknown = reader & ~READABLE  # L.table.flags.unknown-writer-bit: the other word may hold any
    if unknown:
        found, wanted = f"reader flags {unknown}", f"flags among {READABLE}"
        raise UnknownFlag("L.table.flags.unknown-reader-bit", place, found, wanted)
    if manifest.HasField("fragment_tree"):
        raise UnknownFlag("L.table.flags.content", place, "a fragment tree", "a list of fragments")
    for bit, what, refused in _content(manifest):
        if not (writer if bit == TABLE_CONFIG else reader & writer) & bit:
            found = f"{what}, {words}"
            report = ctx.reject if refused else ctx.lint
            report("L.table.flags.content", place, found, f"flag {bit}")
    if reader & STABLE_ROW_IDS:
        for fragment in manifest.fragments:
            if fragment.WhichOneof("row_id_sequence") is None:
                found = f"fragment {fragment.id} without row ids"
                ctx.reject("L.table.flags.stable-row-ids", place, found, "row ids")


def _content(manifest: table_pb2.Manifest) -> Iterator[tuple[int, str, bool]]:
    """Yield (flag that must be set, what asks for it, whether reading without it goes wrong)."""
    fragments = manifest.fragments
    columns = ("column_row_ids", "column_created_at_versions", "column_last_updated_at_versions")
    if any(f.HasField("deletion_file") for f in fragments):
        yield DELETION_FILES, "a deletion file", False
    if any(f.WhichOneof("row_id_sequence") for f in fragments):
        yield STABLE_ROW_IDS, "row ids", False
    if manifest.config:
        yield TABLE_CONFIG, "table config", False
    if manifest.base_paths:
        yield BASE_PATHS, "base paths", False
    if any(f.overlays for f in fragments):
        yield DATA_OVERLAY_FILES, "overlays", True
    if manifest.schema_metadata.get(MANAGED_KEY) == b"true":
        yield MANAGED_BLOBS, "managed blobs", False
    if any(f.HasField(name) for f in fragments for name in columns):
        yield SPILLED_ROW_LINEAGE, "row ids or versions in a column", True
