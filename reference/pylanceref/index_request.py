"""Index requests: what a caller wants to have indexed, checked as pylance checks it (face)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import pyarrow as pa
from lanceref import operations
from lanceref.core.errors import IndexRefused, NotFound, QueryRefused
from lanceref.file.schema import Field, LanceSchema
from lanceref.index.full_text.parameters import NO_LIST, DocumentGranularity, is_list
from lanceref.index.index_type import Kind
from lanceref.index.indices import indexed_path
from lanceref.index.training import has_order, leaf

from pylanceref.errors import ColumnMissing, ColumnRefused
from pylanceref.index_listing import IndexConfig

ALIASES = {"FTS": "INVERTED", "LABELLIST": "LABEL_LIST"}
"""Other names of types."""

BY_KEYWORD = (
    "BTREE",
    "BITMAP",
    "NGRAM",
    "ZONEMAP",
    "LABEL_LIST",
    "INVERTED",
    "FTS",
    "BLOOMFILTER",
    "RTREE",
    "MINHASHLSH",
)
"""Names that may be given as text."""

GRANULARITY = "document_granularity"
"""A parameter that is given by keyword, whatever says the others."""

VECTOR_DETAILS = "lance.index.pb.VectorIndexDetails"

INVERTED_DETAILS = "lance.table.InvertedIndexDetails"

WITH_KEYWORDS = ("INVERTED", "FTS")
"""Names whose parameters may be given by keyword; of others such parameters are passed over."""


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
    """Check a request. Raises ColumnMissing, ColumnRefused, TypeError, NotImplementedError."""
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
            raise NotImplementedError(
                'Only "BTREE", "BITMAP", "NGRAM", "ZONEMAP", "LABEL_LIST", "INVERTED", '
                '"BLOOMFILTER", "RTREE" or "MINHASHLSH" are supported for scalar columns.  '
                f"Received {name}"
            )
    else:
        raise TypeError("index_type must be str or IndexConfig")
    from lanceref.index.registry import BY_NAME  # who builds no index needs no type

    kind = BY_NAME.get(ALIASES.get(name, name))
    if kind is None:
        raise NotImplementedError(f"there is no index type {name}")
    try:
        path, _ = indexed_path(schema, column)
    except NotFound as error:
        if kind.details == INVERTED_DETAILS:
            raise IndexRefused(
                f"LanceError(Index): FTS field path '{column}' does not exist in the dataset schema"
            ) from error
        raise ColumnMissing(f"{column} not found in schema") from error
    field, _ = operations.index_build.indexed_field(schema, path)
    _check(name, column, field)
    if kind.details == INVERTED_DETAILS:
        _check_text(kind, column, field, parameters.get(GRANULARITY))
    return IndexRequest(kind, path, parameters)


def _check_text(kind: Kind, column: str, field: Field, granularity: object) -> None:
    """Raise ColumnRefused for a column without text, QueryRefused for elements where no list is."""
    type_ = leaf(field).arrow.type
    if not kind.accepts(field):
        raise ColumnRefused(
            f"INVERTED index column {column} must be string, large string or list of strings, "
            f"or json, but got {type_}"
        )
    if granularity is DocumentGranularity.LIST_ELEMENT and not is_list(type_):
        raise QueryRefused(NO_LIST.format(column))


def segment_uuid(text: str | None) -> UUID | None:
    """Return the uuid that a segment is to have. Raises ValueError."""
    try:
        return None if text is None else UUID(text)
    except ValueError as error:
        raise ValueError(f"Invalid UUID {text!r}: {error}") from error


def _check(name: str, column: str, field: Field) -> None:
    """Raise ColumnRefused for a column that an index type cannot have."""
    type_ = leaf(field).arrow.type
    if name in ("BTREE", "BITMAP") and not has_order(field):
        raise ColumnRefused(
            f"BTREE/BITMAP index column {column} must be int, float, bool, str, large_str, "
            "binary, large_binary, decimal, fixed-size-binary, or temporal"
        )
    if name == "LABEL_LIST" and not is_list(type_):
        raise ColumnRefused(f"LABEL_LIST index column {column} must be a list or large list")
    is_text = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    if name == "NGRAM" and not is_text:
        raise ColumnRefused(f"NGRAM index column {column} must be a string")
