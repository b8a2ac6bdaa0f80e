"""Cases of tables to one side of the usual: no rows at all, a filter on what has no statistics."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.tables.datasets import table_case

_WORDS = pa.table({"id": pa.array(range(6), pa.int64()),
                   "w": pa.array(list("aabbcc")).dictionary_encode()})  # fmt: skip


def _nothing(uri: str) -> pa.Table:
    table = pa.schema([("a", pa.int32())]).empty_table()
    write(table, uri, data_storage_version="2.1")
    return table


def _words(uri: str) -> pa.Table:
    write(_WORDS, uri, data_storage_version="legacy")
    return pa.table({"id": pa.array([0, 1], pa.int64())})


POSITIVES: tuple[Positive, ...] = (
    table_case("marks/nothing", "a table without a fragment, and no mark of one",
               ("L.table.fragments.max-id-present",), dataset(_nothing)),
    replace(
        table_case("statistics/none", "a filter on words of a dictionary, which have no statistics",
                   ("L.legacy.statistics.covered",), dataset(_words),
                   "0.1"),
        args={"filter": {"sql": "w = 'a'"}, "columns": ["id"]}),
)  # fmt: skip
"""Every positive case of tables beside the usual."""
