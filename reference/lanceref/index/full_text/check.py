"""Full-text indices, checked: what a query reads only of the tokens it asks for.

Clauses: L.index.fts.tokens, L.index.fts.impacts.count, L.index.fts.impacts.pairs
"""

from __future__ import annotations

from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.index.full_text.impacts import encode_impacts
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.posting_blocks import BlockLayout


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
