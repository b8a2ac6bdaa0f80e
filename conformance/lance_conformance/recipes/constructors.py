"""The three constructors of cases: an input that is read, a fault of a parent, steps of writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pyarrow as pa

from lance_conformance.recipes.model import (
    Acting,
    Asked,
    Change,
    Maker,
    Negative,
    Plan,
    Positive,
)
from lance_conformance.recipes.oracle_made import column, file

Clauses = str | tuple[str, ...]
"""One clause, or several."""


def case(
    id_: str,
    title: str,
    clauses: Clauses,
    source: pa.Array | pa.Table | Maker | Asked,
    **others: Any,
) -> Positive:
    """Return a case whose input must be read.

    An array or a table is written by the oracle as a file of the version in the id; `others` are
    fields of the case that differ from what the source and the id say.
    """
    area, version, _ = id_.split("/", 2)
    if isinstance(source, pa.Array):
        source = column(source)
    if isinstance(source, pa.Table):
        source = file(source, version)
    if not isinstance(source, Asked):
        of_file = area == "file" and version != "0.1"
        source = Asked(source, "read-file" if of_file else "read-dataset")
    asked = {one.name: getattr(source, one.name) for one in fields(Asked)}
    return Positive(id=id_, title=title, clauses=_several(clauses), **{**asked, **others})


def fault(
    parent: str,
    slug: str,
    title: str,
    clause: str,
    change: Change,
    *,
    kind: str = "",
    **others: Any,
) -> Negative:
    """Return a parent with one fault, to be refused or, of kind `lint`, to be reported.

    It lies in the parent's folder under `neg-` or `lint-`, the parent's name and the slug; without
    that name where the fault is one of a container or of a table.
    """
    folder, _, name = parent.rpartition("/")
    of_file = parent.startswith("file/") and not parent.startswith("file/0.1/")
    alone = parent.startswith("table/") or folder.endswith("/container")
    prefix = "lint" if kind == "lint" else "neg"
    return Negative(
        id=f"{folder}/{prefix}-{slug}" if alone else f"{folder}/{prefix}-{name}-{slug}",
        title=title,
        clause=clause,
        parent=parent,
        change=change,
        meaning=title,
        kind=kind or ("negative-file" if of_file else "negative-dataset"),
        **others,
    )


def act(id_: str, title: str, clauses: Clauses, make: Callable[[], Plan], **others: Any) -> Acting:
    """Return a case whose steps make versions of a table."""
    kind = "write-roundtrip" if "/writing/" in id_ else "commit-race"
    kept = _several(clauses)
    return Acting(id=id_, title=title, clauses=kept, make=make, kind=kind, **others)


def _several(clauses: Clauses) -> tuple[str, ...]:
    return (clauses,) if isinstance(clauses, str) else clauses
