"""Index types."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.index.index_type import Spans
from lanceref.index.predicate import Among, Contains, HasLabels, IsNull
from lanceref.index.registry import BY_DETAILS, KINDS
from lanceref.index.scalar.bitmap import BITMAP, LABEL_LIST
from lanceref.index.scalar.btree import BTREE

ONE = (pa.scalar(1),)


def test_what_types_answer():
    """Exactly, or not at all."""
    assert BTREE.answers(Among(ONE)) is True
    assert BTREE.answers(Contains("x")) is None
    assert LABEL_LIST.answers(HasLabels(ONE)) is True
    assert LABEL_LIST.answers(Among(ONE)) is None
    assert all(kind.answers(IsNull()) for kind in (BTREE, BITMAP))


def test_keys_are_addresses_as_the_version_says():
    """BTREE changed with version 1; without stable row ids an id is an address."""
    assert BTREE.by_address(1, stable_row_ids=True)
    assert not BTREE.by_address(0, stable_row_ids=True)
    assert not BITMAP.by_address(0, stable_row_ids=True)
    assert BITMAP.by_address(0, stable_row_ids=False)


def test_spans_are_rows_of_one_fragment():
    """Rows after its last one are left out."""
    spans = Spans(np.array([0, 1, 1]), np.array([5, 0, 6]), np.array([2, 2, 9]))
    assert spans.offsets(1, 8).tolist() == [0, 1, 6, 7]


def test_every_type_is_found_by_its_details():
    """Names are in lower case there, and no package is before them."""
    names = [kind.details.lower().split(".")[-1] for kind in KINDS]
    assert [BY_DETAILS[name] for name in names] == list(KINDS)
