"""The constructors of cases: an input that is read, faults of it, steps of writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, cast

import pyarrow as pa

from lance_conformance.recipes import model
from lance_conformance.recipes.model import Maker, Negative, Plan, Positive, Request, Scenario
from lance_conformance.recipes.oracle_files import column, file

Clauses = str | tuple[str, ...]
"""One clause, or several."""


def case(
    id_: str,
    title: str,
    clauses: Clauses | Request,
    source: pa.Array | pa.Table | Maker | Request | None = None,
    **others: Any,
) -> Positive:
    """Return a case whose input must be read.

    An array or a table is written by the oracle as a file of the version in the id. A request may
    replace `clauses`, or adds its own. `others` override what follows from the source and the id.
    """
    if isinstance(clauses, Request):
        clauses, source = (), clauses
    area, version, _ = id_.split("/", 2)
    if isinstance(source, pa.Array):
        source = column(source)
    if isinstance(source, pa.Table):
        source = file(source, version)
    if not isinstance(source, Request):
        assert source is not None
        of_file = area == "file" and version != "0.1"
        source = Request(source, "read-file" if of_file else "read-dataset")
    query_fields = {one.name: getattr(source, one.name) for one in fields(Request)}
    query_fields["clauses"] = (*source.clauses, *_as_tuple(clauses))
    return Positive(id=id_, title=title, **{**query_fields, **others})


def cases(
    ids: str,
    title: str,
    clauses: Clauses,
    source: pa.Array | pa.Table | Maker | Request | None = None,
    *,
    of: Callable[[str], Maker] | None = None,
    **others: Any,
) -> tuple[Positive, ...]:
    """Return one case for each version in the id, as in `file/{2.1,2.2}/rle/int8`.

    All have the same source, or the one that `of` returns for the version.
    """
    return tuple(
        case(id_, title, clauses, source if of is None else of(id_.split("/")[1]), **others)
        for id_ in _expand_braces(ids)
    )


def fault(
    slug: str,
    title: str,
    clause: str,
    change: model.Change,
    *,
    kind: str = "",
    flags: Clauses = (),
    also: Clauses = (),
    stage: str = "any",
) -> Negative:
    """Return a fault to be refused, of the preceding case or of the parent in `faults`.

    It also breaks the clauses `also`; `flags` are the kinds of harm that it does to readers.
    """
    own, more = _as_tuple(flags), _as_tuple(also)
    return Negative(slug, title, clause, "", change, title, stage, kind, own, more)


def lint(slug: str, title: str, clause: str, change: model.Change, **others: Any) -> Negative:
    """Return a fault that readers ignore and `validate` reports."""
    return fault(slug, title, clause, change, kind="lint", **others)


def faults(parents: str, *rows: Negative) -> tuple[Negative, ...]:
    """Return faults of a parent, or of a parent for each version in its id."""
    return tuple(with_parent(row, parent) for parent in _expand_braces(parents) for row in rows)


def with_parent(row: Negative, parent: str) -> Negative:
    """Return a fault with its parent and its id.

    The id is the parent's folder, `neg-` or `lint-`, the parent's name and the slug, without the
    name for faults of a container or of a table.
    """
    folder, _, name = parent.rpartition("/")
    of_file = parent.startswith("file/") and not parent.startswith("file/0.1/")
    alone = parent.startswith("table/") or folder.endswith("/container")
    prefix = "lint" if row.kind == "lint" else "neg"
    return replace(
        row,
        id=f"{folder}/{prefix}-{row.id}" if alone else f"{folder}/{prefix}-{name}-{row.id}",
        parent=parent,
        kind=row.kind or ("negative-file" if of_file else "negative-dataset"),
    )


def with_parents(rows: Iterable[model.Recipe]) -> Iterator[model.Recipe]:
    """Yield the rows of a module; a fault without a parent belongs to the preceding case."""
    parent = ""
    for row in rows:
        if isinstance(row, Positive):
            parent = row.id
        of_above = isinstance(row, Negative) and not row.parent
        yield with_parent(cast(Negative, row), parent) if of_above else row


def act(id_: str, title: str, clauses: Clauses, make: Callable[[], Plan], **more: Any) -> Scenario:
    """Return a case whose steps write versions of a table."""
    kind = "write-roundtrip" if "/writing/" in id_ else "commit-race"
    positive = _as_tuple(clauses)
    return Scenario(id=id_, title=title, clauses=positive, make=make, kind=kind, **more)


def _as_tuple(clauses: Clauses) -> tuple[str, ...]:
    return (clauses,) if isinstance(clauses, str) else clauses


def _expand_braces(ids: str) -> Iterator[str]:
    """Yield the ids of a brace expansion: `a/{b,c}/d` is `a/b/d` and `a/c/d`."""
    before, _, rest = ids.partition("{")
    choices, _, after = rest.partition("}")
    return (f"{before}{choice}{after}" for choice in choices.split(","))
