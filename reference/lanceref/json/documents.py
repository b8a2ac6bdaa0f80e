"""Documents of json columns as Python values, and the text of such values."""

from __future__ import annotations

import json
from typing import cast

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import Place, QueryFailed
from lanceref.json import jsonb
from lanceref.json.json_path import Json

_NOWHERE = Place("a document of a query", 0, 0)


def document(value: object) -> Json:
    """Return the document of a text or of its binary form. Raises QueryFailed, FormatError."""
    if isinstance(value, bytes):
        (value,) = jsonb.texts(
            pa.array([value], pa.large_binary()), Context(_NOWHERE.file), _NOWHERE
        ).to_pylist()
    try:
        return cast("Json", json.loads(str(value)))
    except (ValueError, RecursionError) as error:
        raise QueryFailed(f"Execution error: no JSON: {error}") from error


def text_of(value: Json) -> str:
    """Print a value: compact, numbers as a json column shows them."""
    if isinstance(value, float):
        return jsonb.double_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(text_of, value))}]"
    if isinstance(value, dict):
        members = (f"{json.dumps(k, ensure_ascii=False)}:{text_of(v)}" for k, v in value.items())
        return f"{{{','.join(members)}}}"
    return json.dumps(value, ensure_ascii=False)
