"""Commit: the names pylance's `lance.commit` has (face)."""

from __future__ import annotations

from lanceref.core.errors import CommitConflictError
from lanceref.storage import CommitLock

__all__ = ["CommitConflictError", "CommitLock"]
