"""Limits a caller sets on what hostile bytes may cost, and the memory that metadata takes.

Counts in a file are first held against the bytes that remain. Some legal encodings expand without a
bound in the file (a constant page of 2**40 rows is a few bytes long): there these limits decide,
and `LimitExceeded` names the limit.

A stream of batches holds one at a time; a table holds all. A page of few bytes may expand to any
number of rows, and a file may name it any number of times: so the bytes of a table are held against
the sizes of the files that its rows are read from.

What a message takes is estimated from its bytes and counted before it is parsed. Each file has a
budget of its own, and the files of a table share what goes beyond it.

Clauses: L.codec.limits.expansion, L.wire.message
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from google.protobuf.message import Message

from lanceref.core import message_costs
from lanceref.core.errors import LimitExceeded, Place


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds, each in the unit of its name."""

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

    @property
    def shown(self) -> str:
        """What `expanded` allows, as errors say it."""
        allowed = f"{self.expansion_bytes} bytes and {self.expansion_factor} for each of the files"
        return f"at most {allowed}; limits=Limits(expansion_bytes=...) allows more"


DEFAULT_LIMITS = Limits()
"""The limits used when the caller gives none."""


def refuse_table(held: int, read_bytes: int, limits: Limits, file: str) -> None:
    """Raise LimitExceeded for `held` bytes of a table whose files, named `file`, have fewer."""
    allowed = limits.expanded(read_bytes)
    if held > allowed:
        clause, found = "L.codec.limits.expansion", f"a table of more than {allowed} bytes"
        wanted = f"{limits.shown}; to_batches() streams the rows"
        raise LimitExceeded(clause, Place(file, 0), found, wanted)


UNSEEN_BYTES, UNSEEN_SHARE = 64 * 1024, 20
"""Bytes of messages of a manifest, and share of a data file, below which none is estimated."""

SMALL_FILE_BYTES = 16 * 1024
"""Memory that the metadata of any file may take."""

DEEPEST = 100
"""Messages inside messages that are looked at: the library refuses deeper ones."""


def estimate(data: bytes, type_name: str, most: int) -> int:
    """Return the bytes of memory that a message takes once parsed; some number above `most` if so.

    Bytes that do not parse count as far as they do.
    """
    total, position, end, costs = 0, 0, len(data), message_costs.costs_of(type_name)
    above: list[tuple[int, message_costs.Costs]] = []
    packed: set[bytes] = set()
    try:
        while total <= most:
            if position >= end:
                if not above:
                    break
                end, costs = above.pop()
                continue
            tag = data[position]  # most tags and sizes are one byte
            position += 1
            if tag >= 0x80:
                tag, position = _varint(data, position - 1)
            once, each, width, below = costs.get(tag, message_costs.UNKNOWN)
            total += once
            if tag & 7 == message_costs.VARINT:
                while data[position] >= 0x80:
                    position += 1
                position += 1
                continue
            if tag & 7 != message_costs.LENGTH:
                position += message_costs.FIXED.get(tag & 7, 0)
                continue
            size = data[position]
            position += 1
            if size >= 0x80:
                size, position = _varint(data, position - 1)
            if position + size > end:
                break
            if below is not None and len(above) < DEEPEST:
                above.append((end, costs))
                end, costs = position + size, below
                continue
            if each:
                numbers = data[position : position + size]
                ends = numbers if width else numbers.translate(None, message_costs.CONTINUED)
                count = len(ends) // (width or 1)
                total += (message_costs.PACKED_BYTES if numbers in packed else each) * count
                packed.add(numbers)
            position += size
    except IndexError:  # a varint beyond the end
        pass
    return total


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number and the position after it. Raises IndexError beyond the end."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise IndexError(position)


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
        shared = self if self._table is None else self._table
        return self._limits.expansion_bytes - shared._beyond

    def charge(self, cost: int, found: str, place: Place) -> None:
        """Count `cost` bytes of memory. Raises LimitExceeded."""
        shared = self if self._table is None else self._table
        beyond = max(0, self._spent + cost - self._allowed) - max(0, self._spent - self._allowed)
        if beyond > self._room:
            found = f"{found} that takes more memory than the limits allow"
            raise LimitExceeded("L.wire.message", place, found, self._limits.shown)
        self._spent += cost
        shared._beyond += beyond

    def __del__(self) -> None:
        if self._table is not None:
            self._table._beyond -= max(0, self._spent - self._allowed)
            self._table._files[self._name] -= 1
            if not self._table._files[self._name]:
                del self._table._files[self._name]
