"""Metadata of vector index files: JSON texts within the metadata of a schema.

Clauses: L.index.vector.metadata
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from lanceref.core.errors import FormatError, Place

Json = dict[str, object] | list[object] | str | int | float | bool | None


def parse_json(text: str, place: Place, name: str) -> Json:
    """Parse a text of the metadata. Raises FormatError."""
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            "L.index.vector.metadata", place, found=f"{name} = {text[:80]!r}", wanted="JSON"
        ) from error
    return found


def parse_object(text: str, place: Place, name: str) -> dict[str, object]:
    """Parse a text that holds an object. Raises FormatError."""
    found = parse_json(text, place, name)
    if not isinstance(found, dict):
        raise FormatError(
            "L.index.vector.metadata", place, found=f"{name} = {text[:80]!r}", wanted="an object"
        )
    return found


def parse_texts(text: str, place: Place, name: str) -> list[str]:
    """Parse a text that holds a list of texts. Raises FormatError."""
    found = parse_json(text, place, name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FormatError(
            "L.index.vector.metadata",
            place,
            found=f"{name} = {text[:80]!r}",
            wanted="a list of texts",
        )
    return [str(one) for one in found]


def compact(found: Mapping[str, object] | list[str]) -> str:
    """Return JSON without blanks."""
    return json.dumps(found, separators=(",", ":"))
