"""Opened vector indices."""

from __future__ import annotations

from .indexed import opened, points, write


def test_partitions_are_opened_as_they_are_asked_for(tmp_path):
    """Each has its rows once; together they have all."""
    dataset = write(points(), tmp_path)
    dataset.create_index("v", "IVF_FLAT", num_partitions=4)
    index = opened(dataset)
    parts = [index.partition(number) for number in range(4)]
    assert parts[1] is index.partition(1)
    keys = sorted(key for part in parts for key in part.keys.tolist())
    assert (
        sorted(
            number << 32 | n for number, rows in ((0, 250), (1, 250), (2, 100)) for n in range(rows)
        )
        == keys
    )
    assert [len(part.keys) for part in parts] == [len(part.rows.points()) for part in parts]


def test_statistics(tmp_path):
    """They have the type, and the sizes of the partitions."""
    dataset = write(points(), tmp_path)
    dataset.create_index("v", "IVF_FLAT", num_partitions=4, metric="dot")
    found = dataset.index_statistics("v_idx")
    assert "IVF_FLAT" == found["index_type"]
    (segment,) = found["indices"]
    assert (4, "dot") == (segment["num_partitions"], segment["metric_type"])
    assert 600 == sum(one["size"] for one in segment["partitions"])
    assert {"dim": 8, "index_type": "FLAT", "metric_type": "dot"} == segment["sub_index"]
