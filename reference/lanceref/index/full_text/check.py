"""Full-text indices, checked: what a query reads only of the tokens it asks for.

Clauses: L.index.fts.tokens, L.index.fts.impacts.count, L.index.fts.impacts.pairs

Full-text indices against rows: whether the tokens of a segment are those of its texts.

Tokens, how often and where they stand are summed up in one number for each row, once as the segment
has them and once as its parameters make them of the text. Rows of other numbers are told, not why.

Clauses: L.index.segment.complete
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.documents import Documents, gather
from lanceref.index.full_text.impacts import encode_impacts
from lanceref.index.full_text.parameters import Settings
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.posting_blocks import BlockLayout
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.segment import Segment
from lanceref.index.training import Training


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
        held = partition.impacts(number)
        wanted = encode_impacts(postings, lengths[postings.documents], layout)
        if held is not None and len(held) != len(wanted):
            ctx.lint(
                "L.index.fts.impacts.count",
                place,
                found=f"{len(held)} impacts of {token!r}",
                wanted=f"{len(wanted)}",
            )
        elif held is not None and held != wanted:
            ctx.lint(
                "L.index.fts.impacts.pairs",
                place,
                found=f"impacts of {token!r} that are not those of its documents",
                wanted="the pairs that no document exceeds",
            )
    if sorted(numbers) != list(range(partition.num_tokens)):
        ctx.lint(
            "L.index.fts.tokens",
            place,
            found=f"numbers {sorted(numbers)[:8]}",
            wanted=f"each below {partition.num_tokens} once",
        )


Sums = NDArray[np.uint64]

_SPREAD, _TURN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
"""Odd numbers that spread what they multiply over 64 bits."""

ROWS = 4096
"""Rows whose tokens are made at a time."""


def check_texts(
    segment: Segment, settings: Settings, partitions: Sequence[Partition], training: Training
) -> None:
    """Report the first row whose tokens are not those of its text. Raises FormatError."""
    with_position = settings.analysis.with_position
    keys, sums = _held(segment, partitions, with_position=with_position)
    analyzer = Analyzer(settings.analysis)
    for run in training.runs():
        for first in range(0, len(run.keys), ROWS):
            rows = slice(first, first + ROWS)
            made = gather(run.values[rows], analyzer, list_elements=settings.list_elements)
            wrong = run.keys[rows][
                _made(made, len(run.keys[rows]), with_position=with_position)
                != _looked_up(run.keys[rows], keys, sums)
            ]
            if len(wrong):
                segment.ctx.lint(
                    "L.index.segment.complete",
                    segment.place,
                    found=f"other tokens of row {int(wrong[0])} in {segment.entry.name!r}",
                    wanted="those of the text of every live row of the fragments covered",
                )
                return


def _held(
    segment: Segment, partitions: Sequence[Partition], *, with_position: bool
) -> tuple[Keys, Sums]:
    """Return the keys of rows, ascending, and the sums of what a segment has of them."""
    found: list[tuple[Keys, Sums]] = [(NO_KEYS, np.zeros(0, np.uint64))]
    for one in partitions:
        sums = _of_partition(one, with_position=with_position)
        keys = one.keys
        if segment.moves is not None and not segment.stable_row_ids:
            kept, keys = segment.moves(keys)
            sums = sums[kept]
        found.append((keys, sums))
    keys = np.concatenate([one for one, _ in found])
    rows, owners = np.unique(keys, return_inverse=True)
    return rows, _by_row(owners, np.concatenate([one for _, one in found]), len(rows))


def _of_partition(partition: Partition, *, with_position: bool) -> Sums:
    """Return the sum of each document."""
    sums = np.zeros(len(partition.keys), np.uint64)
    for token, number in partition.items():
        postings, places = partition.postings(number), partition.positions(number)
        spread = _hashed([token])
        if with_position and places is not None:
            own = [_placed(spread, one).sum(dtype=np.uint64) for one in places]
            sums[postings.documents] += np.array(own, np.uint64)
        else:
            sums[postings.documents] += postings.frequencies.astype(np.uint64) * spread
    return _with_element(sums, partition.elements)


def _made(documents: Documents, num_rows: int, *, with_position: bool) -> Sums:
    """Return the sum of each row that was made of texts."""
    tokens = _hashed(documents.tokens)
    if with_position:
        tokens = _placed(tokens, documents.positions)
    owners = np.repeat(np.arange(len(documents.lengths)), documents.lengths)
    sums = _by_row(owners, tokens, len(documents.lengths))
    return _by_row(documents.rows, _with_element(sums, documents.elements), num_rows)


def _hashed(tokens: Sequence[str]) -> Sums:
    hashes = np.fromiter(map(hash, tokens), np.int64, len(tokens))
    return hashes.view(np.uint64) * _SPREAD


def _placed(tokens: Sums, positions: NDArray[np.unsignedinteger]) -> Sums:
    placed: Sums = (tokens ^ positions.astype(np.uint64) * _TURN) * _SPREAD
    return placed


def _with_element(sums: Sums, elements: NDArray[np.unsignedinteger] | None) -> Sums:
    """Add to the sum of a document that it is there, and at which place of its list."""
    places = np.uint64(0) if elements is None else elements.astype(np.uint64)
    return sums * (places * np.uint64(2) + np.uint64(1)) + _TURN


def _by_row(owners: NDArray[np.integer], sums: Sums, num_rows: int) -> Sums:
    found = np.zeros(num_rows, np.uint64)
    np.add.at(found, owners, sums)
    return found


def _looked_up(wanted: Keys, keys: Keys, sums: Sums) -> Sums:
    """Return the sums of rows, 0 for those that a segment does not have."""
    at = np.searchsorted(keys, wanted)
    there = keys[np.minimum(at, len(keys) - 1)] == wanted if len(keys) else at < 0
    found = np.zeros(len(wanted), np.uint64)
    found[there] = sums[at[there]]
    return found
