"""Positive cases of what other cases keep and do not name: the same tables and files, made again.

Their clauses are broken only together with others, in `faults_twofold`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.tables import (
    datasets,
    datasets_marks,
    files_2_1,
    files_layouts,
    indices_arms,
    indices_plain,
    indices_vectors_plain,
)

_MODULES = (
    *(datasets, datasets_marks, files_2_1, files_layouts),
    *(indices_arms, indices_plain, indices_vectors_plain),
)
_MADE: dict[str, Positive] = {one.id: one for module in _MODULES for one in module.POSITIVES}


def _again(parent: str, slug: str, title: str, clauses: Iterable[str]) -> Positive:
    made = _MADE[parent]
    folder = parent.rpartition("/")[0]
    return replace(made, id=f"{folder}/{slug}", title=title, clauses=tuple(clauses))


POSITIVES = (
    _again("file/2.1/levels/list-list", "visible", "a value for each entry that is visible",
           ("L.page.levels.visible", "L.page.leaf.count")),
    _again("file/2.1/general/zstd", "once", "values that are compressed once",
           ("L.codec.encoding.depth", "L.wire.message")),
    _again("table/any/deletions/bitmap", "named", "a bitmap that is named by its fragment",
           ("L.table.deletions.name",)),
    _again("table/any/manifest/index", "sections", "sections that lie one after the other",
           ("L.table.manifest.overlap", "L.txn.commit.order", "L.txn.commit.exclusive",
            "L.index.segment.entry")),
    _again("table/any/manifest/refs", "names", "a tag and a branch, named as they may be",
           ("L.table.refs.tag-name", "L.table.refs.branch-name")),
    _again("index/any/btree/plain", "folder", "files in the folder of their segment",
           ("L.index.segment.folder", "L.index.btree.columns")),
    _again("index/any/label-list/plain", "null-lists", "a set of the lists that are null",
           ("L.index.label-list.nulls",)),
    _again("index/any/bloomfilter/plain", "least", "filters of the least size",
           ("L.index.bloom.size",)),
    _again("index/any/ngram/plain", "every-token", "rows that every of their tokens has",
           ("L.index.ngram.token",)),
    _again("index/any/minhash/plain", "signed", "signatures of texts",
           ("L.index.minhash.signature",)),
    _again("index/any/ivf-pq/plain", "by-columns", "codes of residuals, column by column",
           ("L.index.vector.pq.residual", "L.index.vector.pq.layout", "L.index.vector.column")),
)  # fmt: skip
"""Every case made again."""
