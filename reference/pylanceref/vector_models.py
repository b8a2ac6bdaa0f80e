"""Vector models: centroids and codebooks that were trained apart, and their files (face).

Has the names of pylance's `lance.indices`. A model is a data file of one column, with what else
there is to say in the metadata of its schema.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.core.integers import unsigned
from lanceref.data_file.reader import LanceFileReader
from lanceref.data_file.writer import LanceFileWriter
from lanceref.index.vector.rq_storage import USUAL_BITS, model_text


class IvfModel:
    """Centroids, a fixed-size list for each partition, and the distance they were trained for."""

    def __init__(self, centroids: pa.FixedSizeListArray, distance_type: str) -> None:
        self.centroids = centroids
        self.distance_type = distance_type

    @property
    def num_partitions(self) -> int:
        """How many centroids there are."""
        return len(self.centroids)

    def save(self, uri: str, *, storage_options: dict[str, str] | None = None) -> None:
        """Write the model as a data file."""
        said = {"distance_type": self.distance_type}
        _save(uri, "centroids", self.centroids, said, storage_options)

    @classmethod
    def load(cls, uri: str, *, storage_options: dict[str, str] | None = None) -> IvfModel:
        """Read a model. Raises NotFound, FormatError, KeyError for another file."""
        centroids, said = _load(uri, "centroids", storage_options)
        return cls(centroids, said["distance_type"])


class PqModel:
    """Codewords of sub-vectors: as many lists of the vectors' size as there are codes."""

    def __init__(
        self, num_subvectors: int, codebook: pa.FixedSizeListArray, *, num_bits: int = 8
    ) -> None:
        self.num_subvectors = num_subvectors
        self.num_bits = num_bits
        self.codebook = codebook

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.codebook.type.list_size)

    def save(self, uri: str, *, storage_options: dict[str, str] | None = None) -> None:
        """Write the model as a data file."""
        said = {"num_subvectors": str(self.num_subvectors), "num_bits": str(self.num_bits)}
        _save(uri, "codebook", self.codebook, said, storage_options)

    @classmethod
    def load(cls, uri: str, *, storage_options: dict[str, str] | None = None) -> PqModel:
        """Read a model. Raises NotFound, FormatError, KeyError for another file."""
        codebook, said = _load(uri, "codebook", storage_options)
        return cls(int(said["num_subvectors"]), codebook, num_bits=int(said.get("num_bits", "8")))


def build_rq_model(dimension: int, num_bits: int = USUAL_BITS, dtype: str = "float32") -> str:
    """Return a rotation drawn at random, as text, that segments of an IVF_RQ index may share.

    Raises ValueError for another type and a dimension that is no multiple of 8, OverflowError.
    """
    if unsigned(dimension) % 8:
        raise ValueError("dimension must be divisible by 8 for IVF_RQ")
    if dtype not in ("float16", "float32", "float64"):
        raise ValueError(f"unsupported dtype: {dtype}")
    return model_text(dimension, num_bits, np.random.default_rng())


def _save(
    uri: str,
    name: str,
    values: pa.FixedSizeListArray,
    said: dict[str, str],
    storage_options: dict[str, str] | None,
) -> None:
    schema = pa.schema([pa.field(name, values.type)], metadata=said)
    with LanceFileWriter(uri, schema, storage_options=storage_options) as writer:
        writer.write_batch(pa.table([values], schema=schema))


def _load(
    uri: str, name: str, storage_options: dict[str, str] | None
) -> tuple[pa.FixedSizeListArray, dict[str, str]]:
    reader = LanceFileReader(uri, storage_options=storage_options)
    said = {
        key.decode(): value.decode()
        for key, value in (reader.metadata().schema.metadata or {}).items()
    }
    return reader.read_all().to_table()[name].combine_chunks(), said
