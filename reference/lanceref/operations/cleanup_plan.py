"""Cleanup plans: what a cleanup of old versions takes away, before and after it does (face).

Has the names of pylance's statistics and explanations of `LanceDataset.cleanup_old_versions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from lanceref.storage import Entry
from lanceref.table.bases import DATA_FOLDER
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.orphan_files import INDICES, TRANSACTIONS

KINDS = {
    DATA_FOLDER: "data",
    TRANSACTIONS: "transaction",
    INDICES: "index",
    DELETIONS: "deletion",
}
"""Kinds of files by the folder they lie in."""


@dataclass(frozen=True, slots=True)
class CleanupStats:
    """What a cleanup takes away."""

    bytes_removed: int
    old_versions: int
    data_files_removed: int
    transaction_files_removed: int
    index_files_removed: int
    deletion_files_removed: int
    failed_deletes: int = 0

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {value}" for name, value in asdict(self).items())
        return f"CleanupStats {{ {shown} }}"


@dataclass(frozen=True, slots=True)
class CleanupCandidateFile:
    """A file that goes; `unverified` says that no version ever needed it."""

    path: str
    kind: str
    unverified: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CleanupReferencedBranch:
    """A branch whose first version may need files of the table."""

    name: str
    referenced_version: int
    cleanup_candidate: bool


@dataclass(frozen=True, slots=True)
class CleanupExplanation:
    """What a cleanup would take away from a version, and the first of the files."""

    read_version: int
    stats: CleanupStats
    candidate_files: Sequence[CleanupCandidateFile]
    candidate_files_truncated: bool
    candidate_file_limit: int
    referenced_branches: Sequence[CleanupReferencedBranch]
    warnings: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CleanupPlan:
    """Manifests that go, with their sizes, other files, and those that no version ever needed."""

    manifests: Mapping[str, int]
    files: Sequence[Entry]
    unverified: frozenset[str]

    @property
    def stats(self) -> CleanupStats:
        """What goes, counted."""
        counts = Counter(entry.path.split("/")[0] for entry in self.files)
        return CleanupStats(
            bytes_removed=sum(entry.size for entry in self.files) + sum(self.manifests.values()),
            old_versions=len(self.manifests),
            data_files_removed=counts[DATA_FOLDER],
            transaction_files_removed=counts[TRANSACTIONS],
            index_files_removed=counts[INDICES],
            deletion_files_removed=counts[DELETIONS],
        )

    @property
    def candidates(self) -> list[CleanupCandidateFile]:
        """Each file that goes, paths below the root of the table, manifests last."""
        others = [
            CleanupCandidateFile(
                entry.path,
                KINDS.get(entry.path.split("/")[0], "other"),
                entry.path in self.unverified,
                entry.size,
            )
            for entry in self.files
        ]
        manifests = self.manifests.items()
        return others + [CleanupCandidateFile(path, "manifest", False, n) for path, n in manifests]
