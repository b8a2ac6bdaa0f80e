"""Subjects: each type of index with each type of values it is for, and how it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from lance_conformance.campaigns.queries.answers.asking import (
    Leaf,
    begun,
    compared,
    contained,
    equalled,
    labelled,
    placed,
    spelled,
)
from lance_conformance.campaigns.queries.answers.columns import (
    ORDERED,
    Column,
    documents,
    geometries,
    lists,
)

TEXTS = ("utf8", "large_utf8")
OCTETS = ("binary", "large_binary")


THEIRS, OURS = "theirs", "ours"
"""Names of the table that the oracle gave its index, and of the other."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An index over a column; `exact` where it alone says which rows are wanted.

    `kind` and `parameters` are those of `IndexConfig`; `asked` is what SQL calls the column;
    `divergence` names what makes the oracle lose rows by its own index.
    """

    name: str
    column: Column
    kind: str
    leaf: Leaf
    exact: bool = False
    denied: bool = False
    parameters: Mapping[str, object] = field(default_factory=dict)
    asked: str = "c"
    divergence: str = ""

    @property
    def run(self) -> int:
        """How many times as long runs of equal values are: a part of the rows is less than all."""
        return 1 if self.exact else RUN

    @property
    def rows(self) -> int:
        """Rows of a table."""
        return 400 if self.exact else 6000


RUN = 100
"""Equal values side by side where an index only tells where to look: not every zone has all."""


def subjects() -> Iterator[Subject]:
    """Yield every subject."""
    for name, column in ORDERED.items():
        leaf = begun if name in TEXTS else compared
        yield Subject(f"btree-{name}", column, "btree", leaf, True, True)
        yield Subject(f"btree-pages-{name}", column, "btree", leaf, True, True, {"zone_size": 16})
        yield Subject(f"bitmap-{name}", column, "bitmap", compared, True, True)
        zones: dict[str, object] = {"rows_per_zone": 64}
        lost = "D.index.zonemap-only-nan" if pa.types.is_floating(column.type) else ""
        yield Subject(f"zonemap-{name}", column, "zonemap", leaf, parameters=zones, divergence=lost)
        if _hashed(column.type):
            zones = {"number_of_items": 64, "probability": 0.01}
            yield Subject(f"bloomfilter-{name}", column, "bloomfilter", equalled, parameters=zones)
        if not pa.types.is_floating(column.type) and not pa.types.is_decimal(column.type):
            held = lists(column)
            yield Subject(f"label-list-{name}", held, "labellist", labelled, True, True)
            held = lists(column, large=True)
            yield Subject(f"label-list-large-{name}", held, "labellist", labelled, True, True)
    for name in TEXTS:
        yield Subject(f"ngram-{name}", ORDERED[name], "ngram", contained)
    for name in TEXTS:
        yield Subject(f"fm-{name}", ORDERED[name], "fm", spelled, True)
    for name in ("int", "float", "string", "bool"):
        yield from _of_documents(name)
    for name in ("point", "linestring", "polygon", "box", "wkb", "wkt"):
        yield Subject(f"rtree-{name}", geometries(f"geoarrow.{name}"), "rtree", placed)


def named(name: str) -> Subject:
    """Return a subject by its name."""
    return {one.name: one for one in subjects()}[name]


def _hashed(type_: pa.DataType) -> bool:
    """Return whether a Bloom filter takes values of a type."""
    return not (pa.types.is_boolean(type_) or pa.types.is_decimal(type_))


def _of_documents(name: str) -> Iterator[Subject]:
    """Yield indices over a member of documents."""
    column, asked = documents(name), f"json_get_{name}(c, 'a')"
    for kind, leaf, exact in (
        ("btree", compared, True),
        ("bitmap", compared, True),
        ("zonemap", compared, False),
        ("bloomfilter", equalled, False),
    ):
        if kind == "bloomfilter" and name == "bool":
            continue
        given = {"target_index_type": kind.upper(), "path": "a"}
        yield Subject(f"json-{kind}-{name}", column, "json", leaf, exact, exact, given, asked)
