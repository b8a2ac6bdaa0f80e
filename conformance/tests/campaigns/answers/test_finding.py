"""Finding saved answers, without the oracle."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pylanceref
import pylanceref.indices
import pytest
from lance_conformance.campaigns.answers.finding import find, find_both, metered
from lance_conformance.campaigns.answers.subjects import OURS, THEIRS, named

SUBJECT = named("btree-int8")
QUESTIONS = {"c = 3": [3], "c > 97": [98, 99], "c is null": []}


@pytest.fixture
def folder(tmp_path):
    """Two tables with an index, and what is right."""
    for name in (THEIRS, OURS):
        path = tmp_path / SUBJECT.name / name
        dataset = pylanceref.write_dataset(pa.table({"c": pa.array(range(100), pa.int8())}), path)
        dataset.create_scalar_index("c", pylanceref.indices.IndexConfig("btree", {}))
    saved = [
        {"condition": k, "rows": v, "asked": True, "astray": [], "loses": False}
        for k, v in QUESTIONS.items()
    ]
    (tmp_path / SUBJECT.name / "questions.json").write_text(json.dumps(saved))
    return tmp_path


def test_right_answers_from_the_index_alone(folder):
    """The index is read, the data is not."""
    for score in find_both(SUBJECT.name, folder).values():
        assert (score.asked, score.by_index, score.wrong) == (3, 3, [])
        assert score.index_bytes > 0
        assert score.data_bytes == 0
    assert find_both("btree-int16", folder) == {}


def test_other_rows_are_wrong(folder):
    """So is an index that is not asked, or one beside which all data is read."""
    path = folder / SUBJECT.name / OURS
    pylanceref.dataset(path).insert(pa.table({"c": pa.array([3], pa.int8())}))
    wrong = find(SUBJECT, path).wrong
    assert wrong[0].startswith("c = 3: 2 rows, not 1")
    assert any("bytes of data are read" in one for one in wrong)
    pylanceref.dataset(path).drop_index("c_idx")
    assert any(one.endswith("the index is not asked") for one in find(SUBJECT, path).wrong)
    scan = metered(pylanceref.dataset(path), "c = 3", use_index=False)
    assert scan[1] == 0 < scan[2]


def test_an_index_that_leaves_all_rows_to_be_looked_at_is_told(folder, monkeypatch):
    """Of one that is not exact a part of the data is read, not all."""
    monkeypatch.setattr(
        "lance_conformance.campaigns.answers.finding.metered", lambda *_, use_index: ([3], 9, 50)
    )
    assert find(replace(SUBJECT, exact=False), folder / SUBJECT.name / OURS).wrong[-1] == (
        "all data is read: 150 of 150 bytes"
    )
