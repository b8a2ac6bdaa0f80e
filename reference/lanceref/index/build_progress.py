"""Stages of a build: what somebody who waits for an index is told.

A build is cut into stages by name; of some it is known how much there is to do, and how much is
done. Who builds tells, whether anybody listens or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

Event: TypeAlias = Literal["start", "progress", "complete"]

Listener: TypeAlias = Callable[[Event, str, int, int | None, str], object]
"""Is told an event, the stage, how much of it is done, of how much in all, and of what."""


@dataclass
class Stage:
    """A stage that goes on."""

    name: str
    total: int | None
    unit: str
    listener: Listener | None
    done: int = 0

    def tell(self, event: Event) -> None:
        """Tell of an event."""
        if self.listener is not None:
            self.listener(event, self.name, self.done, self.total, self.unit)

    def more(self, count: int = 1) -> None:
        """Tell that so much more is done."""
        self.done += count
        self.tell("progress")


class Stages:
    """Tells a listener of the stages of one build."""

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener = listener

    @contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "") -> Iterator[Stage]:
        """Tell where a stage begins and ends; one that fails is not told to be complete."""
        stage = Stage(name, total, unit, self._listener)
        stage.tell("start")
        yield stage
        stage.tell("complete")
