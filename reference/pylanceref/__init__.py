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

from pylanceref.late_names import late_names

if TYPE_CHECKING:
    from lanceref.blobs.sidecars import (
        BlobDescriptor,
        BlobDescriptorArrayBuilder,
        DedicatedBlobWriter,
        PackedBlobWriter,
    )
    from lanceref.operations.cleanup import CleanupStats
    from lanceref.storage.protocol import bytes_read_counter, iops_counter

    from pylanceref.blob import (
        Blob,
        BlobArray,
        BlobColumn,
        BlobFile,
        BlobType,
        blob_array,
        blob_field,
    )
    from pylanceref.dataset import LanceDataset, dataset, write_dataset
    from pylanceref.fragment import DataFile, LanceFragment
    from pylanceref.merge_insert import MergeInsertBuilder
    from pylanceref.metadata import FragmentMetadata
    from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
    from pylanceref.reading import DataStatistics, FieldStatistics
    from pylanceref.scanner import ColumnOrdering, LanceScanner, ScanStatistics
    from pylanceref.schema import json_to_schema, schema_to_json
    from pylanceref.table_handle import Session
    from pylanceref.udf import BatchUDF, batch_udf

__version__ = "0.1.0"

__all__ = ["BatchUDF", "Blob", "BlobArray", "BlobColumn", "BlobDescriptor"]
__all__ += ["BlobDescriptorArrayBuilder", "BlobFile", "BlobType", "CleanupStats", "ColumnOrdering"]
__all__ += ["DataFile", "DataStatistics", "DatasetBasePath", "DedicatedBlobWriter"]
__all__ += ["FieldStatistics", "FragmentMetadata", "Index", "IndexFile", "LanceDataset"]
__all__ += ["LanceFragment", "LanceOperation", "LanceScanner", "MergeInsertBuilder"]
__all__ += ["PackedBlobWriter", "ScanStatistics", "Session", "Transaction", "batch_udf"]
__all__ += ["blob_array", "blob_field", "bytes_read_counter", "dataset", "iops_counter"]
__all__ += ["json_to_schema", "schema_to_json", "write_dataset"]

_NAMES = {
    "lanceref.blobs.sidecars": "BlobDescriptor BlobDescriptorArrayBuilder DedicatedBlobWriter "
    "PackedBlobWriter",
    "lanceref.operations.cleanup": "CleanupStats",
    "lanceref.storage.protocol": "bytes_read_counter iops_counter",
    "pylanceref.blob": "Blob BlobArray BlobColumn BlobFile BlobType blob_array blob_field",
    "pylanceref.dataset": "LanceDataset dataset write_dataset",
    "pylanceref.fragment": "DataFile LanceFragment",
    "pylanceref.merge_insert": "MergeInsertBuilder",
    "pylanceref.metadata": "FragmentMetadata",
    "pylanceref.operation": "DatasetBasePath Index IndexFile LanceOperation Transaction",
    "pylanceref.scanner": "ColumnOrdering LanceScanner ScanStatistics",
    "pylanceref.schema": "json_to_schema schema_to_json",
    "pylanceref.reading": "DataStatistics FieldStatistics",
    "pylanceref.table_handle": "Session",
    "pylanceref.udf": "BatchUDF batch_udf",
}
"""Public names by their modules."""

_MODULES = "blob commit file fragment indices optimize query schema types vector util"
"""Modules that `import lance` has too."""

_late = late_names(__name__, _NAMES)


def __getattr__(name: str) -> object:
    if name in _MODULES.split():
        return importlib.import_module(f"{__name__}.{name}")
    return _late(name)


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])


class _Root(ModuleType):
    """The package: what imports a module binds it here, a public function goes before it."""

    def __setattr__(self, name: str, value: object) -> None:
        shared = name in __all__ and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if shared else value)


sys.modules[__name__].__class__ = _Root
