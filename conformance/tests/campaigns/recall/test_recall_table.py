"""Table of the recall campaign: means over builds, and what is too little."""

import pytest
from lance_conformance.campaigns.recall.recall_table import Measured, table

OVERS = ("oracle", "given", "ours")


def build(ours: float, given: float) -> list[Measured]:
    """Return what is measured of one build, by the oracle always 0.9."""
    recalls = {"oracle": 0.9, "given": given, "ours": ours}
    return [
        Measured(over, by, refine, recalls[over], 2.0)
        for over in OVERS
        for by in ("oracle", "ours")
        for refine in (None, 4)
    ]


def test_means_over_builds():
    """Of 0.89 and 0.93 it is 0.91, once without refining and once with."""
    first, second = table("IVF_SQ", [build(0.89, 0.9), build(0.93, 0.9)]).splitlines()
    assert first.split() == ["IVF_SQ", "-", *["0.9000"] * 4, *["0.9100"] * 2, "2.00", "2.00"]
    assert second.split()[1] == "4"


@pytest.mark.parametrize(
    ("ours", "given", "builds", "good"),
    [
        (0.885, 0.895, 5, True),
        (0.875, 0.9, 5, False),
        (0.875, 0.9, 4, True),
        (0.9, 0.885, 5, False),
        (0.9, 0.885, 1, False),
    ],
)
def test_too_low_a_recall_is_marked(ours, given, builds, good):
    """0.01 less is allowed with the same model, 0.02 over five builds that were trained apart."""
    lines = table("IVF_SQ", [build(ours, given)] * builds)

    assert lines.endswith("below") is not good
