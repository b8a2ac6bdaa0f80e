"""The names of pylance, on the reference implementation of the Lance format.

A program written against the format-related part of `import lance` runs with
`import pylanceref as lance`. The names load on first use: importing the package, or one piece of
it, does not pull in all the others.

The module `dataset` shares its name with a function; here the name is the function's, also after
the module was imported.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.operations.cleanup import (
        CleanupCandidateFile,
        CleanupExplanation,
        CleanupReferencedBranch,
        CleanupStats,
    )
    from lanceref.search.projection import ColumnOrdering
    from lanceref.storage import bytes_read_counter, iops_counter

    from pylanceref.blob import (
        Blob,
        BlobArray,
        BlobColumn,
        BlobFile,
        BlobType,
        blob_array,
        blob_field,
    )
    from pylanceref.dataset import LanceDataset, dataset
    from pylanceref.fragment import DataFile, LanceFragment
    from pylanceref.fts_tokens import FtsToken, tokenize
    from pylanceref.history import sanitize_ts
    from pylanceref.merge_insert import CompactedSsTable, MergeInsertBuilder
    from pylanceref.metadata import FragmentMetadata
    from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
    from pylanceref.prepared_blobs import (
        BlobDescriptor,
        BlobDescriptorArrayBuilder,
        DedicatedBlobWriter,
        PackedBlobWriter,
    )
    from pylanceref.progress import IndexProgress
    from pylanceref.scanner import LanceScanner, ScanStatistics
    from pylanceref.schema import json_to_schema, schema_to_json
    from pylanceref.session import Session
    from pylanceref.stats import DataStatistics, FieldStatistics
    from pylanceref.udf import BatchUDF, batch_udf
    from pylanceref.write import write_dataset

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
    "FieldStatistics",
    "FragmentMetadata",
    "FtsToken",
    "Index",
    "IndexFile",
    "IndexProgress",
    "LanceDataset",
    "LanceFragment",
    "LanceOperation",
    "LanceScanner",
    "MergeInsertBuilder",
    "PackedBlobWriter",
    "ScanStatistics",
    "Session",
    "Transaction",
    "batch_udf",
    "blob_array",
    "blob_field",
    "bytes_read_counter",
    "dataset",
    "iops_counter",
    "json_to_schema",
    "sanitize_ts",
    "schema_to_json",
    "tokenize",
    "write_dataset",
]

_HOMES = {
    "BatchUDF": "pylanceref.udf",
    "batch_udf": "pylanceref.udf",
    "bytes_read_counter": "lanceref.storage",
    "iops_counter": "lanceref.storage",
    "ColumnOrdering": "lanceref.search.projection",
    "Blob": "pylanceref.blob",
    "BlobArray": "pylanceref.blob",
    "BlobColumn": "pylanceref.blob",
    "BlobFile": "pylanceref.blob",
    "BlobType": "pylanceref.blob",
    "DataFile": "pylanceref.fragment",
    "DatasetBasePath": "pylanceref.operation",
    "FragmentMetadata": "pylanceref.metadata",
    "LanceDataset": "pylanceref.dataset",
    "LanceFragment": "pylanceref.fragment",
    "LanceOperation": "pylanceref.operation",
    "LanceScanner": "pylanceref.scanner",
    "Transaction": "pylanceref.operation",
    "blob_array": "pylanceref.blob",
    "blob_field": "pylanceref.blob",
    "dataset": "pylanceref.dataset",
    "json_to_schema": "pylanceref.schema",
    "schema_to_json": "pylanceref.schema",
    "write_dataset": "pylanceref.write",
    "BlobDescriptor": "pylanceref.prepared_blobs",
    "BlobDescriptorArrayBuilder": "pylanceref.prepared_blobs",
    "DedicatedBlobWriter": "pylanceref.prepared_blobs",
    "PackedBlobWriter": "pylanceref.prepared_blobs",
    "FtsToken": "pylanceref.fts_tokens",
    "tokenize": "pylanceref.fts_tokens",
    "ScanStatistics": "pylanceref.scanner",
    "IndexProgress": "pylanceref.progress",
    "sanitize_ts": "pylanceref.history",
    "Session": "pylanceref.session",
    "CleanupStats": "lanceref.operations.cleanup",
    "CleanupExplanation": "lanceref.operations.cleanup",
    "CleanupCandidateFile": "lanceref.operations.cleanup",
    "CleanupReferencedBranch": "lanceref.operations.cleanup",
    "MergeInsertBuilder": "pylanceref.merge_insert",
    "DataStatistics": "pylanceref.stats",
    "FieldStatistics": "pylanceref.stats",
    "Index": "pylanceref.operation",
    "IndexFile": "pylanceref.operation",
    "CompactedSsTable": "pylanceref.merge_insert",
}
"""Module of each public name."""


_MODULES = frozenset(
    [
        "blob",
        "commit",
        "file",
        "fragment",
        "indices",
        "optimize",
        "query",
        "schema",
        "types",
        "vector",
    ]
)
"""Modules that `import lance` has too."""


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
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
