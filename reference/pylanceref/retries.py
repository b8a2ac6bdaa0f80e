"""Retries: an edit that conflicts with another commit is made again (face)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

from lanceref.core.errors import CommitConflictError
from lanceref.core.file_versions import FileVersion, version_named
from lanceref.transactions.manifest_builder import storage_version_of

from pylanceref.table_handle import OpenTable

CONFLICT_RETRIES = 10
RETRY_TIMEOUT = timedelta(seconds=30)
PAUSE_SECONDS = 0.05

R = TypeVar("R")


class Retrying(OpenTable):
    """A table whose edits are made again after a conflict."""

    def _file_version(self, named: str | None) -> FileVersion:
        """Return the file version of an edit, also when it is made again. Raises ValueError.

        It is the one that is named, else that of the table as the edit finds it first.
        """
        if named is None:
            return storage_version_of(self._snapshot.manifest.message)
        return version_named(named)

    def _field_ids(self, names: Iterable[str]) -> list[int]:
        """Return the ids of top-level fields and all below them, in the order of the schema."""
        chosen = set(names)
        tops = self._snapshot.manifest.schema.fields
        return [one.id for top in tops if top.name in chosen for one in top.flat()]

    def _again(
        self, attempt: Callable[[], R], conflict_retries: int, retry_timeout: timedelta
    ) -> R:
        """Run an edit, again from the latest version where a conflict asks for it."""
        end = time.monotonic() + retry_timeout.total_seconds()
        for number in range(conflict_retries):
            try:
                return attempt()
            except CommitConflictError as conflict:
                if not conflict.retryable or time.monotonic() > end:
                    raise
            time.sleep(random.uniform(0, PAUSE_SECONDS * 2 ** min(number, 5)))
            self._move_to(None)
        return attempt()
