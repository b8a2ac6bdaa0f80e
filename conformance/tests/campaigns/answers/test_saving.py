"""Saving what the oracle finds."""

from __future__ import annotations

import json

import pytest
from lance_conformance.campaigns.answers.finding import find_both

pytestmark = pytest.mark.oracle

NAMES = [
    "btree-pages-utf8",
    "bitmap-decimal128",
    "zonemap-timestamp_ns",
    "bloomfilter-int64",
    "label-list-large-utf8",
    "ngram-large_utf8",
    "fm-utf8",
    "json-btree-string",
    "rtree-box",
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_is_found(tmp_path, name):
    """By the indices of both, a few questions of each kind."""
    from lance_conformance.campaigns.answers.saving import save_once

    told = save_once(name, tmp_path, 3, 10)
    assert told.startswith("10 questions, ")
    assert "ASTRAY" not in told
    saved = json.loads((tmp_path / name / "questions.json").read_text())
    assert len(saved) == 10
    assert any(one["rows"] for one in saved)
    for score in find_both(name, tmp_path).values():
        assert score.wrong == []
        assert score.asked == 10
    assert save_once(name, tmp_path, 4, 10) == told


def test_an_index_that_the_oracle_does_not_make(tmp_path):
    """Nor does the reference, and nothing is left behind."""
    from lance_conformance.campaigns.answers.saving import save_once

    assert "nor does the reference" in save_once("bloomfilter-float16", tmp_path, 1, 10)
    assert list(tmp_path.iterdir()) == []
