"""Full-text indices, checked: all tokens and postings, and the tokens of the texts of rows.

Against rows, tokens, their number and their positions are summed up in one number a row, once
from the segment and once from the text by its parameters. A row of another number is reported.

Clauses: L.index.fts.tokens, L.index.fts.impacts.count, L.index.fts.impacts.pairs,
L.index.segment.complete
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.documents import Documents, gather
from lanceref.index.full_text.parameters import Settings
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.posting_blocks import BlockLayout, impact_runs
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.training import Run, Training, number_sets

Sums = NDArray[np.uint64]

_SPREAD, _TURN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
"""Odd numbers that spread what they multiply over 64 bits."""

ROWS = 4096
"""Rows whose tokens are made at a time."""


def check_partition(partition: Partition, layout: BlockLayout, ctx: Context, place: Place) -> None:
    """Read all documents and postings; report numbers that are not those of the tokens, once each.

    Impacts that are not those of the documents are reported too. Raises FormatError.
    """
    lengths = partition.lengths
    numbers = []
    for token, number in partition.items():
        numbers.append(number)
        postings = partition.postings(number)
        partition.positions(number)
        impacts, count = partition.impacts(number), len(postings.documents)
        if impacts is None:
            continue
        wanted: list[bytes] = []
        if count:
            own = lengths[postings.documents]
            wanted = impact_runs(postings, np.array([count]), own, layout)[0].as_bytes()
        found = f"{len(impacts)} impacts of {token!r}"
        if len(impacts) != len(wanted):
            ctx.lint("L.index.fts.impacts.count", place, found, len(wanted))
        elif impacts != wanted:
            ctx.lint("L.index.fts.impacts.pairs", place, found, "pairs that no document exceeds")
    if sorted(numbers) != list(range(partition.num_tokens)):
        found, each = f"numbers {sorted(numbers)[:8]}", f"each below {partition.num_tokens} once"
        ctx.lint("L.index.fts.tokens", place, found, each)


def sums_of_rows(partitions: Sequence[Partition], *, with_position: bool) -> tuple[pa.Array, Keys]:
    """Return the sum and the key (rows,) of each row of partitions. Raises FormatError."""
    parts: list[tuple[Keys, Sums]] = [(NO_KEYS, np.zeros(0, np.uint64))]
    for one in partitions:
        sums = np.zeros(len(one.keys), np.uint64)
        for token, number in one.items():
            postings, places = one.postings(number), one.positions(number)
            spread = _hashed([token])
            if with_position and places is not None:
                own = [_placed(spread, some).sum(dtype=np.uint64) for some in places]
                sums[postings.documents] += np.array(own, np.uint64)
            else:
                sums[postings.documents] += postings.frequencies.astype(np.uint64) * spread
        parts.append((one.keys, _with_element(sums, one.elements)))
    rows, owners = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    sums = _by_row(owners, np.concatenate([sums for _, sums in parts]), len(rows))
    return _as_sets(sums), rows


def sums_of_texts(training: Training, settings: Settings) -> Training:
    """Return the sums of the texts of rows."""
    analyzer = Analyzer(settings.analysis)

    def summed(run: Run) -> Run:
        parts = []
        for first in range(0, len(run.keys), ROWS):
            values = run.values[first : first + ROWS]
            made = gather(values, analyzer, list_elements=settings.list_elements)
            with_position = settings.analysis.with_position
            parts.append(_computed_sums(made, len(values), with_position=with_position))
        return replace(run, values=_as_sets(np.concatenate(parts)))

    return training.map(summed)


def _as_sets(sums: Sums) -> pa.Array:
    """Return sums as sets of numbers, empty where a row has no document."""
    data = sums[sums != 0].view("<u4")
    return number_sets(data, np.flatnonzero(sums != 0).repeat(2), len(sums))


def _computed_sums(documents: Documents, num_rows: int, *, with_position: bool) -> Sums:
    """Return the sum of each row from the documents of its text."""
    tokens = _hashed(documents.tokens)
    if with_position:
        tokens = _placed(tokens, documents.positions)
    owners = np.repeat(np.arange(len(documents.lengths)), documents.lengths)
    sums = _by_row(owners, tokens, len(documents.lengths))
    return _by_row(documents.rows, _with_element(sums, documents.elements), num_rows)


def _hashed(tokens: Sequence[str]) -> Sums:
    return np.fromiter(map(hash, tokens), np.int64, len(tokens)).view(np.uint64) * _SPREAD


def _placed(tokens: Sums, positions: NDArray[np.unsignedinteger]) -> Sums:
    return np.asarray((tokens ^ positions.astype(np.uint64) * _TURN) * _SPREAD, np.uint64)


def _with_element(sums: Sums, elements: NDArray[np.unsignedinteger] | None) -> Sums:
    """Add to the sum of a document that it is there, and its place in a list."""
    places = np.uint64(0) if elements is None else elements.astype(np.uint64)
    return sums * (places * np.uint64(2) + np.uint64(1)) + _TURN


def _by_row(owners: NDArray[np.integer], sums: Sums, num_rows: int) -> Sums:
    totals = np.zeros(num_rows, np.uint64)
    np.add.at(totals, owners, sums)
    return totals
