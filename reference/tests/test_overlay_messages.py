"""Overlay files as values, messages and JSON."""

from __future__ import annotations

import json

import pylanceref
import pytest
from pylanceref.bitmap import Bitmap
from pylanceref.metadata import DataFile, FragmentMetadata
from pylanceref.operation import LanceOperation as Op

from tests.overlaid import overlay, table

FILE = DataFile("x.lance", [0, 1], [0, 1], 2, 1, 9)


@pytest.mark.parametrize(
    ("offsets", "wanted"),
    [
        ([3, 1], [1, 3]),
        (range(2), [0, 1]),
        (Bitmap([5]), [5]),
        ([[2], Bitmap([0, 1])], [[2], [0, 1]]),
    ],
)
def test_offsets_come_back_in_order(offsets, wanted):
    """One set, or one for each field."""
    found = Op.DataOverlayFile.from_message(Op.DataOverlayFile(FILE, offsets, 4).to_message())

    assert wanted == [list(one) if isinstance(one, Bitmap) else one for one in found.offsets]
    assert (FILE, 4) == (found.data_file, found.committed_version)


@pytest.mark.parametrize(
    ("offsets", "error", "text"),
    [
        (3, ValueError, "must be an iterable of ints"),
        ([1, 1], ValueError, "1 appears more than once"),
        ([-1], ValueError, "unsigned 32-bit integer, got -1"),
        ([2**32], ValueError, "unsigned 32-bit"),
        ("ab", TypeError, "'str' object cannot be interpreted"),
        ([[1], 2], ValueError, "must be an iterable of ints"),
    ],
)
def test_what_is_no_offset_is_refused(offsets, error, text):
    """As pylance refuses it."""
    with pytest.raises(error, match=text):
        Op.DataOverlayFile(FILE, offsets).to_message()


def test_metadata_of_a_fragment_has_its_overlays(tmp_path):
    """Also as JSON, and what is made of that is the same message."""
    made = overlay(table(tmp_path / "t"), [[1], [2]], {"a": [7], "s": ["x"]}, [0, 1])
    held = pylanceref.dataset(made.uri).get_fragments()[0].metadata
    again = FragmentMetadata.from_json(json.dumps(held.to_json()))

    assert [[[1], [2]]] == [one["offsets"] for one in held.to_json()["overlays"]]
    assert held.to_message() == again.to_message()
    assert 1 == len(again.to_message().overlays)
