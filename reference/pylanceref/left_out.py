"""Names of pylance that have nothing to do with the format.

Programs that import them load; what is made of a class here, or asked of a function, raises.
"""

from __future__ import annotations

from typing import NoReturn

from lanceref.core.errors import NotYet


class LeftOut:
    """A class whose objects cannot be made."""

    def __init__(self, *_: object, **__: object) -> None:
        _refuse(type(self).__name__)

    @classmethod
    def from_uris(cls, *_: object) -> NoReturn:
        """Raise NotYet: objects of the class cannot be made."""
        _refuse(cls.__name__)

    from_array = from_pandas = from_uris


class VectorIndexReader(LeftOut):
    """Partitions of a vector index as tables."""


class RowIdSequence(LeftOut):
    """Row ids as an object of their own."""


class ImageArray(LeftOut):
    """An array of images, encoded in a file format."""


class ImageURIArray(LeftOut):
    """An array of the addresses of images."""


class FixedShapeImageTensorType(LeftOut):
    """The type of images of one shape."""


class PandasBFloat16Array(LeftOut):
    """A column of pandas whose values are bfloat16."""


def format_schema(*_: object) -> NoReturn:
    """Raise NotYet: the text is that of another implementation's memory."""
    _refuse("format_schema")


def format_manifest(*_: object) -> NoReturn:
    """Raise NotYet: `lance-conformance explain` shows a manifest."""
    _refuse("format_manifest")


def list_transactions(*_: object) -> NoReturn:
    """Raise NotYet: `LanceDataset.get_transactions` returns what was committed."""
    _refuse("list_transactions")


def get_ivf_partition_info(*_: object, **__: object) -> NoReturn:
    """Raise NotYet: `LanceDataset.index_statistics` has the partitions of an index."""
    _refuse("get_ivf_partition_info")


def hamming_clustering_for_sample(*_: object, **__: object) -> NoReturn:
    """Raise NotYet: clusters by hamming distance are no part of the format."""
    _refuse("hamming_clustering")


hamming_clustering_for_ivf_partition = hamming_clustering_for_sample


def _refuse(name: str) -> NoReturn:
    raise NotYet(f"{name} has nothing to do with the format: pylanceref leaves it out")
