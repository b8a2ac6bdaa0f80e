"""JSON Schemas of messages, case manifests and reports."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

FOLDER = Path(__file__).parent


@cache
def load(name: str) -> dict[str, Any]:
    """Return the schema `name`: `case`, `protocol` or `report`."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    return schema


def files() -> list[Path]:
    """Return the files of all schemas."""
    return sorted(FOLDER.glob("*.schema.json"))


@cache
def _validator(name: str, definition: str) -> jsonschema.Draft202012Validator:
    schema = load(name)
    if definition:
        schema = {"$defs": schema["$defs"], **schema["$defs"][definition]}
    return jsonschema.Draft202012Validator(schema)


def problems(name: str, value: object, definition: str = "") -> list[str]:
    """Return the violations of a schema, or of one of its definitions, by `value`."""
    return [
        f"{error.json_path}: {error.message[:200]}"
        for error in _validator(name, definition).iter_errors(value)
    ]


def definitions(name: str) -> frozenset[str]:
    """Return the names of the definitions of a schema."""
    return frozenset(load(name)["$defs"])
