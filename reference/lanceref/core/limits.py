"""Limits a caller sets on what hostile bytes may cost.

Counts in a file are first held against the bytes that remain. Some legal encodings expand without a
bound in the file (a constant page of 2**40 rows is a few bytes long): there these limits decide,
and `LimitExceeded` says which one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds, each in the unit its name says."""

    page_rows: int = 2**31
    """Rows, items or levels one page may claim."""

    expansion_bytes: int = 48 * 2**20
    """Bytes that a run may expand to without regard to the size of the file that holds it."""

    expansion_factor: int = 16
    """Bytes of output allowed per byte of file, on top of `expansion_bytes`."""

    depth: int = 64
    """Nesting depth of types, encodings and messages."""

    findings: int = 10_000
    """Findings of one validation; of what follows the first of each clause is kept."""

    def expanded(self, file_bytes: int) -> int:
        """Return the bytes one run of output may take for a file of `file_bytes`."""
        return self.expansion_bytes + self.expansion_factor * file_bytes


DEFAULT_LIMITS = Limits()
"""The limits used when the caller gives none."""
