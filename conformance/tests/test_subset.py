"""Subset: what `SUITE.json` of some cases keeps of the whole suite."""

import json

from lance_conformance import subset

FULL = {"suite": "1", "cases": {"a": "1", "b": "2", "c": "3"}}
COUNTS = {"core": 2, "format": 2, "unstable": 1, "all": 3}


def test_a_subset_keeps_every_id_and_the_counts_of_the_whole(tmp_path):
    """Also when it is taken from a subset, whose own counts are lower."""
    first = subset.document(FULL, ["b", "a"], COUNTS)
    second = subset.document(first, ["a"], {"core": 1, "all": 1})
    (tmp_path / "SUITE.json").write_text(json.dumps(second))
    whole = subset.whole(tmp_path)

    assert ["a", "b"] == first["subset"]["ids"]
    assert [1, 3] == [second["subset"]["cases"], second["subset"]["of"]]
    assert (("a", "b", "c"), COUNTS, 1) == (whole.ids, whole.profiles, whole.num_cases)


def test_a_whole_suite_is_none(tmp_path):
    """Nor is a folder without SUITE.json."""
    assert subset.whole(tmp_path) is None
    (tmp_path / "SUITE.json").write_text(json.dumps(FULL))
    assert subset.whole(tmp_path) is None
