"""Vector queries: what is asked of a column of vectors, checked as pylance checks it."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import QueryRefused
from lanceref.file.schema import LanceSchema
from lanceref.index.indices import paths_of
from lanceref.index.vector.vectors import ELEMENTS, VectorType, vector_type
from lanceref.kernels.distance import METRICS, AnyVectors, Metric

DEFAULT_K = 10
"""Rows that are looked for when neither their number nor a limit is given."""

METRIC_NAMES: dict[str, Metric] = {**{name: name for name in METRICS}, "euclidean": "l2"}
"""Metrics by the names that users give them, in lower case."""

ApproxMode = Literal["fast", "normal", "accurate"]


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """The `k` rows with the nearest vectors; `vectors` [q, d] are of the column's type.

    In a `batch` each vector has its own rows; else all of them are one query, and there are several
    only where rows have several. `metric` None is that of the index, `nprobes` are the least and
    the most partitions of an index that are looked at, `range` the least distance, and the one that
    none reaches. `missing` counts the numbers of a query that are none: among several vectors they
    are 0.
    """

    column: str
    field_id: int
    type: VectorType
    vectors: AnyVectors
    k: int
    batch: bool = False
    metric: Metric | None = None
    nprobes: tuple[int | None, int | None] = (None, None)
    refine_factor: int | None = None
    use_index: bool = True
    ef: int | None = None
    approx_mode: ApproxMode = "normal"
    range: tuple[float | None, float | None] = (None, None)
    search_effort: float | None = None
    missing: int = 0

    @property
    def parts(self) -> int:
        """How many queries have rows of their own."""
        return len(self.vectors) if self.batch else 1

    @property
    def default_metric(self) -> Metric:
        """The metric of a query that names none and has no index."""
        return "hamming" if self.type.element == pa.uint8() else "l2"


def vector_query(given: object, schema: LanceSchema, limit: int | None) -> VectorQuery:
    """Check a query as pylance's `nearest`. Raises TypeError, ValueError, QueryRefused."""
    if not isinstance(given, Mapping):
        raise TypeError(f"nearest must be a mapping, not {type(given).__name__}")
    known = {"column", "q", "k", "metric", "use_index", "ef", "query_parallelism", "approx_mode"}
    known |= {"nprobes", "minimum_nprobes", "maximum_nprobes", "refine_factor", "distance_range"}
    unknown = given.keys() - known - {"search_effort"}
    if unknown or not {"column", "q"} <= given.keys():
        raise TypeError(f"nearest() takes 'column' and 'q', not {sorted(map(str, unknown))}")
    vectors, several = _numbers(given["q"])
    column = str(given["column"])
    field_id, type_ = _column(schema, column)
    if vectors.shape[1] != type_.dimension:
        raise ValueError(
            f"Query vector size {vectors.shape[1]} does not match index column size "
            f"{type_.dimension}"
        )
    least, most = _probes(given)
    nothing = np.isnan(vectors.astype(np.float64))
    if several:
        vectors = np.where(nothing, 0, vectors)
    query = VectorQuery(
        column,
        field_id,
        type_,
        _cast(vectors, type_),
        _count(given, limit),
        several and not type_.multivector,
        _metric(given.get("metric")),
        (least, most),
        _integer(given, "refine_factor", 1, "Refine factor must be 1 or more got {}"),
        given.get("use_index") is not False,
        _integer(given, "ef", 1, "ef must be > 0 but got {}"),
        _mode(given),
        _range(given.get("distance_range")),
        _effort(given.get("search_effort")),
        0 if isinstance(given["q"], pa.Array) else int(nothing.sum()),
    )
    _check(query, schema)
    return query


def _check(query: VectorQuery, schema: LanceSchema) -> None:
    metric, element = query.metric or query.default_metric, query.type.element
    if element not in ELEMENTS:
        raise QueryRefused(f"Column {query.column} has element type {element}")
    if (metric == "hamming") != (element == pa.uint8()):
        named = f"{'UInt' if element == pa.uint8() else 'Float'}{element.bit_width}"
        raise QueryRefused(f"Distance type {metric} does not support {named} vectors")
    if query.batch and any(field.name == "query_index" for field in schema.fields):
        raise QueryRefused(
            "batch nearest neighbor search cannot be used on datasets with column 'query_index'"
        )


def _column(schema: LanceSchema, column: str) -> tuple[int, VectorType]:
    """Return the id and the type of a column. Raises ValueError, TypeError."""
    paths = {path: field_id for field_id, path in paths_of(schema).items()}
    if column not in paths:
        raise ValueError(f"Embedding column {column} is not in the dataset")
    (fields, parts) = (schema.fields, column)
    while True:
        field = next(one for one in fields if parts == one.name or parts.startswith(f"{one.name}."))
        if parts == field.name:
            break
        fields, parts = field.children, parts.removeprefix(f"{field.name}.")
    found = vector_type(field.arrow.type)
    if found is None:
        raise TypeError(f"Query column {column} must be a vector. Got {field.arrow.type}.")
    return paths[column], found


def query_array(given: object) -> tuple[pa.Array, int]:
    """Return a query as an array of floats, or of lists of them, and its dimension.

    Raises TypeError, ValueError.
    """
    vectors, several = _numbers(given)
    rows = pa.array(vectors.tolist(), pa.list_(pa.float32())) if several else pa.array(vectors[0])
    return rows, vectors.shape[1]


def _numbers(given: object) -> tuple[NDArray[np.generic], bool]:
    """Return vectors [q, d], and whether they were given as several. Raises TypeError, ValueError.

    What is null is no number.
    """
    if isinstance(given, list | tuple | np.ndarray | pa.Array) and len(given):
        first = given[0]
        if isinstance(first, list | tuple | np.ndarray | pa.Array):
            sizes = {len(one): one for one in given}
            if len(sizes) > 1:
                raise ValueError(
                    f"All query vectors must have the same length, but got {len(first)} and "
                    f"{next(size for size in sizes if size != len(first))}"
                )
            rows = [_numbers(one)[0][0].astype(np.float32) for one in given]
            return np.stack(rows), True
    return _vector(given)[None], False


def _vector(given: object) -> NDArray[np.generic]:
    if isinstance(given, pa.ExtensionScalar):
        given = given.value
    if isinstance(given, pa.FixedSizeListScalar):
        given = given.values
    if isinstance(given, list | tuple | np.ndarray):
        return np.array(given).astype(np.float64).astype(np.float32)
    array: pa.Array = given
    if not isinstance(given, pa.Array):
        try:
            array = pa.array(given)
        except (pa.ArrowException, TypeError) as error:
            raise TypeError(
                f"Query vectors should be an array of floats, got {type(given)}"
            ) from error
    if pa.types.is_integer(array.type):
        array = array.cast(pa.float32())
    if not pa.types.is_floating(array.type):
        raise TypeError(f"query vector must be list-like or an array of floats, not {array.type}")
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _cast(vectors: NDArray[np.generic], type_: VectorType) -> AnyVectors:
    """Return vectors in the type of the column: what is no byte is 0 where bytes are wanted."""
    if type_.element not in ELEMENTS:
        return np.zeros((len(vectors), type_.dimension), np.float32)
    with np.errstate(all="ignore"):
        if type_.element == pa.uint8():
            whole = np.trunc(vectors.astype(np.float64))
            return np.where((whole >= 0) & (whole <= 255), whole, 0).astype(np.uint8)
        return np.asarray(vectors.astype(type_.dtype))


def _count(given: Mapping[str, object], limit: int | None) -> int:
    count = _integer(given, "k", 1, "Nearest-K must be > 0 but got {}")
    if count is None:
        count = DEFAULT_K if limit is None else limit
    if count <= 0:
        raise QueryRefused("k must be positive")
    return count


def _probes(given: Mapping[str, object]) -> tuple[int | None, int | None]:
    """Return the least and the most partitions to be looked at."""
    if given.get("search_effort") is None:
        one = _integer(given, "nprobes", 1, "Nprobes must be > 0 but got {}")
    else:
        one = None
    least = _integer(given, "minimum_nprobes", 0, "Minimum nprobes must be >= 0 but got {}")
    most = _integer(given, "maximum_nprobes", 0, "Maximum nprobes must be >= 0 but got {}")
    if least is not None and most is not None and least > most:
        raise ValueError("minimum_nprobes must be <= maximum_nprobes")
    least, most = (one if least is None else least), (one if most is None else most)
    if least == 0:
        raise QueryRefused("minimum_nprobes must be >= 1")
    if most is not None and most < (least or 1):
        raise QueryRefused("minimum_nprobes must be <= maximum_nprobes")
    return least, most


def _integer(given: Mapping[str, object], name: str, least: int, message: str) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    number = operator.index(value)  # type: ignore[arg-type]
    if number < least:
        raise ValueError(message.format(value))
    return int(number)


def _metric(given: object) -> Metric | None:
    if given is None:
        return None
    if str(given).lower() not in METRIC_NAMES:
        raise ValueError(f"Metric type {given!r} is not supported")
    return METRIC_NAMES[str(given).lower()]


def _mode(given: Mapping[str, object]) -> ApproxMode:
    parallel = given.get("query_parallelism")
    if parallel is not None and operator.index(parallel) < -1:  # type: ignore[arg-type]
        raise ValueError("query_parallelism must be >= -1")
    mode = given.get("approx_mode", "normal")
    if mode == "fast":
        return "fast"
    if mode == "accurate":
        return "accurate"
    if mode != "normal":
        raise ValueError(
            f"approx_mode must be one of 'fast', 'normal', or 'accurate', got {mode!r}"
        )
    return "normal"


def _range(given: object) -> tuple[float | None, float | None]:
    if given is None:
        return None, None
    if not isinstance(given, Sequence) or len(given) != 2:
        raise ValueError("distance_range must be a tuple of (lower_bound, upper_bound)")
    for one in given:
        if not isinstance(one, int | float | np.number | None):
            raise TypeError(f"must be real number, not {type(one).__name__}")
    low, high = (None if one is None else float(np.float32(one)) for one in given)
    return low, high


def _effort(given: object) -> float | None:
    if given is None:
        return None
    if not isinstance(given, int | float | np.number):
        raise TypeError(f"must be real number, not {type(given).__name__}")
    if not (math.isfinite(given) and 0 <= given <= 1):
        raise QueryRefused(f"search_effort must be finite and in [0, 1], got {given}")
    return float(given)
