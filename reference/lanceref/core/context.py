"""Context: what one parse knows beside the bytes.

The file's name, the stage of the work, the caller's limits, and two optional collectors: spans (for
`explain`) and findings (for `validate`). Reading, explaining and validating run the same parsers;
only the collectors differ:

* `raise` of a `FormatError`: nothing after it can be trusted; a reader stops, `validate` records it
  and goes on with the next piece (see `piece`);
* `refuse`: a reader stops, `validate` records it and goes on right here;
* `lint`: a clause that binds writers only; a reader does not care, `validate` records it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal

from lanceref.core.errors import BytesError, CorruptPage, FormatError, Place, Stage
from lanceref.core.limits import DEFAULT_LIMITS, Budget, Limits
from lanceref.core.spans import SpanRecorder

Severity = Literal["must", "should", "note"]
"""The level of the clause a finding reports."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken clause: the object `validate` returns for it."""

    clause: str
    severity: Severity
    file: str
    offset: int
    size: int
    found: str
    wanted: str
    message: str


@dataclass(frozen=True, slots=True)
class Context:
    """File name, stage, limits and collectors of one parse.

    `budget` counts the memory of metadata: that of a file while it is parsed, that of the table
    otherwise; None outside of both.

    Rows may be `discarded` afterwards: what is wrong with the values of some is then no fault. The
    files of a table stay open for the next call where it `keeps` their metadata.
    """

    file: str
    stage: Stage = "open"
    limits: Limits = DEFAULT_LIMITS
    spans: SpanRecorder | None = None
    findings: list[Finding] | None = None
    discarded: bool = False
    keeps: bool = True
    budget: Budget | None = None

    @property
    def validating(self) -> bool:
        """Whether broken clauses are collected; checks of cost only `validate` pays ask this."""
        return self.findings is not None

    def at(self, offset: int, size_bytes: int = 0) -> Place:
        """Name a byte range of this file."""
        return Place(self.file, offset, size_bytes, self.stage)

    def during(self, stage: Stage) -> Context:
        """Return this context with another stage, which errors report."""
        return self if stage == self.stage else replace(self, stage=stage)

    def group(
        self, name: str, clause: str = "", value: object = None
    ) -> AbstractContextManager[None]:
        """Nest the spans of the block under `name`; does nothing when no spans are recorded."""
        return nullcontext() if self.spans is None else self.spans.group(name, clause, value)

    def leaf(
        self, start: int, end: int, name: str, kind: str, clause: str = "", value: object = None
    ) -> None:
        """Record an owning span when spans are recorded."""
        if self.spans is not None:
            self.spans.leaf(start, end, name, kind, clause, value)

    def refuse(self, error: BytesError) -> None:
        """Raise `error` when reading; record it and return when validating."""
        if self.findings is None:
            raise error
        self._record(error, "must")

    def reject(self, clause: str, place: Place, found: object, wanted: object) -> None:
        """Raise a FormatError when reading; record it and return when validating."""
        self.refuse(FormatError(clause, place, found, wanted))

    def lint(
        self, clause: str, place: Place, found: object, wanted: object, severity: Severity = "must"
    ) -> None:
        """Record a broken writer clause when validating; a reader goes on."""
        if self.findings is not None:
            self._record(FormatError(clause, place, found, wanted), severity)

    @contextmanager
    def piece(self) -> Iterator[None]:
        """Run a block that can fail alone: when validating, its error is recorded and ends it."""
        try:
            yield
        except BytesError as error:
            if self.findings is None:
                raise
            self._record(error, "must")

    def _record(self, error: BytesError, severity: Severity) -> None:
        """Add a finding; once there are as many as there may be, only the first of each clause."""
        findings, most, place = self.findings, self.limits.findings, error.place
        assert findings is not None
        if len(findings) >= most and error.clause in {one.clause for one in findings[most:]}:
            return
        at, found, wanted = (place.file, place.offset, place.size_bytes), error.found, error.wanted
        findings.append(Finding(error.clause, severity, *at, str(found), str(wanted), str(error)))


def expect(
    clause: str, found: object, wanted: object, place: Place, error: type[BytesError] = CorruptPage
) -> None:
    """Raise `error` for a clause unless `found` equals `wanted`."""
    if found != wanted:
        raise error(clause, place, found, wanted)
