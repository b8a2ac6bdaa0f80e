"""JSON: an index of another type over what one path finds in the documents of a json column.

It has no file of its own: those of the other type hold the values, and only they show the type of
the values. `json_get_int(column, 'name')` and its like use it where the path leads to that member
and the values are of the type that the function returns.

The first value that exists determines the type: whole numbers of 64 bits, floats, text or truth
values. All others must be of it; among floats a whole number counts as one. What does not exist,
and the null of JSON, is null.

Clauses: L.index.json.details, L.index.json.type, L.index.json.asked-type

Divergences: D.index.json-path-text, D.index.json-accessor-type
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from lanceref.core.context import Context, specified
from lanceref.core.errors import IndexRefused, OperationRefused, Place, QueryFailed
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import Field
from lanceref.index.index_type import Built, Found, IndexType, Kind, Parameters, Sources
from lanceref.index.predicate import Among, IsNull, Predicate, StartsWith, Within
from lanceref.index.row_set import SHIFT, Keys
from lanceref.index.scalar import bitmap, btree, zonemap
from lanceref.index.scalar.bitmap import Bitmap
from lanceref.index.scalar.bloomfilter import BloomFilter
from lanceref.index.scalar.btree import BTree
from lanceref.index.scalar.ngram import Ngram
from lanceref.index.scalar.zonemap import ZoneMap
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import IndexedColumn, Training
from lanceref.json import jsonb
from lanceref.json.json_path import Json, document, parse_path, select
from lanceref.proto import index_pb2

_DOCUMENTS = Place("documents of a json column", 0, 0)

_INT64 = range(-(2**63), 2**63)


def extract(training: Training, path: str, type_: pa.DataType | None = None) -> Training:
    """Return what a path finds in the rows of a json column, as values of `type_` if that is known.

    Raises OperationRefused, QueryFailed, FormatError.
    """
    runs = []
    for run in training.runs():
        runs.append(replace(run, values=values_at(run.values, path, type_)))
        type_ = type_ or known_type(runs[-1].values)
    own = type_ or pa.utf8()
    computed = [replace(run, values=run.values.cast(own)) for run in runs]
    (field,) = schema_of(pa.schema([pa.field("value", own)])).fields
    return replace(training, indexed=IndexedColumn(field, field), computed=computed)


@specified
def values_at(documents: pa.Array, path: str, type_: pa.DataType | None) -> pa.Array:
    """Return what a path finds in documents (large_binary) as values of `type_`.

    None: of the type of the first value, null when there is no value. Raises OperationRefused,
    QueryFailed, FormatError.
    """
    values = list(extract_values(documents, path))
    first = next((value for value in values if value is not None), None)
    own = type_ or (pa.null() if first is None else type_of(first, path))
    return pa.array([_as(value, own, path) for value in values], own)


def known_type(values: pa.Array) -> pa.DataType | None:
    """Return the type of values that a path found, None where it found none."""
    return None if pa.types.is_null(values.type) else values.type


def extract_values(documents: pa.Array, path: str) -> Iterator[Json]:
    """Yield what a path finds in each document; more than one value are an array."""
    # L.index.json.member
    steps = parse_path(path)
    for text in jsonb.texts(documents, Context(_DOCUMENTS.file), _DOCUMENTS).to_pylist():
        values = [] if text is None else select(document(text), steps)
        yield values if len(values) > 1 else values[0] if values else None


def type_of(value: Json, path: str) -> pa.DataType:
    """Return the type of a column with a value. Raises OperationRefused for no single value."""
    # L.index.json.type
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int | float):
        return pa.int64() if isinstance(value, int) and value in _INT64 else pa.float64()
    if isinstance(value, str):
        return pa.utf8()
    kind = "Array" if isinstance(value, list) else "Object"
    raise OperationRefused(f"JSON path {path!r} leads to an {kind}; only single values are indexed")


def _as(value: Json, type_: pa.DataType, path: str) -> Json:
    """Return a value as one of a type. Raises OperationRefused for one of another."""
    if value is None:
        return None
    own = type_of(value, path)
    if own != type_ and not (own == pa.int64() and type_ == pa.float64()):
        raise OperationRefused(f"JSON path {path!r} leads to values of {type_} and of {own}")
    return float(value) if isinstance(value, int) and type_ == pa.float64() else value


TARGETS: dict[str, Kind] = {one.name: one for one in (BTree, Bitmap, Ngram, ZoneMap, BloomFilter)}
"""Types that hold values of documents."""

_COLUMNS = {
    BTree.name: (btree.LOOKUP, "min"),
    Bitmap.name: (bitmap.LOOKUP, "keys"),
    ZoneMap.name: (zonemap.FILE, "min"),
}
"""File and column that have the type of the values."""


def is_json(field: Field) -> bool:
    """Return whether a field holds JSON documents, so that paths apply."""
    return field.logical_type == "json"


class JsonIndex(IndexType):
    """The type; those over a path, with a `target` for its values, are made of the details.

    Nothing is known of values of another type than an opened segment has.
    """

    name, shown, details = "JSON", "Json", "lance.index.pb.JsonIndexDetails"
    accepts = staticmethod(is_json)
    inherits = "one"
    target: ClassVar[Kind]
    json_path: ClassVar[str]

    def __init__(self, segment: Segment) -> None:
        super().__init__(segment)
        self.values = self.target.open(segment)
        self._type = value_type(segment, self.target)

    def search(self, predicate: Predicate) -> Found | None:
        """Return what the index of the values finds, None when it is asked for another type."""
        if not isinstance(predicate, IsNull) and _predicate_type(predicate) != self._type:
            return None  # L.index.json.asked-type
        return self.values.search(predicate)

    def covers_fragments(self, fragments: Keys) -> NDArray[np.bool_]:
        """Return for each fragment (n,), by its id, whether the index of the values knows it."""
        return self.values.covers_fragments(fragments)

    @classmethod
    def build(cls, training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
        """Build over what `path` finds as an index of `target_index_type`.

        Parameters of that are JSON text, `target_index_parameters`. Raises IndexRefused for what is
        missing, OperationRefused.
        """
        for key in ("path", "target_index_type"):
            if not isinstance(parameters.get(key), str):
                raise IndexRefused(f"missing field `{key}`")
        path, name = str(parameters["path"]), str(parameters["target_index_type"])
        target = TARGETS.get(name.upper())
        if target is None:
            raise OperationRefused(f"no index of type {name!r} holds values of documents")
        try:
            parse_path(path)
        except QueryFailed as error:
            raise OperationRefused(f"{error}") from error
        inner = json.loads(str(parameters.get("target_index_parameters") or "{}"))
        _check_keys(target, training)
        return _wrapped(path, target.build(extract(training, path), writer, inner))

    @classmethod
    def rewrite(cls, sources: Sources, training: Training, writer: SegmentWriter) -> Built:
        type_, path = value_type(sources[0][0], cls.target), cls.json_path
        firsts = [(np.array(one.covers, np.uint64) << SHIFT, moved) for one, moved in sources]
        keeps = any(moved(keys)[0].any() for keys, moved in firsts)
        if keeps and training.fragments and type_ is None:
            raise OperationRefused(f"a {cls.target.name} does not say the type of its JSON values")
        _check_keys(cls.target, training)
        return _wrapped(path, cls.target.rewrite(sources, extract(training, path, type_), writer))

    @classmethod
    def of_details(cls, details: bytes) -> Kind | None:
        return kind_at(details)

    @classmethod
    def check_entry(cls, segment: Segment) -> None:
        """Report details that do not name a type that holds single values."""
        details = segment.entry.index_details.value
        if kind_at(details) is None:
            found, wanted = f"{details[:40]!r}", f"a path, and one of {', '.join(TARGETS)}"
            segment.ctx.lint("L.index.json.details", segment.place, found, wanted)

    @classmethod
    def check(cls, segment: Segment) -> None:
        cls.target.check(segment)

    @classmethod
    def check_rows(cls, segment: Segment, training: Training) -> None:
        try:
            rows = extract(training, cls.json_path, value_type(segment, cls.target))
        except OperationRefused as error:  # the index says another type than the documents have
            clause, wanted = "L.index.segment.complete", "values of one type"
            segment.ctx.lint(clause, segment.place, f"{error}", wanted)
        else:
            cls.target.check_rows(segment, rows)


@lru_cache(64)
def kind_at(details: bytes) -> Kind | None:
    """Return the type of an entry with such details, None for one that is to be passed over."""
    try:
        message = index_pb2.JsonIndexDetails.FromString(details)
    except DecodeError:
        return None
    named = message.target_details.type_url.rpartition("/")[2].lower()
    for target in TARGETS.values():
        if target.details.lower() == named:  # L.index.json.details
            shared = ("version", "exact", "inexact", "address_version", "rewrite_on_move")
            own = {name: getattr(target, name) for name in shared}
            own |= {"target": target, "json_path": message.path}
            return type(JsonIndex.__name__, (JsonIndex,), own)
    return None


def _predicate_type(predicate: Predicate) -> pa.DataType:
    match predicate:
        case Among((first, *_)):
            return first.type
        case Within(low, high):
            return next(end.type for end in (low, high) if end is not None)
        case StartsWith(prefix):
            return prefix.type
    return pa.utf8()


def value_type(segment: Segment, target: Kind) -> pa.DataType | None:
    """Return the type of the values of a segment, None when its files do not show it."""
    if target.name not in _COLUMNS:
        return pa.utf8() if target is Ngram else None
    file, column = _COLUMNS[target.name]
    return segment.file(file).column_type(column)


def _check_keys(target: Kind, training: Training) -> None:
    """Refuse a B-tree over documents of rows with stable ids. Raises OperationRefused."""
    if target is BTree and training.stable_row_ids:
        raise OperationRefused("BTREE holds no values of documents of rows with stable ids")


def _wrapped(path: str, built: Built) -> Built:
    details = index_pb2.JsonIndexDetails(path=path)
    details.target_details.type_url = f"/{built.details.DESCRIPTOR.full_name}"
    details.target_details.value = built.details.SerializeToString(deterministic=True)
    return Built(details, built.version)
