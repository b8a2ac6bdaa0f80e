"""Offset tables."""

import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import Truncated
from lanceref.file.container import parse_offsets

from .files import u64


def test_entries_are_position_and_size():
    """Two entries of sixteen bytes."""
    cursor = Cursor(memoryview(u64(159, 117, 276, 5)), 0, Context("f"))

    assert [Extent(159, 117), Extent(276, 5)] == parse_offsets(cursor, 2, "CMO", "L.file.cmo.entry")


def test_a_count_beyond_the_bytes_is_refused_at_once():
    """2**32 entries on 16 bytes: refused before anything is sized by the count."""
    cursor = Cursor(memoryview(u64(1, 2)), 0, Context("f"))

    with pytest.raises(Truncated) as caught:
        parse_offsets(cursor, 2**32, "CMO", "L.file.cmo.entry")
    assert "L.file.cmo.entry" == caught.value.clause
