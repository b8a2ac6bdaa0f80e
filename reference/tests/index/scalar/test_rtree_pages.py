"""RTREE pages: levels and boxes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage
from lanceref.index.scalar.rtree import Level, boxes_around, levels_of, whole_box

from ..tables import write
from .geometries import column


def test_worked_levels():
    """698 boxes in pages of 8: 88, 11, 2 and 1 pages, 799 rows."""
    levels = levels_of(698, 8)
    assert levels == [Level(0, 698, 0), Level(698, 88, 88), Level(786, 11, 99), Level(797, 2, 101)]
    assert sum(level.rows for level in levels) == 799
    assert levels_of(0, 8) == []
    assert levels_of(8, 8) == [Level(0, 8, 0)]


@given(st.integers(1, 5000), st.integers(2, 50))
def test_every_level_has_a_box_for_each_page_below(items, size):
    """The last fits one page."""
    levels = levels_of(items, size)
    for below, level in pairwise(levels):
        assert level.rows == -(-below.rows // size)
        assert level.start == below.start + below.rows
        assert level.first_page == below.first_page + level.rows
    assert levels[-1].rows <= size


def test_the_box_of_a_page_is_around_all_of_its_boxes():
    """The last page may have fewer."""
    boxes = np.array([[0, 0, 1, 1], [-1, 2, 0, 3], [5, 5, 6, 6]], np.float64)
    assert boxes_around(boxes, np.array([0, 2])).tolist() == [[-1, 0, 1, 3], [5, 5, 6, 6]]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"minx":[],"miny":0,"maxx":0,"maxy":0}', "[" * 9999]
)
def test_the_box_of_all_is_four_numbers(tmp_path, text):
    """Null for one that is not finite."""
    dataset = write(column("geoarrow.point", 3), tmp_path)
    dataset.create_scalar_index("g", "RTREE")
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    file = segment.file("page_data.lance")
    file.metadata["bbox"] = '{"minx":null,"miny":1,"maxx":2.5,"maxy":null}'
    assert whole_box(file)[1:3].tolist() == [1, 2.5]
    file.metadata["bbox"] = text
    with pytest.raises(CorruptPage) as caught:
        whole_box(file)
    assert caught.value.clause == "L.index.files.metadata"
