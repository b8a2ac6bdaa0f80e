"""Commit: the names pylance's `lance.commit` has (face)."""

from __future__ import annotations

from lanceref.errors import CommitConflict
from lanceref.txn.commit import CommitLock

CommitConflictError = CommitConflict
"""A concurrent commit stands in the way of ours; `retryable` says whether to try again."""

__all__ = ["CommitConflictError", "CommitLock"]
