"""Histories: what a table goes through, as steps that every release can be asked to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from lance_conformance.campaigns.matrix.columns import general, typed
from lance_conformance.matrix.actor import save

Step = tuple[object, ...]
"""Name and arguments of a step, as the actor has them."""


@dataclass(frozen=True, slots=True)
class History:
    """A named table: the steps that make it, and what is done to it afterwards by the other side.

    `tables` are the Arrow files that the steps name; `filters` the predicates it is read with.
    """

    name: str
    tables: Mapping[str, pa.Table]
    steps: tuple[Step, ...]
    after: tuple[Step, ...]
    filters: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)

    def lay_out(self, folder: Path) -> None:
        """Write the tables where the steps find them."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            save(table, str(folder / name))


CREATED = 20
"""Rows that a history of a type begins with."""


def of_type(name: str, table: pa.Table) -> History:
    """Return the history of a type: created in two fragments, appended, deleted from, compacted."""
    first, second = f"{name}.first", f"{name}.second"
    return History(
        f"type:{name}",
        {first: table.slice(0, CREATED), second: table.slice(CREATED)},
        (
            ("create", first, 12),
            ("append", second),
            ("delete", "id % 5 = 2"),
            ("compact",),
        ),
        (("append", first), ("delete", "id % 4 = 1")),
        ("id >= 4 and id < 25", "c is null"),
    )


_TABLES = {
    "old": general(range(40)),
    "more": general(range(40, 60)),
    "mixed": general(range(30, 70), 1),
    "new": general(range(55, 80)),
    "side": pa.table({"id": range(0, 40, 2), "extra": [f"e{i}" for i in range(20)]}),
}
_FILTERS = ("i > 30", "s = 'beta' or f < 3", "t.x < 20 and s is not null", "id in (1, 41, 61)")
_AFTER: tuple[Step, ...] = (
    ("append", "new"),
    ("delete", "id % 4 = 1"),
    ("update", {"s": "'again'"}, "id = 6 or id = 44"),
    ("compact",),
)


def _operations(
    name: str, *steps: Step, after: tuple[Step, ...] = _AFTER, **more: object
) -> History:
    return History(name, _TABLES, (("create", "old", 15), *steps), after, _FILTERS, more)


_EDITS: tuple[Step, ...] = (
    ("append", "more"),
    ("delete", "id >= 10 and id < 16"),
    ("delete", "id % 7 = 3"),
    ("update", {"i": "i + 1"}, "id > 33"),
    ("upsert", "mixed"),
    ("insert_new", "new"),
)

OPERATIONS: tuple[History, ...] = (
    _operations("append", ("append", "more"), ("append", "new")),
    _operations("delete", *_EDITS[1:3], ("delete", "id < 15")),
    _operations("delete-all", ("delete", "true"), ("append", "more")),
    _operations("edits", *_EDITS, ("compact",), ("delete", "id = 50")),
    _operations(
        "columns",
        ("add", {"twice": "id * 2"}),
        ("drop", ["f"]),
        ("rename", "l", "numbers"),
        ("add", {"text": "cast(id as string)"}),
        ("drop", ["twice"]),
        ("nullable", "id"),
        ("cast", "i", "int64"),
        ("delete", "id % 3 = 0"),
        ("compact",),
        after=(("delete", "id % 4 = 1"), ("update", {"s": "'again'"}, "id = 6"), ("compact",)),
    ),
    _operations(
        "join",
        ("join", "side"),
        ("delete", "id < 7"),
        after=(("delete", "id % 4 = 1"), ("compact",)),
    ),
    _operations("overwrite", ("overwrite", "more"), ("append", "new"), ("restore", 1)),
    _operations("tags", ("append", "more"), ("tag", "first", 1), ("config", {"k": "v"})),
    _operations(
        "indices",
        ("scalar", "id", "BTREE"),
        ("scalar", "i", "BITMAP"),
        ("append", "more"),
        ("delete", "id % 7 = 3"),
        ("reindex",),
        ("update", {"i": "i + 1"}, "id > 33"),
    ),
    _operations(
        "vectors",
        ("vector", "v", "IVF_PQ"),
        ("append", "more"),
        ("delete", "id % 7 = 3"),
        ("compact",),
    ),
    _operations("v1-names", *_EDITS[:3], enable_v2_manifest_paths=False),
    _operations("v2-names", *_EDITS[:3], enable_v2_manifest_paths=True),
    _operations("moved-names", ("append", "more"), ("move",), ("delete", "id = 2")),
    _operations("stable", *_EDITS, ("compact",), enable_stable_row_ids=True),
)
"""Histories of operations."""

_INDEXED: Mapping[str, tuple[str, ...]] = {
    "BTREE": ("i", "f", "s"),
    "BITMAP": ("i", "s"),
    "ZONEMAP": ("i", "f", "s"),
    "BLOOMFILTER": ("i", "s"),
}
"""Columns that a type of index is built over."""

_ASKED: Mapping[str, tuple[str, ...]] = {
    "i": ("i = 30", "i < 40", "i is null", "i in (3, 60) or i > 170"),
    "f": ("f = 3", "f >= 7 and f < 20", "f is null"),
    "s": ("s = 'beta'", "s < 'beta'", "s is null", "s is not null and s != 'beta'"),
}
"""Filters by the column that they ask."""


def of_index(kind: str, column: str) -> History:
    """Return the history of an index: built, not covering new rows, and brought up to date."""
    return History(
        f"index:{kind.lower()}:{column}",
        _TABLES,
        (
            ("create", "old", 15),
            ("scalar", column, kind),
            ("append", "more"),
            ("delete", "id % 7 = 3"),
            ("reindex",),
            ("append", "new"),
        ),
        (("delete", "id % 4 = 1"), ("reindex",), ("compact",)),
        _ASKED[column],
    )


def all_histories() -> list[History]:
    """Return every history: those of types, of operations and of indices."""
    return [
        *(of_type(name, table) for name, table in typed().items()),
        *OPERATIONS,
        *(of_index(kind, column) for kind, columns in _INDEXED.items() for column in columns),
    ]
