"""Operations on rows: written, deleted, updated, merged, compacted."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from lance_conformance.campaigns.histories.predicates import predicate
from lance_conformance.campaigns.histories.view import View, opening


def append(random: Random, view: View) -> str:
    """Rows after those there are, in one file or several."""
    most = random.choice((1000, 1000, 4, 7))
    return (
        f"lance.write_dataset({_rows(random, view)}, {view.place}, mode='append', "
        f"max_rows_per_file={most})"
    )


def insert(random: Random, view: View) -> str:
    """Rows by the dataset's own method."""
    return f"{view.place}.insert({_rows(random, view)})"


def delete(random: Random, view: View) -> str:
    """Rows that pass a filter."""
    return f"{view.place}.delete({predicate(random, view)!r})"


def update(random: Random, view: View) -> str | None:
    """Columns of rows that pass a filter.

    Of an old version, not of columns that the newest has elsewhere (D.txn.update-again-by-place).
    """
    new = _assignment(random, view)
    if new is None or not all(map(view.is_in_place, new)):
        return None
    where = predicate(random, view) if random.random() < 0.9 else None
    return f"{view.place}.update({new!r}, where={where!r})"


def _assignment(random: Random, view: View) -> dict[str, str] | None:
    number = view.of(random, pa.types.is_integer, pa.types.is_floating)
    text = view.of(random, pa.types.is_string)
    new = {}
    if number is not None and random.random() < 0.7:
        expression = random.choice(("{0} + 1", "7", "{0} * 2", "NULL"))
        new[number] = expression.format(number)
    if text is not None and random.random() < 0.6:
        new[text] = random.choice(("'new'", "NULL", "'x'"))
    return new or None


def merge_insert(random: Random, view: View) -> str | None:
    """Other rows, matched by the key: every combination of actions."""
    if view.key is None:
        return None
    matched = ("", ".when_matched_update_all()", ".when_matched_delete()", ".when_matched_fail()")
    condition = f"source.{view.key} < 30"
    text = random.choice((*matched, matched[1], f".when_matched_update_all({condition!r})"))
    if random.random() < 0.7:
        text += ".when_not_matched_insert_all()"
    if text != matched[2] and random.random() < 0.25:  # the oracle breaks over these two alone
        where = predicate(random, view) if random.random() < 0.7 else None
        text += f".when_not_matched_by_source_delete({where!r})"
    if not text:
        return None
    own = _rows(random, view)
    if random.random() < 0.2:
        always = {view.key} | view.unnullable
        kept = [name for name in view.schema.names if name in always or random.random() < 0.6]
        own += f".select({kept!r})"
    source = f"aligned({opening(view.name)}, {view.key!r}, {own})"  # it may be run again over it
    builder = f"merge_insert({view.key!r}).use_index(False)"  # through one it has other fragments
    return f"{view.place}.{builder}{text}.execute({source})"


def compact(random: Random, view: View) -> str | None:
    """Small fragments joined; inherited indices the oracle loses thereby.

    Of those that an earlier compaction left as they were it loses rows
    (D.index.compaction-after-deferred).
    """
    if view.has_inherited_indices or view.has_moved_rows:
        return None
    given = []
    if random.random() < 0.7:
        given.append(f"target_rows_per_fragment={random.choice((5, 10, 20))}")
    if random.random() < 0.3:
        given.append(f"materialize_deletions={random.choice((True, False))}")
    if random.random() < 0.3:
        given.append(f"materialize_deletions_threshold={random.choice((0.0, 0.3, 0.9))}")
    if random.random() < 0.2:
        given.append(f"max_source_fragments={random.choice((1, 2, 3))}")
    if random.random() < 0.2:
        given.append(f"batch_size={random.choice((1, 3, 100))}")
    return f"{view.place}.optimize.compact_files({', '.join(given)})"


def _rows(random: Random, view: View) -> str:
    """Return words for rows of a table's schema."""
    count = random.choice((0, 1, 3, 5, 8, 12, 20))
    repeated = ", repeated=True" if random.random() < 0.1 else ""
    return f"rows({view.place}.schema, {random.randrange(10_000)}, {count}{repeated})"
