"""Commits that do not fit the table: operations a writer must refuse to make a version of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pylanceref.operation import LanceOperation as Op

from lance_conformance.recipes.model import Acting
from lance_conformance.recipes.staging import Staged
from lance_conformance.recipes.tables.commits_columns import REFUSED, index
from lance_conformance.recipes.tables.commits_rows import base, case, new, rows


def _unchanged(operation: Op.BaseOperation) -> Staged:
    return Staged(((operation, 2),), rows(0, 6), {"version": "2"})


def _merge_missing(uri: str) -> Staged:
    merged, schema = base(uri)[0].merge_columns({"c": "a + 1"})
    return _unchanged(Op.Merge([merged], schema))


def _restore_future(uri: str) -> Staged:
    base(uri)
    return _unchanged(Op.Restore(9))


def _rewrite_stranger(uri: str) -> Staged:
    first, _ = base(uri)
    group = Op.RewriteGroup([replace(first.metadata, id=7)], new(uri, rows(0, 3)))
    return _unchanged(Op.Rewrite([group], []))


def _index_stranger(uri: str) -> Staged:
    base(uri)
    return _unchanged(Op.CreateIndex([index(1, "i", 9, {0, 1})], []))


def _misfit(slug: str, title: str, build: Callable[[str], Staged], *broken: str) -> Acting:
    return case(f"misfits/{slug}", title, build, broken=broken, allowed=REFUSED)


CASES: tuple[Acting, ...] = (
    _misfit("merge-missing", "a Merge that leaves a fragment out", _merge_missing,
            "L.txn.op.merge"),
    _misfit("restore-future", "a Restore of a version that does not exist", _restore_future,
            "L.txn.op.restore"),
    _misfit("rewrite-stranger", "a Rewrite of a fragment that is not there", _rewrite_stranger,
            "L.txn.op.rewrite"),
    _misfit("index-stranger", "a CreateIndex over a field that is not there", _index_stranger,
            "L.txn.op.index-fields"),
)  # fmt: skip
"""Every case of an operation that does not fit."""
