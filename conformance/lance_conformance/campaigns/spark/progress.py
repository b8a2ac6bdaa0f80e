"""Progress: the steps of a campaign that are done, in a file, so that a stopped one goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """A step that came to its end: what it tells, what is wrong, and how long it took."""

    step: str
    told: str
    wrong: list[str]
    seconds: float

    def lines(self) -> list[str]:
        """Return what is printed of it."""
        word = "WRONG" if self.wrong else "ok"
        return [
            f"{word:5} {self.step:24} {self.seconds:7.1f} s  {self.told}",
            *(f"        {one}" for one in self.wrong),
        ]


class Progress:
    """Runs steps, and remembers those that went well; the others are run again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: dict[str, Outcome] = {}
        if path.exists():
            kept = [Outcome(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
            self._done = {one.step: one for one in kept if not one.wrong}

    def is_done(self, step: str) -> bool:
        """Whether a step went well, now or before."""
        return step in self._done

    def run(self, step: str, do: Callable[[], tuple[str, list[str]]]) -> Outcome:
        """Return the outcome of a step, which is run unless it is done."""
        if step in self._done:
            return self._done[step]
        start = time.monotonic()
        told, wrong = do()
        outcome = Outcome(step, told, wrong, round(time.monotonic() - start, 1))
        with self._path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(asdict(outcome)) + "\n")
        if not wrong:
            self._done[step] = outcome
        return outcome
