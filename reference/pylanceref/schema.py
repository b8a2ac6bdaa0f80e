"""Schema: the fields of a table with their ids, and schemas as JSON (face of `lance.schema`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict, cast

import pyarrow as pa
from lanceref.core.errors import BadSchema, Place, SchemaRefused
from lanceref.file import schema as core
from lanceref.file.arrow_schema import logical_type, schema_of
from lanceref.file.schema import arrow_type
from lanceref.file.schema_view import names_in

_NOWHERE = Place("JSON", 0, 0)


@dataclass(frozen=True, slots=True)
class LanceField:
    """One field of a schema, and what lies below it."""

    _field: core.Field

    def name(self) -> str:
        """Return the name, without those of the fields above."""
        return self._field.name

    def id(self) -> int:
        """Return the id of the field, unique in the table."""
        return self._field.id

    def children(self) -> list[LanceField]:
        """Return the fields right below this one."""
        return [LanceField(child) for child in self._field.children]

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the field, text by text."""
        return dict(self._field.metadata)

    def to_arrow(self) -> pa.Field:
        """Return the field as an Arrow field, its children included."""
        return self._field.arrow


@dataclass(frozen=True, slots=True, repr=False)
class LanceSchema:
    """The fields of a table and the metadata of its schema."""

    _schema: core.LanceSchema

    @staticmethod
    def from_pyarrow(schema: pa.Schema) -> LanceSchema:
        """Return the schema with ids from 0 on, depth first. Raises SchemaRefused."""
        return LanceSchema(schema_of(schema))

    def to_pyarrow(self) -> pa.Schema:
        """Return the schema as an Arrow schema, with its metadata."""
        return self._schema.arrow

    def fields(self) -> list[LanceField]:
        """Return the top-level fields of the schema, in their order."""
        return [LanceField(field) for field in self._schema.fields]

    def field(self, name: str) -> LanceField | None:
        """Return a field by its path of names with dots, None when there is none."""
        fields, found = self.fields(), None
        for part in names_in(name):
            found = next((one for one in fields if one.name() == part), None)
            fields = [] if found is None else found.children()
        return found

    def __repr__(self) -> str:
        return f"Schema {{ {self._schema} }}"


class JsonField(TypedDict, total=False):
    """A field of a schema as its JSON form holds it."""

    name: str
    type: Mapping[str, object]
    nullable: bool
    metadata: dict[str, str]


def schema_to_json(schema: pa.Schema) -> dict[str, object]:
    """Return what `json.dumps` takes. Raises SchemaRefused for a type that has no such form."""
    held: dict[str, object] = {"fields": [_field_json(field) for field in schema]}
    if schema.metadata:
        held["metadata"] = _texts(schema.metadata)
    return held


def _field_json(field: pa.Field) -> JsonField:
    made = JsonField(name=field.name, type=_type_json(field.type), nullable=field.nullable)
    if field.metadata:
        made["metadata"] = _texts(field.metadata)
    return made


def _texts(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in metadata.items()}


def _type_json(type_: pa.DataType) -> dict[str, object]:
    types = pa.types
    if types.is_fixed_size_binary(type_):
        return {"type": "fixed_size_binary", "length": type_.byte_width}
    if types.is_fixed_size_list(type_):
        fields = [_field_json(type_.value_field)]
        return {"type": "fixed_size_list", "fields": fields, "length": type_.list_size}
    if types.is_list(type_) or types.is_large_list(type_):
        name = "list" if types.is_list(type_) else "large_list"
        return {"type": name, "fields": [_field_json(type_.value_field)]}
    if types.is_struct(type_):
        return {"type": "struct", "fields": [_field_json(field) for field in type_]}
    try:
        name = logical_type(type_)
    except TypeError as error:
        raise SchemaRefused(f"Failed to convert schema to json: {error}") from error
    if name in ("map", "json"):
        raise SchemaRefused(f"Failed to convert schema to json: unsupported type {type_}")
    return {"type": name}


def json_to_schema(schema_json: Mapping[str, object]) -> pa.Schema:
    """Return the schema of what `schema_to_json` gave. Raises SchemaRefused."""
    try:
        fields = [_field_of(one) for one in cast("list[JsonField]", schema_json["fields"])]
    except (KeyError, BadSchema) as error:
        raise SchemaRefused(f"Failed to convert json to schema: {error!r}") from error
    return pa.schema(fields, cast("dict[str, str] | None", schema_json.get("metadata")))


def _field_of(held: JsonField) -> pa.Field:
    return pa.field(held["name"], _type_of(held["type"]), held["nullable"], held.get("metadata"))


def _type_of(held: Mapping[str, object]) -> pa.DataType:
    name = str(held["type"])
    fields = [_field_of(one) for one in cast("list[JsonField]", held.get("fields") or [])]
    if name == "fixed_size_list":
        if len(fields) != 1:
            raise SchemaRefused(f"a fixed size list has one field, not {len(fields)}")
        return pa.list_(fields[0], cast("int", held["length"]))
    if name == "fixed_size_binary":
        return pa.binary(cast("int", held["length"]))
    return arrow_type(name, fields, _NOWHERE)
