"""Names that pylance keeps in its compiled module (face)."""

from __future__ import annotations

from lanceref import indices
from lanceref.bitmap import Bitmap
from lanceref.cleanup_plan import (
    CleanupCandidateFile,
    CleanupExplanation,
    CleanupReferencedBranch,
    CleanupStats,
)
from lanceref.debug import format_fragment, format_manifest, format_schema, list_transactions
from lanceref.file import LanceFileReader, LanceFileSession, LanceFileWriter, stable_version
from lanceref.file.prepared_blobs import (
    BlobDescriptor,
    BlobDescriptorArrayBuilder,
    DedicatedBlobWriter,
    PackedBlobWriter,
)
from lanceref.fts_tokens import FtsToken, tokenize
from lanceref.metadata import DeletionFile, RowDatasetVersionMeta, RowIdMeta
from lanceref.opened import OpenTable
from lanceref.operation import DatasetBasePath
from lanceref.optimize import (
    Compaction,
    CompactionMetrics,
    CompactionPlan,
    CompactionTask,
    RewriteResult,
)
from lanceref.row_id_sequence import RowIdSequence
from lanceref.scan_statistics import ScanStatistics
from lanceref.schema import LanceSchema
from lanceref.storage import IOStats, bytes_read_counter, iops_counter
from lanceref.txn.migration import is_complete

__all__ = [
    "Bitmap",
    "BlobDescriptor",
    "BlobDescriptorArrayBuilder",
    "CleanupCandidateFile",
    "CleanupExplanation",
    "CleanupReferencedBranch",
    "CleanupStats",
    "Compaction",
    "CompactionMetrics",
    "CompactionPlan",
    "CompactionTask",
    "DatasetBasePath",
    "DedicatedBlobWriter",
    "DeletionFile",
    "FtsToken",
    "IOStats",
    "LanceFileReader",
    "LanceFileSession",
    "LanceFileWriter",
    "LanceSchema",
    "PackedBlobWriter",
    "RewriteResult",
    "RowDatasetVersionMeta",
    "RowIdMeta",
    "RowIdSequence",
    "ScanStatistics",
    "bytes_read_counter",
    "format_fragment",
    "format_manifest",
    "format_schema",
    "indices",
    "iops_counter",
    "list_transactions",
    "manifest_needs_migration",
    "stable_version",
    "tokenize",
]


def manifest_needs_migration(dataset: OpenTable) -> bool:
    """Whether the next commit completes the manifest, as an early release left things out."""
    message = dataset._snapshot.manifest.message
    named = message.HasField("writer_version")
    return not all(is_complete(one, named=named) for one in message.fragments)
