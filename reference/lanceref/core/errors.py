"""The error family.

Everything the reference refuses is a `LanceError`. Errors about bytes (`FormatError`) carry the
clause that was broken, the place (file, absolute offset, size, stage), what was found and what was
wanted, as attributes and in the text. Where Python already has the concept, the class derives from
it too, so that callers can catch either.

Texts that quote a query, short enough for a message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

SHOWN = 2000
"""Characters of a text that a message shows."""


def short(text: str) -> str:
    """Return a text with at most `SHOWN` of its characters, all of which UTF-8 can encode."""
    if len(text) > SHOWN:
        half = SHOWN // 2
        text = f"{text[:half]} [{len(text) - SHOWN} characters] {text[-half:]}"
    return text.encode(errors="backslashreplace").decode()


Stage = Literal["open", "metadata", "plan", "decode", "commit"]
"""Where in its work a reader stood when it refused: the words of the runner protocol."""


@dataclass(frozen=True, slots=True)
class Place:
    """A byte range of a file (absolute `offset`, `size_bytes`), and the stage that looked at it."""

    file: str
    offset: int
    size_bytes: int = 0
    stage: Stage = "open"

    def __str__(self) -> str:
        return f"{self.file} at byte {self.offset}"


class LanceError(Exception):
    """Base of every refusal of the reference. Goes whole from one process to another."""

    stage: Stage = "open"
    kind = "other"
    """Word for the fault in the runner protocol."""

    def __init_subclass__(cls, kind: str | None = None) -> None:
        cls.kind = kind or cls.kind

    def __reduce__(self) -> tuple[Callable[..., LanceError], tuple[object, ...], dict[str, object]]:
        return _revived, (type(self), *self.args), self.__dict__


def _revived(cls: type[LanceError], *args: object) -> LanceError:
    """Make an error again from what it was pickled as; its attributes follow."""
    made = cls.__new__(cls, *args)
    made.args = args  # what `OSError` leaves to `__init__`
    return made


class BytesError(LanceError):
    """A refusal that is about bytes: the common part of the classes below.

    `clause` is the id of the clause that decides, `place` where the bytes lie, `found` and `wanted`
    what they hold and what the clause asks for.
    """

    def __init__(self, clause: str, place: Place, found: object, wanted: object) -> None:
        self.clause, self.place, self.stage = clause, place, place.stage
        self.found, self.wanted = found, wanted
        super().__init__(f"{place}: found {found}, wanted {wanted} [{clause}]")

    @property
    def file(self) -> str:
        """The name of the file that holds the faulty bytes."""
        return self.place.file

    @property
    def offset(self) -> int:
        """Absolute offset of the first byte concerned."""
        return self.place.offset

    @property
    def span(self) -> tuple[int, int]:
        """Absolute (start, end) of the bytes concerned."""
        return self.place.offset, self.place.offset + self.place.size_bytes


class FormatError(BytesError, ValueError):
    """Bytes break a clause of the format."""


class Truncated(FormatError, kind="truncated"):
    """A length or a position promises more bytes than the file has."""


class BadMagic(FormatError, kind="bad_magic"):
    """A file does not end with the magic bytes `LANC`."""


class OutOfRange(FormatError, kind="out_of_range"):
    """An offset, length, count or index lies beyond its container."""


class BadProto(FormatError, kind="bad_proto"):
    """A protobuf message cannot be parsed from its bytes."""


class BadSchema(FormatError, kind="schema"):
    """Fields, types or ids of a schema contradict each other."""


class CorruptPage(FormatError, kind="corrupt_page"):
    """The content of a page contradicts its description."""


class Unsupported(BytesError, NotImplementedError):
    """Legal bytes that this reader does not know; `found` names the feature."""

    @property
    def feature(self) -> str:
        """What this implementation does not support, for the `unsupported` answer."""
        return str(self.found)


class UnknownVersion(Unsupported, kind="bad_version"):
    """A format version this reader does not know."""


class UnknownEncoding(Unsupported, kind="unknown_encoding"):
    """An encoding this reader does not know."""


class UnknownFlag(Unsupported, kind="unknown_flag"):
    """A feature flag this reader does not know."""


class UnknownIndex(Unsupported):
    """An index type or version this reader does not know."""


class CommitConflictError(LanceError, OSError, kind="conflict"):
    """A commit that cannot be made; `retryable` says whether it can be from a newer version."""

    stage: Stage = "commit"

    def __init__(self, message: str = "", retryable: bool = True) -> None:
        super().__init__(message or type(self).__name__)
        self.retryable = retryable


class CommitConflict(CommitConflictError):
    """A concurrent commit that ours cannot follow."""

    def __init__(self, ours: str, theirs: str, version: int, *, retryable: bool) -> None:
        self.ours, self.theirs, self.version = ours, theirs, version
        begins, how, ends = "Incompatible transaction", "is incompatible with", ""
        if retryable:
            begins, how = f"Retryable commit conflict for version {version}", "was preempted by"
            ends = " Please retry."
        mine, other = (  # operations in the spelling of messages; other words stay
            one.title().replace("_", "") if one.islower() and " " not in one else one
            for one in (ours, theirs)
        )
        message = f"{begins}: This {mine} transaction {how} concurrent transaction {other}"
        super().__init__(f"{message} at version {version}.{ends}", retryable)


class RetriesExhausted(CommitConflictError):
    """Every attempt to commit met a commit of another writer."""

    def __init__(self, ours: str, version: int, retries: int) -> None:
        self.version = version
        super().__init__(
            f"Commit conflict for version {version}: {ours} met others after {retries} retries"
        )


class SchemaRefused(LanceError, OSError, RuntimeError, ValueError, kind="schema"):
    """A schema that the format cannot describe, or that does not fit that of the table."""


class OperationRefused(LanceError, OSError, ValueError):
    """An operation that cannot be carried out as asked, or does not fit the table."""


_REFUSED = "Invalid user input: "


class QueryRefused(LanceError, OSError, ValueError):
    """A filter or expression that cannot be understood, or does not fit the table.

    pylance raises `ValueError` here, and `OSError` where only rows are counted.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(f"{_REFUSED}{short(message.removeprefix(_REFUSED))}")


class QueryFailed(LanceError, pa.ArrowInvalid):  # type: ignore[misc]
    """A filter or expression that fails on the values of a row, such as a division by zero."""

    def __init__(self, message: str = "") -> None:
        super().__init__(short(message))


class EditFailed(LanceError, OSError):
    """An edit that fails on the values of a row: pylance raises `OSError` here."""


class NotYet(LanceError, NotImplementedError):
    """Something that pylance can do and this implementation cannot do yet."""


class AlreadyExists(LanceError, OSError):
    """A table exists where one is to be created."""


class DataRefused(LanceError, OSError, RuntimeError, ValueError):
    """Rows that do not fit the schema they are written under, or text that is no JSON."""


class NotStorable(LanceError, OSError, NotImplementedError):
    """Rows or types that the chosen file version cannot hold: pylance raises either class."""


class LimitExceeded(BytesError, kind="limit"):
    """Reading on would need more memory or time than the caller's `Limits` allow."""


class StoreFailed(LanceError, OSError, ValueError):
    """An object store, or one of manifests, did not do what it was asked for."""


class Unconditional(StoreFailed):
    """A store that cannot write an object on condition that it does not exist."""


class ExtraMissing(LanceError, ImportError):
    """A package that only an extra installs is needed."""


class NotFound(LanceError, ValueError, LookupError, kind="not_found"):
    """A file, dataset, version, tag or column that does not exist."""


class Unreadable(LanceError, OSError):
    """A file or folder that cannot be read, or that the caller does not allow to be read.

    There is no permission, the disk fails, or it lies outside the table with
    `allow_external=False`. pylance raises `OSError` here.
    """


class ColumnNotFound(NotFound, OSError, RuntimeError):
    """A blob column, or one of a data file, that does not exist: pylance raises either class."""


class VersionNotFound(NotFound, OSError):
    """A version or tag that does not exist: pylance raises either, `OSError` on check-out."""


class RowNotFound(LanceError, OSError, IndexError, kind="out_of_range"):
    """A row beyond the last one is asked for: pylance raises `OSError` here."""


class RowDeleted(NotFound, NotImplementedError):
    """A row is asked for by its address, and is deleted: pylance raises `NotImplementedError`."""


class IndexRefused(LanceError, RuntimeError, ValueError):
    """An index that cannot be made as it is asked for."""
