"""Flags when writing: who knows all bits of the writer word may append, nobody else.

One table for each bit, in the words where it may stand; the next commit settles the flags anew.
"""

from __future__ import annotations

from lanceref.proto.table_pb2 import Manifest
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.messages import manifest
from lance_conformance.recipes.model import Acting
from lance_conformance.recipes.staging import Staged
from lance_conformance.recipes.tables.commits_rows import base, case, new, rows

MANIFEST = "_versions/18446744073709551613.manifest"
"""The manifest of version 2."""

KNOWN = {1: 3, 16: 3, 32: 2, 128: 3, 256: 3, 1024: 3, 2048: 3, 16384: 3}
"""Bits of released versions: 2 the writer word only, 3 both words."""

UNKNOWN = {512: 2, 4096: 2, 8192: 2, 131072: 2, 2**40: 2, 2**63: 2}
"""Bits that no released version knows."""


def _flagged(bit: int, words: int) -> Acting:
    def edit(message: Manifest) -> None:
        message.writer_feature_flags |= bit
        if words == 3:
            message.reader_feature_flags |= bit

    def build(uri: str) -> Staged:
        base(uri)
        operation = Op.Append(new(uri, rows(6, 7)))
        return Staged(((operation, 2),), rows(0, 7), changes=(manifest(edit, MANIFEST),))

    known, where = bit in KNOWN, "both words" if words == 3 else "the writer word"
    clause = ("L.table.flags.writer-refuses",)
    return case(
        f"flags/{'known' if known else 'unknown'}-{bit}",
        f"an Append to a table with flag {bit} in {where}",
        build,
        clauses=clause if known else (),
        broken=() if known else clause,
        writer_flags=bit,
    )


CASES: tuple[Acting, ...] = tuple(
    _flagged(bit, words) for bit, words in {**KNOWN, **UNKNOWN}.items()
)
"""Every flag a writer may find."""
