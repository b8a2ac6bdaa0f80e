"""What a cleanup takes away."""

from __future__ import annotations

from lanceref.operations.cleanup import CleanupPlan, CleanupStats
from lanceref.storage import Entry

PLAN = CleanupPlan(
    {"_versions/1.manifest": 10},
    [
        Entry("data/a.lance", 1, 0.0),
        Entry("_deletions/0-1-2.bin", 2, 0.0),
        Entry("_indices/u/page_data.lance", 3, 0.0),
        Entry("_transactions/0-u.txn", 4, 0.0),
        Entry("tree/b/_versions/x", 5, 0.0),
    ],
)


def test_files_are_counted_by_their_folders():
    """Their bytes all together; what lies elsewhere is in no other number."""
    assert CleanupStats(25, 1, 1, 1, 1, 1) == PLAN.stats
