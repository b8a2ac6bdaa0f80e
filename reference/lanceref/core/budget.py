"""Budget: what the metadata of a file or table may take in memory, and what is left of it.

The rule is that of `Limits`: `expansion_bytes`, and `expansion_factor` bytes for each byte of the
files that are open. A `Budget` belongs to one file and counts all its messages; those of the files
of a table share the `expansion_bytes` of the table. What a file takes is given back when it is
closed.

Clauses: L.wire.message
"""

from __future__ import annotations

from collections import Counter

from google.protobuf.message import Message

from lanceref.core.errors import LimitExceeded, Place
from lanceref.core.limits import Limits
from lanceref.core.wire_memory import estimate

UNSEEN_BYTES = 64 * 1024
"""Bytes of messages of a manifest that are not looked at: even the worst take little."""

UNSEEN_SHARE = 20
"""Messages of this part of a data file are not looked at: the file allows for the worst."""

SMALL_FILE_BYTES = 16 * 1024
"""Memory that the metadata of any file may take."""


class Budget:
    """The memory for the messages of one file, or for those of all files of a table."""

    def __init__(self, limits: Limits, size_bytes: int = 0, unseen_bytes: int = 0) -> None:
        self._limits = limits
        self._allowed = limits.expansion_factor * size_bytes
        self._unseen = unseen_bytes
        self._spent = self._beyond = 0
        self._files: Counter[str] = Counter()
        self._table: Budget | None = None
        self._manifest: Budget | None = None
        self._name = ""

    def of_file(self, name: str, size_bytes: int) -> Budget:
        """Return the budget of a data file of the table."""
        return self._of(name, size_bytes, size_bytes // UNSEEN_SHARE)

    def of_manifest(self, name: str, size_bytes: int) -> Budget:
        """Return the budget of the manifest, which stays as long as that of the table."""
        self._manifest = self._of(name, size_bytes, UNSEEN_BYTES)
        return self._manifest

    def _of(self, name: str, size_bytes: int, unseen_bytes: int) -> Budget:
        """Make the budget of a file; one that is open twice counts its bytes once."""
        again = self._files[name] > 0
        made = Budget(self._limits, 0 if again else size_bytes, 0 if again else unseen_bytes)
        made._allowed += 0 if again else SMALL_FILE_BYTES
        made._table, made._name = self, name
        self._files[name] += 1
        return made

    def admit(self, data: bytes, cls: type[Message], place: Place) -> None:
        """Count a message before it is parsed. Raises LimitExceeded."""
        if self._table is None:  # of no file: it is soon let go of
            if len(data) > UNSEEN_BYTES:
                self._of("", len(data), 0).admit(data, cls, place)
            return
        if len(data) <= self._unseen:
            self._unseen -= len(data)
            return
        descriptor = cls.DESCRIPTOR
        cost = estimate(data, descriptor.full_name, self._room + self._allowed - self._spent)
        self.charge(cost, f"a {descriptor.full_name} of {len(data)} bytes", place)

    @property
    def _room(self) -> int:
        """Bytes of the table's own allowance that are left."""
        shared = self if self._table is None else self._table
        return self._limits.expansion_bytes - shared._beyond

    def charge(self, cost: int, found: str, place: Place) -> None:
        """Count `cost` bytes of memory. Raises LimitExceeded."""
        shared = self if self._table is None else self._table
        beyond = max(0, self._spent + cost - self._allowed) - max(0, self._spent - self._allowed)
        if beyond > self._room:
            raise too_much(found, self._limits, place)
        self._spent += cost
        shared._beyond += beyond

    def __del__(self) -> None:
        if self._table is not None:
            self._table._beyond -= max(0, self._spent - self._allowed)
            self._table._files[self._name] -= 1
            if not self._table._files[self._name]:
                del self._table._files[self._name]


def too_much(found: str, limits: Limits, place: Place) -> LimitExceeded:
    """Return the error of metadata that takes too much memory."""
    return LimitExceeded(
        "L.wire.message",
        place,
        found=f"{found} that takes more memory than the limits allow",
        wanted=(
            f"at most {limits.expansion_bytes} bytes and {limits.expansion_factor} for each byte "
            "of the file; limits=Limits(expansion_bytes=...) allows more"
        ),
    )
