"""Cases of writer flags, and of operations that do not fit their table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pylanceref.fragment import LanceFragment
from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.cases.transactions import commits
from lance_conformance.recipes.constructors import act
from lance_conformance.recipes.edits import SECOND, manifest
from lance_conformance.recipes.model import Plan, Recipe
from lance_conformance.recipes.staging import Staged, staged

KNOWN = {1: 3, 16: 3, 32: 2, 128: 3, 256: 3, 1024: 3, 2048: 3, 16384: 3}
"""Bits of released versions: 2 the writer word only, 3 both words."""


def _flagged(bit: int, words: int) -> Callable[[str], Staged]:
    """Return what stages an Append to a table with a flag in the writer word, or in both."""

    def build(uri: str) -> Staged:
        commits.base(uri)
        names = ("writer_feature_flags", "reader_feature_flags")[: words - 1]
        flagged = manifest(
            {name: lambda old: old | bit for name in names},
            SECOND,
        )
        return Staged(
            ((Op.Append(commits.new(uri, commits.rows(6, 7))), 2),),
            commits.rows(0, 7),
            changes=(flagged,),
        )

    return build


_UNKNOWN = {512: 2, 4096: 2, 8192: 2, 131072: 2, 2**40: 2, 2**63: 2}
"""Bits that no released version knows."""

_WORDS = {2: "the writer word", 3: "both words"}


def _misfit(build: Callable[[str, LanceFragment], Op.BaseOperation]) -> Callable[[], Plan]:
    """Return a maker of a plan whose operation, of the first fragment, does not fit the table."""

    def stage(uri: str) -> Staged:
        operation = build(uri, commits.base(uri)[0])
        return Staged(((operation, 2),), commits.rows(0, 6), {"version": "2"})

    return staged(stage)


def _rewrite_stranger(uri: str, first: LanceFragment) -> Op.BaseOperation:
    group = Op.RewriteGroup([replace(first.metadata, id=7)], commits.new(uri, commits.rows(0, 3)))
    return Op.Rewrite([group], [])


def _merge_missing(_uri: str, first: LanceFragment) -> Op.BaseOperation:
    merged, schema = first.merge_columns({"c": "a + 1"})
    return Op.Merge([merged], schema)


CASES: tuple[Recipe, ...] = (
    *(act(f"txn/any/flags/{'known' if bit in KNOWN else 'unknown'}-{bit}",
            f"an Append to a table with flag {bit} in {_WORDS[words]}",
            ("L.table.flags.writer-refuses",) if bit in KNOWN else (), staged(_flagged(bit, words)),
            broken=() if bit in KNOWN else ("L.table.flags.writer-refuses",),
            writer_flags=bit) for bit, words in {**KNOWN, **_UNKNOWN}.items()),
    act("txn/any/misfits/merge-missing", "a Merge that leaves a fragment out", (),
        _misfit(_merge_missing), broken=("L.txn.op.merge",), allowed=("refused", "conflict")),
    act("txn/any/misfits/restore-future", "a Restore of a version that does not exist", (),
        _misfit(lambda *_: Op.Restore(9)), broken=("L.txn.op.restore",),
        allowed=("refused", "conflict")),
    act("txn/any/misfits/rewrite-stranger", "a Rewrite of a fragment that is not there", (),
        _misfit(_rewrite_stranger), broken=("L.txn.op.rewrite",), allowed=("refused", "conflict")),
    act("txn/any/misfits/index-stranger", "a CreateIndex over a field that is not there", (),
        _misfit(lambda *_: Op.CreateIndex([commits.index_columns(1, "i", 9, {0, 1})], [])),
        broken=("L.txn.op.index-fields",), allowed=("refused", "conflict")),
)  # fmt: skip
