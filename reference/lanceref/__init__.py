"""The reference implementation of the Lance format: small, readable, complete.

The names are those of pylance, so that a program written against the format-related part of
`import lance` runs with `import lanceref as lance`; `explain` and `validate` are our own. They load
on first use: importing the package, or one piece of it, does not pull in all the others.

Each of the modules `dataset`, `explain` and `validate` shares its name with a function; here the
name is the function's, also after the module was imported.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.blob import (
        Blob,
        BlobArray,
        BlobColumn,
        BlobFile,
        BlobType,
        blob_array,
        blob_field,
    )
    from lanceref.cleanup_plan import (
        CleanupCandidateFile,
        CleanupExplanation,
        CleanupReferencedBranch,
        CleanupStats,
    )
    from lanceref.dataset import LanceDataset, dataset
    from lanceref.errors import LanceError
    from lanceref.explain import explain
    from lanceref.file.prepared_blobs import (
        BlobDescriptor,
        BlobDescriptorArrayBuilder,
        DedicatedBlobWriter,
        PackedBlobWriter,
    )
    from lanceref.fragment import DataFile, LanceFragment
    from lanceref.fts_tokens import FtsToken, tokenize
    from lanceref.lsm_planner import ExecutionPlan, LsmPointLookupPlanner
    from lanceref.lsm_scanner import LsmScanner
    from lanceref.lsm_vector_planner import LsmVectorSearchPlanner
    from lanceref.mem_wal import (
        CompactedSsTable,
        ShardingField,
        ShardingSpec,
        evaluate_sharding_spec,
    )
    from lanceref.merge_insert import MergeInsertBuilder
    from lanceref.metadata import FragmentMetadata
    from lanceref.moments import sanitize_ts
    from lanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
    from lanceref.processor import simd_info
    from lanceref.progress import IndexProgress
    from lanceref.query.ordering import ColumnOrdering
    from lanceref.scan_statistics import ScanStatistics
    from lanceref.scanner import LanceScanner
    from lanceref.schema import json_to_schema, schema_to_json
    from lanceref.session import Session
    from lanceref.shard_snapshot import ShardSnapshot
    from lanceref.shard_writer import ShardWriter
    from lanceref.stats import DataStatistics, FieldStatistics
    from lanceref.storage import bytes_read_counter, iops_counter
    from lanceref.udf import BatchUDF, batch_udf
    from lanceref.validate import validate
    from lanceref.write import write_dataset

__version__ = "0.1.0"

__all__ = [
    "BatchUDF",
    "Blob",
    "BlobArray",
    "BlobColumn",
    "BlobDescriptor",
    "BlobDescriptorArrayBuilder",
    "BlobFile",
    "BlobType",
    "CleanupCandidateFile",
    "CleanupExplanation",
    "CleanupReferencedBranch",
    "CleanupStats",
    "ColumnOrdering",
    "CompactedSsTable",
    "DataFile",
    "DataStatistics",
    "DatasetBasePath",
    "DedicatedBlobWriter",
    "ExecutionPlan",
    "FieldStatistics",
    "FragmentMetadata",
    "FtsToken",
    "Index",
    "IndexFile",
    "IndexProgress",
    "LanceDataset",
    "LanceError",
    "LanceFragment",
    "LanceOperation",
    "LanceScanner",
    "LsmPointLookupPlanner",
    "LsmScanner",
    "LsmVectorSearchPlanner",
    "MergeInsertBuilder",
    "PackedBlobWriter",
    "ScanStatistics",
    "Session",
    "ShardSnapshot",
    "ShardWriter",
    "ShardingField",
    "ShardingSpec",
    "Transaction",
    "batch_udf",
    "blob_array",
    "blob_field",
    "bytes_read_counter",
    "dataset",
    "evaluate_sharding_spec",
    "explain",
    "iops_counter",
    "json_to_schema",
    "sanitize_ts",
    "schema_to_json",
    "simd_info",
    "tokenize",
    "validate",
    "write_dataset",
]

_HOMES = {
    "BatchUDF": "lanceref.udf",
    "batch_udf": "lanceref.udf",
    "bytes_read_counter": "lanceref.storage",
    "iops_counter": "lanceref.storage",
    "ColumnOrdering": "lanceref.query.ordering",
    "Blob": "lanceref.blob",
    "BlobArray": "lanceref.blob",
    "BlobColumn": "lanceref.blob",
    "BlobFile": "lanceref.blob",
    "BlobType": "lanceref.blob",
    "DataFile": "lanceref.fragment",
    "DatasetBasePath": "lanceref.operation",
    "FragmentMetadata": "lanceref.metadata",
    "LanceDataset": "lanceref.dataset",
    "LanceError": "lanceref.errors",
    "LanceFragment": "lanceref.fragment",
    "LanceOperation": "lanceref.operation",
    "LanceScanner": "lanceref.scanner",
    "Transaction": "lanceref.operation",
    "blob_array": "lanceref.blob",
    "blob_field": "lanceref.blob",
    "dataset": "lanceref.dataset",
    "explain": "lanceref.explain",
    "json_to_schema": "lanceref.schema",
    "schema_to_json": "lanceref.schema",
    "validate": "lanceref.validate",
    "write_dataset": "lanceref.write",
    "BlobDescriptor": "lanceref.file.prepared_blobs",
    "BlobDescriptorArrayBuilder": "lanceref.file.prepared_blobs",
    "DedicatedBlobWriter": "lanceref.file.prepared_blobs",
    "PackedBlobWriter": "lanceref.file.prepared_blobs",
    "FtsToken": "lanceref.fts_tokens",
    "tokenize": "lanceref.fts_tokens",
    "ScanStatistics": "lanceref.scan_statistics",
    "IndexProgress": "lanceref.progress",
    "sanitize_ts": "lanceref.moments",
    "simd_info": "lanceref.processor",
    "Session": "lanceref.session",
    "CleanupStats": "lanceref.cleanup_plan",
    "CleanupExplanation": "lanceref.cleanup_plan",
    "CleanupCandidateFile": "lanceref.cleanup_plan",
    "CleanupReferencedBranch": "lanceref.cleanup_plan",
    "MergeInsertBuilder": "lanceref.merge_insert",
    "DataStatistics": "lanceref.stats",
    "FieldStatistics": "lanceref.stats",
    "Index": "lanceref.operation",
    "IndexFile": "lanceref.operation",
    "CompactedSsTable": "lanceref.mem_wal",
    "ExecutionPlan": "lanceref.lsm_planner",
    "LsmPointLookupPlanner": "lanceref.lsm_planner",
    "LsmScanner": "lanceref.lsm_scanner",
    "LsmVectorSearchPlanner": "lanceref.lsm_vector_planner",
    "ShardSnapshot": "lanceref.shard_snapshot",
    "ShardWriter": "lanceref.shard_writer",
    "ShardingField": "lanceref.mem_wal",
    "ShardingSpec": "lanceref.mem_wal",
    "evaluate_sharding_spec": "lanceref.mem_wal",
}
"""Module of each public name."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(
        {"__all__", "__doc__", "__file__", "__name__", "__path__", "__version__", *__all__}
    )


class _Root(ModuleType):
    """The package: what imports a module binds it here, a public function goes before it."""

    def __setattr__(self, name: str, value: object) -> None:
        shared = name in _HOMES and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if shared else value)


sys.modules[__name__].__class__ = _Root
