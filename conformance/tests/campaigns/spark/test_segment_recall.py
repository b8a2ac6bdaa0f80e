"""Segments are asked beside an index that was built at once."""

from lance_conformance.campaigns import recall_data
from lance_conformance.campaigns.spark import segment_recall
from lanceref_spark.jobs import Loop


def test_every_way_is_asked_and_one_that_finds_less_is_named(tmp_path, monkeypatch):
    """All four indices of a type are built; where none is good enough, three are wrong."""
    monkeypatch.setattr(recall_data, "QUERIES", 10)
    monkeypatch.setattr(segment_recall, "TYPES", {"IVF_FLAT": {}})
    monkeypatch.setattr(segment_recall, "WORSE", -1.0)
    told, wrong = segment_recall.recall(Loop(), tmp_path, 400)
    assert told.count(".") == 4
    assert [line.partition(": ")[0] for line in wrong] == [
        "IVF_FLAT, a shared model",
        "IVF_FLAT, merged",
        "IVF_FLAT, models of their own",
    ]
