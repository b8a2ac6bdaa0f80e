"""Draft: files that were written for a version which is not committed yet.

They are deleted when the block ends in an error, but not once they were handed over to a commit
that may have happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Self

from lanceref.storage import Store

Files = list[tuple[Store, str]]
"""Stores, and paths below their roots."""


class Draft:
    """Files that were written, but are in no version yet."""

    def __init__(self, files: Iterable[tuple[Store, str]] = ()) -> None:
        self._files: Files = list(files)

    def add(self, *files: tuple[Store, str]) -> None:
        """Take in files that were just written."""
        self._files.extend(files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the files lie below the roots of their stores."""
        return tuple(path for _, path in self._files)

    def hand_over(self) -> Files:
        """Return the files and forget them: from here on a version may name them."""
        files, self._files = self._files, []
        return files

    def discard(self) -> None:
        """Delete the files: there will be no version of them."""
        for store, path in self.hand_over():
            with suppress(OSError):  # an error before this one is what the caller needs to know
                store.delete(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
