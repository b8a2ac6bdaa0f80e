"""Argument `nearest` of a scan: what pylance takes, checked, as a `VectorQuery` (face)."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import cast, get_args

import numpy as np
import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_view import joined_path, names_in
from lanceref.index.indices import paths_of
from lanceref.index.vector.searching import USUAL_EFFORT, SearchParameters
from lanceref.index.vector.storage import Mode
from lanceref.index.vector.vectors import ELEMENTS, VectorType, vector_type
from lanceref.kernels.distance import METRICS, AnyVectors, Metric
from lanceref.search.vector_search import VectorQuery
from numpy.typing import NDArray

DEFAULT_K = 10
"""Rows of a result when neither their number nor a limit is given."""

METRIC_NAMES: dict[str, Metric] = {**{name: name for name in METRICS}, "euclidean": "l2"}
"""Metrics by the names that users give them, in lower case."""

MODES: tuple[Mode, ...] = get_args(Mode)
MORE_OF_SEVERAL = 10
"""So many times as many rows are wanted of an index where rows have several vectors."""

INTEGERS = {
    "k": (1, "Nearest-K must be > 0 but got {}"),
    "nprobes": (1, "Nprobes must be > 0 but got {}"),
    "minimum_nprobes": (0, "Minimum nprobes must be >= 0 but got {}"),
    "maximum_nprobes": (0, "Maximum nprobes must be >= 0 but got {}"),
    "refine_factor": (1, "Refine factor must be 1 or more got {}"),
    "ef": (1, "ef must be > 0 but got {}"),
    "query_parallelism": (-1, "query_parallelism must be >= -1 but got {}"),
}
"""Parameters that are integers: the least value, and the error for one below."""

PARAMETERS = INTEGERS.keys() | {
    *("column", "q", "metric", "use_index", "approx_mode", "distance_range", "search_effort")
}


def vector_query(given: object, schema: LanceSchema, limit: int | None) -> VectorQuery:
    """Check a query as pylance's `nearest`. Raises TypeError, ValueError, QueryRefused."""
    if not isinstance(given, Mapping):
        raise TypeError(f"nearest must be a mapping, not {type(given).__name__}")
    unknown = given.keys() - PARAMETERS
    if unknown or not {"column", "q"} <= given.keys():
        raise TypeError(f"nearest() takes 'column' and 'q', not {sorted(map(str, unknown))}")
    vectors, several = _numbers(given["q"])
    column, dimension = str(given["column"]), vectors.shape[1]
    field_id, type_ = _column(schema, column)
    if dimension != type_.dimension:
        raise ValueError(
            f"Query vector size {dimension} does not match index column size {type_.dimension}"
        )
    missing, integers = np.isnan(vectors.astype(np.float64)), _integers(given)
    if several:
        vectors = np.where(missing, 0, vectors)
    with np.errstate(all="ignore"):
        if type_.element == pa.uint8():  # what is no byte is 0
            whole = np.trunc(vectors.astype(np.float64))
            vectors = np.where((whole >= 0) & (whole <= 255), whole, 0)
        numbers: AnyVectors = np.asarray(vectors.astype(type_.dtype))
    k = integers.get("k", DEFAULT_K if limit is None else limit)
    if k <= 0:
        raise QueryRefused("k must be positive")
    metric = given.get("metric")
    if metric is not None and str(metric).lower() not in METRIC_NAMES:
        raise ValueError(f"Metric type {metric!r} is not supported")
    query = VectorQuery(
        column,
        field_id,
        type_,
        numbers,
        k,
        several and not type_.multivector,
        None if metric is None else METRIC_NAMES[str(metric).lower()],
        integers.get("refine_factor"),
        given.get("use_index") is not False,
        _search(given, integers, k, multivector=type_.multivector),
        0 if isinstance(given["q"], pa.Array) else int(missing.sum()),
    )
    chosen, element = query.metric or query.default_metric, type_.element
    if (chosen == "hamming") != (element == pa.uint8()):
        named = f"{'UInt' if element == pa.uint8() else 'Float'}{element.bit_width}"
        raise QueryRefused(f"Distance type {chosen} does not support {named} vectors")
    if query.batch and any(field.name == "query_index" for field in schema.fields):
        raise QueryRefused(
            "batch nearest neighbor search cannot be used on datasets with column 'query_index'"
        )
    return query


def _column(schema: LanceSchema, column: str) -> tuple[int, VectorType]:
    """Return the id and the type of a column. Raises ValueError, TypeError, QueryRefused."""
    ids = {path: field_id for field_id, path in paths_of(schema).items()}
    field_id = ids.get(joined_path(names_in(column)))
    if field_id is None:
        raise ValueError(f"Embedding column {column} is not in the dataset")
    field = next(field for field in schema.flat() if field.id == field_id)
    type_ = vector_type(field.arrow.type)
    if type_ is None:
        raise TypeError(f"Query column {column} must be a vector. Got {field.arrow.type}.")
    if type_.element not in ELEMENTS:
        raise QueryRefused(f"Column {column} has element type {type_.element}")
    return field.id, type_


def _numbers(given: object) -> tuple[NDArray[np.generic], bool]:
    """Return vectors [q, d], and whether they were given as several. Raises TypeError, ValueError.

    Nulls are NaN.
    """
    several = list | tuple | np.ndarray | pa.Array
    if isinstance(given, several) and len(given) and isinstance(given[0], several):
        sizes = sorted({len(one) for one in given})
        if len(sizes) > 1:
            raise ValueError(
                f"All query vectors must have the same length, but got {sizes[0]} and {sizes[1]}"
            )
        return np.stack([_vector(one).astype(np.float32) for one in given]), True
    return _vector(given)[None], False


def _vector(given: object) -> NDArray[np.generic]:
    if isinstance(given, pa.ExtensionScalar):
        given = given.value
    if isinstance(given, pa.FixedSizeListScalar):
        given = given.values
    if isinstance(given, list | tuple | np.ndarray):
        return np.array(given).astype(np.float64).astype(np.float32)
    try:
        array: pa.Array = given if isinstance(given, pa.Array) else pa.array(given)
    except (pa.ArrowException, TypeError) as error:
        raise TypeError(f"Query vectors should be an array of floats, got {type(given)}") from error
    if pa.types.is_integer(array.type):
        array = array.cast(pa.float32())
    if not pa.types.is_floating(array.type):
        raise TypeError(f"query vector must be list-like or an array of floats, not {array.type}")
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _integers(given: Mapping[str, object]) -> dict[str, int]:
    """Return the parameters that are integers. Raises TypeError, ValueError."""
    numbers, has_effort = {}, given.get("search_effort") is not None
    for name, (least, message) in INTEGERS.items():
        value = given.get(name)
        if value is None or (name == "nprobes" and has_effort):  # an effort stands for it
            continue
        numbers[name] = operator.index(value)  # type: ignore[arg-type]
        if numbers[name] < least:
            raise ValueError(message.format(value))
    return numbers


def _search(
    given: Mapping[str, object], integers: Mapping[str, int], k: int, *, multivector: bool
) -> SearchParameters:
    """Return what an index is asked for."""
    mode = [one for one in MODES if one == given.get("approx_mode", "normal")]
    if not mode:
        raise ValueError(f"approx_mode must be one of {MODES}, got {given['approx_mode']!r}")
    both = integers.get("nprobes")
    least, most = integers.get("minimum_nprobes", both), integers.get("maximum_nprobes", both)
    if least == 0:
        raise QueryRefused("minimum_nprobes must be >= 1")
    if most is not None and most < (least or 1):
        raise QueryRefused("minimum_nprobes must be <= maximum_nprobes")
    effort = cast(float | None, given.get("search_effort"))
    effort = USUAL_EFFORT if effort is None else effort
    if not math.isfinite(effort) or not 0 <= effort <= 1:
        raise QueryRefused("search_effort must be finite and in [0, 1]")
    return SearchParameters(
        k * (MORE_OF_SEVERAL if multivector else integers.get("refine_factor", 1)),
        least,
        most,
        integers.get("ef"),
        mode[0],
        _range(given.get("distance_range")),
        k,
        multivector,
        effort,
    )


def _range(given: object) -> tuple[float | None, float | None]:
    given = (None, None) if given is None else given
    if not isinstance(given, Sequence) or len(given) != 2:
        raise ValueError("distance_range must be a tuple of (lower_bound, upper_bound)")
    for one in given:
        if not isinstance(one, int | float | np.number | None):
            raise TypeError(f"must be real number, not {type(one).__name__}")
    low, high = (None if one is None else float(np.float32(one)) for one in given)
    return low, high
