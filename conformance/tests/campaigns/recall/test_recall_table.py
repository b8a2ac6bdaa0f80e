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
    ("ours", "given", "good"), [(0.885, 0.895, True), (0.875, 0.9, False), (0.9, 0.885, False)]
)
def test_too_little_is_said(ours, given, good):
    """Trained apart 0.02 less is allowed, with the same model 0.01."""
    assert table("IVF_SQ", [build(ours, given)]).endswith("below") is not good
