"""Deeds: what a writer does to a table that others write too, and how to tell that it was done.

A deed is a kind and a number, from which the rows it touches follow, so that no two deeds but
increments and inserts touch the same rows; an insert is done when somebody has done it. The effect
of each shows in the rows of the table alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from types import ModuleType

import pyarrow as pa

Deed = tuple[str, int]
"""Kind and number."""

PLAIN = pa.schema([pa.field("id", pa.int64(), nullable=False), ("n", pa.int64())])

KEYED = pa.schema(
    [PLAIN.field("id").with_metadata({"lance-schema:unenforced-primary-key": "true"}), PLAIN[1]]
)
"""The schema of the table."""

DELETED, UPSERTED, INSERTED, NEW, APPENDED = 1000, 2000, 3000, 4000, 20_000
"""Ids of the first row that deeds of a kind take out, change, put in."""

FRAGMENT_ROWS = 10
"""Rows of a fragment at the beginning."""

APPENDED_ROWS = 3
"""Rows of one append."""

COUNTER = 0
"""Id of the row that increments add to."""


def begin(
    engine: ModuleType,
    uri: str,
    numbers: int,
    *,
    stable: bool,
    v2_names: bool,
    options: dict[str, str],
) -> None:
    """Make a table on which deeds of every kind with numbers below `numbers` can be done.

    Its ids are a primary key, which nobody enforces.
    """
    ids = [COUNTER, *range(DELETED, DELETED + numbers), *range(UPSERTED, UPSERTED + numbers)]
    engine.write_dataset(
        _rows(ids, 0).cast(KEYED),
        uri,
        max_rows_per_file=FRAGMENT_ROWS,
        enable_stable_row_ids=stable,
        enable_v2_manifest_paths=v2_names,
        **_storage(options),
    )


def do(engine: ModuleType, uri: str, deed: Deed, options: dict[str, str]) -> None:
    """Do a deed, by either implementation, on the latest version."""
    kind, number = deed
    storage = _storage(options)
    if kind == "append":
        first = APPENDED + number * APPENDED_ROWS
        rows = _rows(range(first, first + APPENDED_ROWS), 0)
        engine.write_dataset(rows, uri, mode="append", **storage)
        return
    table = engine.dataset(uri, **storage)
    if kind == "delete":
        table.delete(f"id = {DELETED + number}")
    elif kind == "increment":
        table.update({"n": "n + 1"}, f"id = {COUNTER}")
    elif kind == "insert":
        merge = table.merge_insert("id").when_not_matched_insert_all()
        merge.execute(_rows([INSERTED + number], 2))
    elif kind == "upsert":
        merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(_rows([UPSERTED + number, NEW + number], 1))
    else:
        table.optimize.compact_files(target_rows_per_fragment=4 * FRAGMENT_ROWS)


def _storage(options: dict[str, str]) -> dict[str, dict[str, str]]:
    return {"storage_options": options} if options else {}


def _rows(ids: Iterable[int], n: int) -> pa.Table:
    held = pa.array(ids, pa.int64())
    return pa.table([held, pa.array([n] * len(held), pa.int64())], schema=PLAIN)


def faults(
    rows: pa.Table, done: Iterable[Deed], doubtful: Iterable[Deed], numbers: int
) -> Iterator[str]:
    """Yield what rows do not show of the deeds that were done, or show of others.

    A doubtful deed was begun, and nobody knows whether it was done: all of it or nothing.
    """
    held = list(zip(rows["id"].to_pylist(), rows["n"].to_pylist(), strict=True))
    found, sure, open_ = Counter(held), Counter(done), Counter(doubtful)
    least = sure["increment", 0]
    most = least + open_["increment", 0]
    counters = [n for (row, n), times in found.items() if row == COUNTER for _ in range(times)]
    if len(counters) != 1 or not least <= counters[0] <= most:
        yield f"the counter is {counters}, after {least} to {most} increments"
    known = {(COUNTER, n) for n in counters}
    for number in range(numbers):
        for kind, states in _states(number).items():
            deed = kind, number
            before, after = states
            allowed = [after] if sure[deed] else [before, after] if open_[deed] else [before]
            seen = {pair for pair in before | after if found[pair]}
            if seen not in allowed or any(found[pair] > 1 for pair in seen):
                yield f"{deed} of {'done' if sure[deed] else 'not done'}: the table has {seen}"
            known |= before | after
    if strange := found.keys() - known:
        yield f"rows that nobody wrote: {sorted(strange)[:5]}"


Pairs = set[tuple[int, int]]


def _states(number: int) -> dict[str, tuple[Pairs, Pairs]]:
    """Return by kind the rows that lie before and after a deed."""
    first = APPENDED + number * APPENDED_ROWS
    return {
        "append": (set(), {(first + row, 0) for row in range(APPENDED_ROWS)}),
        "delete": ({(DELETED + number, 0)}, set()),
        "upsert": ({(UPSERTED + number, 0)}, {(UPSERTED + number, 1), (NEW + number, 1)}),
        "insert": (set(), {(INSERTED + number, 2)}),
    }
