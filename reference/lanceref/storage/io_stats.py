"""Requests and bytes that were read and written, counted by store and for the process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class IOStats:
    """Requests and bytes since the counter was made or last reset."""

    read_iops: int = 0
    read_bytes: int = 0
    write_iops: int = 0
    written_bytes: int = 0

    def count_reads(self, requests: int, size_bytes: int) -> None:
        """Count requests, and the bytes that they gave; the process counts them too."""
        self.read_iops += requests
        self.read_bytes += size_bytes
        if self is not PROCESS:
            PROCESS.count_reads(requests, size_bytes)

    def count_write(self, size_bytes: int) -> None:
        """Count one object that was written, and its bytes."""
        self.write_iops += 1
        self.written_bytes += size_bytes

    def incremental(self) -> IOStats:
        """Return what was counted since the last call, and start again from zero."""
        seen = IOStats(self.read_iops, self.read_bytes, self.write_iops, self.written_bytes)
        self.read_iops = self.read_bytes = self.write_iops = self.written_bytes = 0
        return seen


PROCESS = IOStats()
"""Reads of every store and file since the process began."""


def iops_counter() -> int:
    """Return the requests that read, of the process."""
    return PROCESS.read_iops


def bytes_read_counter() -> int:
    """Return the bytes that were read, of the process."""
    return PROCESS.read_bytes
