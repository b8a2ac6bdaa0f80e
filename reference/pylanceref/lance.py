"""Names that pylance keeps in its compiled module (face)."""

from __future__ import annotations

from lanceref.core.file_versions import stable_version
from lanceref.data_file.reader import LanceFileReader
from lanceref.data_file.writer import LanceFileWriter
from lanceref.operations.cleanup_plan import (
    CleanupCandidateFile,
    CleanupExplanation,
    CleanupReferencedBranch,
    CleanupStats,
)
from lanceref.storage import IOStats, bytes_read_counter, iops_counter
from lanceref.transactions.migration import is_complete

from pylanceref import indices
from pylanceref.bitmap import Bitmap
from pylanceref.debug import format_fragment, format_manifest, format_schema, list_transactions
from pylanceref.file_session import LanceFileSession
from pylanceref.fts_tokens import FtsToken, tokenize
from pylanceref.metadata import DeletionFile, RowDatasetVersionMeta, RowIdMeta
from pylanceref.operation import DatasetBasePath
from pylanceref.optimize import (
    Compaction,
    CompactionMetrics,
    CompactionPlan,
    CompactionTask,
    RewriteResult,
)
from pylanceref.prepared_blobs import (
    BlobDescriptor,
    BlobDescriptorArrayBuilder,
    DedicatedBlobWriter,
    PackedBlobWriter,
)
from pylanceref.row_id_sequence import RowIdSequence
from pylanceref.scan_statistics import ScanStatistics
from pylanceref.schema import LanceSchema
from pylanceref.table_handle import OpenTable

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
