"""Texts for people: the metadata of a fragment."""

from __future__ import annotations

import pyarrow as pa
from pylanceref.debug import format_fragment

from .sql.written import write


def test_a_fragment_is_shown_with_its_files(tmp_path):
    """The version of the file format is named for each file."""
    dataset = write(pa.table({"i": [1, 2]}), tmp_path)
    (fragment,) = dataset.get_fragments()

    assert "file_major_version: 2\n" in format_fragment(fragment.metadata, dataset)
