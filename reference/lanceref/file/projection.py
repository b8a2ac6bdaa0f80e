"""Projection: the fields of a schema that names choose.

A name with dots names a field below others, any part of which may be quoted in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from lanceref.core.errors import NotFound
from lanceref.file.schema import Field, LanceSchema

QUOTED = re.compile(r"`((?:[^`]|``)+)`(?:\.(?=.)|$)")
"""A name in backticks, and the point that follows it."""


def project(schema: LanceSchema, names: Iterable[str]) -> tuple[Field, ...]:
    """Return the named fields in the order asked for; `a.b` keeps only `b` of struct `a`.

    A name with a point or other signs may be quoted in backticks.
    Raises NotFound for a name the schema does not have.
    """
    chosen: dict[str, list[str]] = {}
    top = {f.name: f for f in schema.fields}
    for name in names:
        first, rest = (name, "") if name in top else split_path(name)
        if first not in top:
            raise NotFound(
                f"Schema error: No field named {name}. Valid fields are {', '.join(top)}."
            )
        if not rest:
            chosen[first] = []
        elif first not in chosen or chosen[first]:
            chosen.setdefault(first, []).append(rest)
    return tuple(_prune(top[name], below) for name, below in chosen.items())


def split_path(path: str) -> tuple[str, str]:
    """Return the first name of a path and what follows its point.

    A name may be quoted in backticks, where one of its own is doubled; an unclosed quote is part of
    the name.
    """
    quoted = QUOTED.match(path)
    if quoted is None:
        first, _, rest = path.partition(".")
        return first, rest
    return quoted[1].replace("``", "`"), path[quoted.end() :]


def _prune(whole: Field, names: list[str]) -> Field:
    """Keep of a struct only the named children (all when no names are given)."""
    if not names:
        return whole
    if whole.logical_type != "struct":
        raise NotFound(f"{whole.name!r} is a {whole.logical_type} and has no field {names[0]!r}")
    kept = project(LanceSchema(whole.children), names)
    type_ = pa.struct([f.arrow for f in kept])
    packed = (whole.packed or whole) if whole.is_packed else None
    return replace(whole, children=kept, arrow=whole.arrow.with_type(type_), packed=packed)
