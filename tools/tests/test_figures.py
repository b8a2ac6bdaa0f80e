"""Figures: boxes are the spans of a file, and follow its bytes."""

import figures
import pytest
from figures import Box, Figure
from lanceref.core.spans import Span
from sources import ROOT


def test_boxes_lie_in_the_order_of_the_file_and_inside_their_groups():
    """Tags are left out, groups hold what is in them as deep as is asked for."""
    leaves = [Span(4, 8, "b", "u32", "", 7), Span(0, 4, "a", "u32", "", 5)]
    tag = Span(0, 1, "tag", "proto tag")
    group = Span(0, 0, "pair: Pair", "group", children=[*leaves, tag])

    (box,) = figures.boxes([group], 2)

    assert ("pair", 0, 8) == (box.name, box.start, box.end)
    assert (Box("a = 5", 0, 4), Box("b = 7", 4, 8)) == box.inside
    assert () == next(figures.boxes([group], 1)).inside


def test_many_alike_are_cut():
    """After six of a name a box of dots stands for the rest."""
    rows = [Span(at, at + 1, f"row {at}", "u8") for at in range(9)]

    names = [box.name for box in figures.boxes(rows, 1)]

    assert [*(f"row {at}" for at in range(6)), "..."] == names


def test_a_drawing_has_offsets_and_sizes():
    """The footer of a case: its place, its words."""
    drawn = figures.draw(figures.FIGURES["10-file-container"], ROOT)

    assert "<title>A data file: data first, its end describes it</title>" in drawn
    assert ">cmo_start = 276<" in drawn
    assert ">308<" in drawn
    assert ">40 bytes<" in drawn


def test_a_figure_of_no_file_is_an_error():
    """A glob must name one file."""
    with pytest.raises(ValueError, match="0 files"):
        figures.draw(Figure("file/2.0/container/footer-2-0", "none.lance", "t"), ROOT)
