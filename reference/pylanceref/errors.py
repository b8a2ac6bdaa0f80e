"""Errors that only this package raises: the classes that callers of pylance catch."""

from __future__ import annotations

from lanceref.core.errors import DataRefused, LanceError, NotFound


class BatchRefused(DataRefused, TypeError):
    """Something else than a batch among the rows that are to be written."""


class CallerFailed(LanceError, OSError, ValueError):
    """What code of a caller raised: `OSError` in pylance, `ValueError` there for one fragment."""


class ColumnRefused(LanceError, TypeError):
    """A column of a type that an index cannot have: pylance raises `TypeError` here."""


class KeyMissing(NotFound, KeyError):
    """A column to be indexed, or an index asked for by name, that the table does not have."""


class IndexMixed(LanceError, ValueError):
    """Segments that do not fit together with each other, or with those that there are."""


class IndexNotFound(NotFound, RuntimeError):
    """An index that the version does not have."""


class InvalidTable(LanceError, OSError):
    """A table that breaks a clause, found when it was asked whether it does."""


class PathMissing(NotFound, OSError):
    """A file of a session, or a table to be dropped, that is not there: `OSError` in pylance."""


class CallerCode:
    """Runs code of the caller: what it raises comes out as CallerFailed, with its words.

    Errors of our own, and what ends a process, come out as they are.
    """

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, LanceError):
            raise CallerFailed(f"{type(error).__name__}: {error}") from error
