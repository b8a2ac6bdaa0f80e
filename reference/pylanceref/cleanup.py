"""Cleanup of versions: the names of pylance's `LanceDataset.cleanup_old_versions`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from lanceref.core.errors import CleanupRefused
from lanceref.core.integers import unsigned
from lanceref.operations.cleanup import Cleanup
from lanceref.operations.cleanup_plan import CleanupExplanation, CleanupPlan, CleanupStats

from pylanceref.table_handle import OpenTable

DEFAULT_AGE = timedelta(days=14)
"""Versions older than this go, unless the caller says otherwise."""


class CleanupOfVersions(OpenTable):
    """The housekeeping of a dataset."""

    def cleanup_old_versions(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
        delete_rate_limit: int | None = None,
        versions: Sequence[int] | None = None,
        delete_concurrency: int | None = None,
    ) -> CleanupStats:
        """Remove old versions and the files only they need.

        A version goes when it is older than the open one and than `older_than` and not among the
        latest `retain_versions`, or listed in `versions`. At most `delete_rate_limit` files go in a
        second, one after the other whatever `delete_concurrency` says. Raises CleanupRefused for a
        version with a tag and for a number below 1.
        """
        if delete_rate_limit is not None and unsigned(delete_rate_limit) == 0:
            raise CleanupRefused("delete_rate_limit must be greater than 0, got 0")
        if delete_concurrency is not None and not 0 < unsigned(delete_concurrency) < 2**61:
            raise CleanupRefused(
                f"delete_concurrency must be between 1 and {2**61 - 1}, got {delete_concurrency}"
            )
        plan = self._asked(
            older_than,
            retain_versions,
            versions,
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )
        return self._cleanup().carry_out(plan, delete_rate_limit)

    def explain_cleanup_old_versions(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        *,
        delete_unverified: bool = False,
        error_if_tagged_old_versions: bool = True,
        delete_rate_limit: int | None = None,
        versions: Sequence[int] | None = None,
        include_files: bool = False,
        max_files: int = 1000,
    ) -> CleanupExplanation:
        """Return what a cleanup with the same arguments would remove; up to `max_files` are named.

        Raises as `cleanup_old_versions`, and ValueError for no files at most.
        """
        if max_files <= 0:
            raise ValueError("max_files must be positive")
        plan = self._asked(
            older_than,
            retain_versions,
            versions,
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )
        files = plan.candidates if include_files else []
        cut = len(files) > max_files
        return CleanupExplanation(
            self.version, plan.stats, files[:max_files], cut, max_files, self._cleanup().branches
        )

    def _asked(
        self,
        older_than: timedelta | None,
        retain_versions: int | None,
        versions: Sequence[int] | None,
        *,
        delete_unverified: bool,
        error_if_tagged_old_versions: bool,
    ) -> CleanupPlan:
        """Return what a cleanup takes away. Raises CleanupRefused."""
        if older_than is None and retain_versions is None and versions is None:
            older_than = DEFAULT_AGE
        if retain_versions is not None and unsigned(retain_versions) == 0:
            raise CleanupRefused(
                "Invalid user input: retain_versions must be greater than 0, got 0"
            )
        return self._cleanup().plan(
            older_than,
            retain_versions,
            versions,
            delete_unverified=delete_unverified,
            error_if_tagged_old_versions=error_if_tagged_old_versions,
        )

    def _cleanup(self) -> Cleanup:
        return Cleanup(self._snapshot, self._root)
