"""Index requests: what a caller wants to have indexed, checked as pylance checks it (face)."""

from __future__ import annotations

import logging
import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from lanceref.core.errors import IndexRefused, NotFound, QueryRefused
from lanceref.core.integers import unsigned
from lanceref.file.schema import LanceSchema
from lanceref.index.full_text.parameters import NO_LIST, DocumentGranularity
from lanceref.index.index_type import Kind
from lanceref.index.indices import indexed_column, indexed_path
from lanceref.index.vector.parameters import VectorParameters, check_column
from lanceref.index.vector.vector_index import TYPES, VectorType
from lanceref.index.vector.vector_kind import Vector
from lanceref.index.vector.vectors import ELEMENTS, vector_type, vectors_of
from lanceref.index.vector.vectors import VectorType as ColumnType
from lanceref.kernels.distance import AnyVectors
from lanceref.kernels.hnsw_graph import FEWEST_EDGES, USUAL, GraphParameters

from pylanceref.errors import ColumnRefused, KeyMissing
from pylanceref.index_listing import INVERTED_DETAILS, IndexConfig
from pylanceref.nearest import METRIC_NAMES
from pylanceref.sql.rewriting import words

ALIASES = {"FTS": "INVERTED", "LABELLIST": "LABEL_LIST"}
"""Other names of types."""

BY_KEYWORD = words(
    "BTREE BITMAP NGRAM ZONEMAP LABEL_LIST INVERTED FTS BLOOMFILTER RTREE MINHASHLSH"
)
"""Names that may be given as text."""

CHECKED = words("BTREE BITMAP NGRAM LABEL_LIST INVERTED")
"""Types that refuse a column before anything else is looked at."""

GRANULARITY = "document_granularity"
"""A parameter that is given by keyword, whatever the others are given by."""

WITH_KEYWORDS = ("INVERTED", "FTS")
"""Names whose parameters may be given by keyword; of others such parameters are ignored."""


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """A type of index over a column, and its parameters."""

    kind: Kind
    column: str
    parameters: Mapping[str, object]

    @property
    def named(self) -> str:
        """What the index is named after when nobody says."""
        elements = self.parameters.get(GRANULARITY) is DocumentGranularity.LIST_ELEMENT
        of_text = self.kind.details == INVERTED_DETAILS
        return f"{self.column}_list_element" if elements and of_text else self.column


def index_request(
    schema: LanceSchema,
    column: str | Sequence[str],
    index_type: str | IndexConfig,
    parameters: Mapping[str, object],
) -> IndexRequest:
    """Check a request. Raises KeyMissing, ColumnRefused, TypeError, NotImplementedError.

    Elements of lists without a list raise QueryRefused.
    """
    if not isinstance(column, str):
        if len(column) > 1:
            raise NotImplementedError("Scalar indices currently only support a single column")
        (column,) = column
    if isinstance(index_type, IndexConfig):
        granularity = {GRANULARITY: parameters[GRANULARITY]} if GRANULARITY in parameters else {}
        name, parameters = index_type.index_type.upper(), {**index_type.parameters, **granularity}
    elif isinstance(index_type, str):
        name = index_type.upper()
        parameters = parameters if name in WITH_KEYWORDS else {}
        if name not in BY_KEYWORD:
            raise NotImplementedError(f"Only {sorted(BY_KEYWORD)} are supported. Received {name}")
    else:
        raise TypeError("index_type must be str or IndexConfig")
    from lanceref.index.registry import BY_NAME  # who builds no index needs no type

    kind = BY_NAME.get(ALIASES.get(name, name))
    if kind is None:
        raise NotImplementedError(f"there is no index type {name}")
    try:
        path, _ = indexed_path(schema, column, lists=kind.below_lists)
    except NotFound as error:
        if kind.details == INVERTED_DETAILS:
            raise IndexRefused(f"FTS field path '{column}' does not exist") from error
        raise KeyMissing(f"{column} not found in schema") from error
    own = indexed_column(schema, path, lists=True)
    if kind.name in CHECKED and not kind.accepts(own.field):
        type_ = own.field.arrow.type
        raise ColumnRefused(f"{kind.name} cannot index column {column} of type {type_}")
    is_element = parameters.get(GRANULARITY) is DocumentGranularity.LIST_ELEMENT
    if kind.details == INVERTED_DETAILS and is_element and not own.levels:
        raise QueryRefused(NO_LIST.format(column))
    return IndexRequest(kind, path, parameters)


FLOATS = (np.float16, np.float32, np.float64)
"""Types of the numbers of centroids and codewords."""

LOGGER = logging.getLogger(__name__)

HINTS = {"shuffle_partition_batches": 10240, "shuffle_partition_concurrency": 2}
"""Arguments that the details keep and nothing here looks at, with their defaults."""

STORAGE_ARGUMENTS = ("num_sub_vectors", "num_bits", "pq_codebook", "rabitq_model", "skip_transpose")
"""Arguments for the storage; with them go `sample_rate` and `max_iters`."""

WIDEST = {"m": 64, "ef_construction": 64, "max_level": 16}
"""Bits of the numbers that graphs are built with."""


def vector_request(
    schema: LanceSchema,
    column: str | Sequence[str],
    index_type: str,
    metric: object,
    arguments: Mapping[str, object],
) -> IndexRequest:
    """Check a request. Raises KeyError, TypeError, ValueError, NotImplementedError."""
    columns = [column] if isinstance(column, str) else list(column)
    kinds = [vector_column(schema, one, arguments.get("num_sub_vectors")) for one in columns]
    if not isinstance(metric, str) or metric.lower() not in METRIC_NAMES:
        raise ValueError(f"Metric {metric} not supported.")
    name = index_type.upper()
    if name not in TYPES:
        raise NotImplementedError(f"Only {sorted(TYPES)} index types supported. Got {name}")
    if arguments.get("accelerator") is not None:
        LOGGER.warning("%s does not support GPU acceleration; falling back to CPU", name)
    type_, chosen = TYPES[name], METRIC_NAMES[metric.lower()]
    (kind, *others) = kinds
    if others:
        raise QueryRefused("Only one column can be indexed")
    centroids = _centroids(arguments, kind)
    count = _partitions(arguments, centroids)
    rate, rounds = _positive(arguments, "sample_rate", 256), _positive(arguments, "max_iters", 50)
    if "PQ" in type_.storage.name and arguments.get("num_sub_vectors") is None:
        raise ValueError("num_partitions and num_sub_vectors are required for IVF_PQ")
    if "PQ" in type_.storage.name and arguments.get("pq_codebook") is not None is centroids:
        raise ValueError("ivf_centroids must be specified when pq_codebook is provided")
    check_column(kind, chosen, type_)
    target, files = arguments.get("target_partition_size"), arguments.get("index_file_version")
    if not isinstance(files, str | None):
        raise TypeError(f"index_file_version must be str, got {type(files)}")
    if files is not None and files.lower() not in ("legacy", "v3"):
        raise ValueError(f"Invalid index file version: {files}")
    vectors = VectorParameters(
        type_,
        chosen,
        count,
        None if target is None else _positive(arguments, "target_partition_size", 1),
        rate,
        rounds,
        centroids,
        {**_storage(arguments, type_, kind), "sample_rate": rate, "max_iters": rounds},
        _graph(arguments) if type_.graphs else USUAL,
        _hints(type_, arguments, rate, rounds),
        single_file=type_.name == "IVF_PQ" and files is not None and files.lower() == "legacy",
    )
    return IndexRequest(Vector, indexed_path(schema, columns[0])[0], {"vector": vectors})


def _storage(
    arguments: Mapping[str, object], type_: VectorType, kind: ColumnType
) -> dict[str, object]:
    """Return the parameters of the storage. Raises ValueError for an odd codebook."""
    storage = {name: arguments[name] for name in STORAGE_ARGUMENTS if name in arguments}
    if "PQ" not in type_.storage.name:
        storage.pop("pq_codebook", None)  # who trained both may give both
    if type_.graphs:
        storage.pop("skip_transpose", None)  # codes beside a graph are always transposed
    given = storage.get("pq_codebook")
    if given is not None:
        storage["pq_codebook"] = _codebook(given, arguments, kind.dimension)
    return storage


def _codebook(given: object, arguments: Mapping[str, object], dimension: int) -> AnyVectors:
    """Return codewords (parts, words, numbers). Raises TypeError, ValueError."""
    parts = operator.index(arguments["num_sub_vectors"])  # type: ignore[arg-type]
    words = 2 ** operator.index(arguments.get("num_bits", 8))  # type: ignore[arg-type]
    if isinstance(given, pa.Array):
        numbers = vectors_of(given).values
        if numbers.size == words * dimension:  # as they lie: part by part, codeword by codeword
            numbers = numbers.reshape(parts, words, -1)
    elif isinstance(given, np.ndarray):
        numbers = given
    else:
        raise TypeError(f"PQ codebook must be an array, got {type(given)}")
    if numbers.dtype not in FLOATS:
        raise TypeError(f"PQ codebook must be floating number, got {numbers.dtype}")
    if numbers.shape[:-1] != (parts, words) or numbers.size != words * dimension:
        raise ValueError(f"PQ codebook must be 3D array ({parts}, {words}), got {numbers.shape}")
    return numbers


def vector_column(schema: LanceSchema, column: str, num_sub_vectors: object = None) -> ColumnType:
    """Return the type of a column of vectors. Raises KeyMissing, ColumnRefused, ValueError."""
    try:
        type_ = indexed_column(schema, column).field.arrow.type
    except NotFound as error:
        raise KeyMissing(f"{column} not found in schema") from error
    found = vector_type(type_)
    if found is None:
        raise ColumnRefused(f"Vector column {column} must be FixedSizeListArray, got {type_}")
    parts = 1 if num_sub_vectors is None else operator.index(num_sub_vectors)  # type: ignore[arg-type]
    if parts < 1 or found.dimension % parts:
        told = f"must be divisible by num_sub_vectors ({num_sub_vectors})"
        raise ValueError(f"dimension ({found.dimension}) {told}")
    if found.element not in ELEMENTS:
        raise ColumnRefused(f"Vector column {column} must have floating value type, got {type_}")
    return found


def _partitions(arguments: Mapping[str, object], centroids: AnyVectors | None) -> int | None:
    """Return the number of partitions asked for. Raises TypeError, ValueError."""
    given = arguments.get("num_partitions")
    if given is None:
        return None if centroids is None else len(centroids)
    given = whole_number(given)
    if unsigned(given) == 0:
        raise QueryRefused("num_partitions must be positive")
    if centroids is not None and len(centroids) != given:
        raise ValueError(f"Ivf centroids has {len(centroids)} clusters, but num_partitions={given}")
    return given


def whole_number(num_partitions: object) -> int:
    """Return a number of partitions, with a warning for a float. Raises TypeError."""
    if isinstance(num_partitions, float):
        warnings.warn("num_partitions is float, converting to int", stacklevel=3)
        return int(num_partitions)
    if not isinstance(num_partitions, int):
        raise TypeError(f"num_partitions must be int, got {type(num_partitions)}")
    return num_partitions


def _centroids(arguments: Mapping[str, object], kind: ColumnType) -> AnyVectors | None:
    """Return the centroids that are given. Raises TypeError, ValueError."""
    given = arguments.get("ivf_centroids")
    if isinstance(given, pa.Array):
        given = vectors_of(given).values
    if given is None:
        return None
    if not isinstance(given, np.ndarray) or given.dtype not in (*FLOATS, kind.dtype):
        raise TypeError(f"centroids must be an array of floating numbers, got {type(given)}")
    if given.ndim != 2 or not len(given) or given.shape[1] != kind.dimension:
        raise ValueError(f"centroids must be 2D array (n, {kind.dimension}), got {given.shape}")
    return given


def _graph(arguments: Mapping[str, object]) -> GraphParameters:
    """Return what graphs are built with. Raises TypeError, OverflowError, QueryRefused."""
    given = {name: operator.index(arguments[name]) for name in WIDEST if name in arguments}  # type: ignore[arg-type]
    for name, number in given.items():
        if not 0 <= number < 1 << WIDEST[name]:
            raise OverflowError(f"{name} is out of range: {number}")
    found = GraphParameters(**given)
    for name, number, least in (
        ("max_level", found.max_level, 1),
        ("m", found.m, FEWEST_EDGES),
        ("ef_construction", found.ef_construction, found.m),
    ):
        if number < least:
            raise QueryRefused(f"HnswBuildParams::{name} must be at least {least}, got {number}")
    return found


def _positive(arguments: Mapping[str, object], name: str, usual: int) -> int:
    given = arguments.get(name)
    number = usual if given is None else int(operator.index(given))  # type: ignore[arg-type]
    if number < 1:
        raise QueryRefused(f"{name} must be at least 1, got {number}")
    return number


def _hints(
    type_: VectorType, arguments: Mapping[str, object], rate: int, rounds: int
) -> dict[str, str]:
    """Return what the details keep of how the index was asked for."""
    skips, storage = f"{bool(arguments.get('skip_transpose'))}".lower(), type_.storage.name.lower()
    found = {"ivf.max_iters": rounds, "ivf.sample_rate": rate, "skip_transpose": skips}
    for name, usual in HINTS.items():
        given = arguments.get(name)
        found[f"ivf.{name}"] = usual if given is None else given
    if storage in ("pq", "sq"):
        found[f"{storage}.sample_rate"] = rate
    if storage == "pq":
        found |= {"pq.max_iters": rounds, "pq.kmeans_redos": 1}
    if type_.graphs:
        found["hnsw.prefetch_distance"] = 2
    return {f"lance.{name}": f"{value}" for name, value in found.items()}
