"""Anatomy of index files: sets of rows, treemaps and dictionaries have their parts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lance_conformance.stored import materialised
from lanceref.core.context import Context
from lanceref.core.spans import Span
from lanceref.explain import explain, explain_source
from lanceref.index.anatomy import dissect
from lanceref.index.row_set import encode_row_set, row_set
from lanceref.storage import BytesSource

FROZEN = Path(__file__).parents[3] / "fixtures" / "index" / "any"


def structures(root: Span) -> list[Span]:
    """Return the groups that stand for a structure."""
    own = [root] if root.name in ("rows", "treemap", "dictionary") else []
    return own + [found for child in root.children for found in structures(child)]


def index_files(case: str) -> list[Path]:
    """Return the files of the index of a frozen case."""
    return sorted(materialised(FROZEN / case / "dataset" / "_indices").glob("*/*.lance"))


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("bitmap/plain", {"rows": 6}),
        ("bitmap/content", {"rows": 6}),
        ("label-list/plain", {"rows": 5}),
        ("ngram/plain", {"treemap": 2}),
        ("zonemap/plain", {"rows": 1}),
        ("bloomfilter/plain", {"rows": 1}),
        ("inverted/plain", {"dictionary": 1}),
        ("btree/plain", {}),
    ],
)
def test_every_structure_is_found(case, found):
    """One for each value, and for each buffer; every byte of the file has an owner."""
    explained = [explain(path) for path in index_files(case)]
    seen = Counter(one.name for each in explained for one in structures(each.root))

    assert found == dict(seen)
    assert [] == [gap for each in explained for gap in each.unowned]


def test_the_parts_of_a_set_of_rows():
    """Worked by hand: fragment 2, of which row 5."""
    data = encode_row_set(row_set(np.array([2 << 32 | 5], np.uint64)))
    leaf = Span(0, len(data), "global buffer 1", "user buffer")
    dissect(leaf, BytesSource(data, "zonemap.lance"), Context("zonemap.lance"))
    (rows,) = leaf.children
    told = [(one.name, one.start, one.end) for one in rows.leaves()]

    assert [
        ("number of fragments", 0, 4),
        ("fragment", 4, 8),
        ("size of the bitmap", 8, 12),
        ("cookie", 12, 16),
        ("containers", 16, 20),
        ("keys and cardinalities", 20, 24),
        ("container offsets", 24, 28),
        ("container 0", 28, 30),
    ] == told


def test_what_does_not_parse_stays_whole():
    """The damaged bytes have one owner; those of other files are left alone."""
    for name in ("zonemap.lance", "other.lance"):
        leaf = Span(0, 3, "global buffer 1", "user buffer")
        dissect(leaf, BytesSource(b"\xff\xff\xff", name), Context(name))
        assert leaf.is_leaf


def test_the_parts_of_a_dictionary():
    """Header, nodes and footer."""
    (path,) = (one for one in index_files("inverted/plain") if "tokens" in one.name)
    explained = explain_source(BytesSource(path.read_bytes(), path.name))
    (dictionary,) = structures(explained.root)

    assert ["version of the dictionary", "type", "nodes", "number of tokens", "first node",
            "checksum"] == [one.name for one in dictionary.leaves()]  # fmt: skip
