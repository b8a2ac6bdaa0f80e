"""Sight: all that a reader sees of a table, as plain values, whoever the reader is."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TypedDict

import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance import oracle
from lance_conformance.campaigns.faults.deeds import apart


class Sight(TypedDict):
    """Rows are texts, in their order; of a branch those of its latest version."""

    rows: list[str]
    ids: list[int]
    fields: list[str]
    config: dict[str, str]
    tags: dict[str, int]
    branches: dict[str, list[str]]
    history: dict[str, list[str]]


Seen = Sight | str | None
"""A table, an error as a text, or no table."""


def own_sight(path: str) -> Seen:
    """Return what the reference sees."""
    return _seen(pylanceref, path)


def oracle_sight(path: str) -> Seen:
    """Return what the oracle sees, in a process of its own: this one has to be forked."""
    found = apart(_oracle_sight, path, dict(os.environ))
    return "; ".join(found) if isinstance(found, list) else found


def _oracle_sight(path: str, environment: dict[str, str]) -> Seen:
    os.environ.update(environment)  # by which clients find a server
    return _seen(oracle.lance(), path)


def _seen(engine: ModuleType, path: str) -> Seen:
    try:
        return _look(engine, path)
    except (OSError, ValueError, LanceError) as error:
        return f"{type(error).__name__}: {error}"


def _look(engine: ModuleType, path: str) -> Sight | None:
    """Return what an implementation sees; None where it sees no table. Raises what it raises."""
    try:
        table = engine.dataset(path)
    except ValueError as error:
        if "not found" in str(error):
            return None
        raise
    numbers = [one["version"] for one in table.versions()]
    branches = sorted(table.branches.list())
    return Sight(
        rows=_rows(table),
        ids=table.to_table(columns=[], with_row_id=True)["_rowid"].to_pylist(),
        fields=[str(one) for one in table.schema],
        config=dict(sorted(table.config().items())),
        tags={name: tag["version"] for name, tag in sorted(table.tags.list().items())},
        branches={name: _rows(table.checkout_version((name, None))) for name in branches},
        history={str(number): _rows(engine.dataset(path, number)) for number in numbers},
    )


def _rows(table: object) -> list[str]:
    found = table.to_table()  # type: ignore[attr-defined]
    return [str(row) for row in found.to_pylist()]
