"""Session: one adapter at work, restarted when it breaks, and what it claims.

A session owns a scratch directory. It starts the adapter when the first request needs it, says
`hello`, and gives every exchange back as an `Answer`: the response, or how none came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lance_conformance import __version__, protocol
from lance_conformance.failures import Failure
from lance_conformance.outcomes import Outcome
from lance_conformance.outside_text import MAX_NAME, shortened
from lance_conformance.process import AdapterProcess, Death
from lance_conformance.protocol import Message, ProtocolError
from lance_conformance.stop import Stop, Stopped

HELLO_SECONDS = 180.0
"""Limit of the start: loading a large library is not a fault."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request: seconds, and MiB above what the process held at `hello`."""

    seconds: float = 10.0
    memory_mb: int = 2048


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, or (`response` is None) the outcome that took its place."""

    response: Message | None
    outcome: Outcome = Outcome.PASS
    detail: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class Claims:
    """What an adapter said of itself in `hello`."""

    implementation: Mapping[str, str]
    capabilities: Mapping[str, Mapping[str, object]]
    hello: Message = field(repr=False)

    def excluded(self, what: str) -> frozenset[str]:
        """Return the excluded `types`, `encodings` or `features`."""
        return frozenset(self.hello.get(what, {}).get("exclude", ()))


class AdapterUnusable(Failure):
    """The adapter cannot be started, or does not greet: nothing can be judged."""

    exit_code, before = 3, "the adapter cannot be judged: "


Listener = Callable[[str, Mapping[str, object]], None]
"""Called with the direction (`→` or `←`) and every message."""


class Session:
    """Requests to one adapter command, one process at a time."""

    def __init__(
        self,
        command: Sequence[str],
        scratch: Path,
        listener: Listener | None = None,
        stop: Stop | None = None,
    ) -> None:
        self._command = command
        self._listener = listener
        self._stop = stop
        self._process: AdapterProcess | None = None
        self._claims: Claims
        self._next_id = 0
        self.scratch = scratch
        self.starts = 0

    def another(self, name: str) -> Session:
        """Return a session of its own with the same command, its scratch below this one's."""
        return Session(self._command, self.scratch / name, self._listener, self._stop)

    def claims(self) -> Claims:
        """Start the adapter if it does not run, and return what it claims."""
        self._start()
        return self._claims

    def ask(self, op: str, fields: Mapping[str, object], limits: Limits) -> Answer:
        """Send one request and return its answer; a broken process is gone afterwards.

        Raises Stopped when the end of the run is asked for.
        """
        process = self._start()
        process.limit_memory(limits.memory_mb)
        try:
            response = self._exchange(process, op, fields, limits.seconds)
        except Death as death:
            answer = Answer(None, death.outcome, death.detail, process.stderr_tail())
        except ProtocolError as error:
            answer = Answer(None, Outcome.INFRA, f"protocol error: {error}", process.stderr_tail())
        else:
            return Answer(response, stderr=process.stderr_tail())
        self.restart()
        return answer

    def restart(self) -> None:
        """Kill the process; the next request starts a fresh one."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def close(self) -> bool:
        """Say good-bye; return whether the adapter ended as it should."""
        if self._process is None:
            return True
        process, self._process = self._process, None
        return process.end(protocol.encode({"id": self._new_id(), "op": "bye"}))

    def _start(self) -> AdapterProcess:
        if self._process is not None:
            return self._process
        if self._stop:
            raise Stopped
        try:
            self.scratch.mkdir(parents=True, exist_ok=True)
            process = AdapterProcess(self._command, self.scratch, self._stop)
        except OSError as error:
            raise AdapterUnusable(f"cannot start {self._command[0]}: {error}") from error
        self.starts += 1
        try:
            claims = self._greet(process)
            if self.starts > 1 and claims != self._claims:
                raise ProtocolError("it does not claim what it claimed when it was started first")
        except (Death, ProtocolError) as error:
            tail = process.stderr_tail()
            process.kill()
            raise AdapterUnusable(f"no hello: {error}\n{tail}".rstrip()) from error
        except Stopped:
            process.kill()
            raise
        process.note_base_memory()
        self._claims, self._process = claims, process
        return process

    def _greet(self, process: AdapterProcess) -> Claims:
        limits = {"seconds": DEFAULT_LIMITS.seconds, "memory_mb": DEFAULT_LIMITS.memory_mb}
        fields = {
            "protocol": protocol.VERSION,
            "suite": __version__,
            "scratch": str(self.scratch),
            "limits": limits,
        }
        response = self._exchange(process, "hello", fields, HELLO_SECONDS)
        if "ok" not in response:
            raise ProtocolError(f"hello was answered by {response}")
        hello = response["ok"]
        who = {key: shortened(text, MAX_NAME) for key, text in hello["implementation"].items()}
        return Claims(who, hello["capabilities"], hello)

    def _exchange(
        self, process: AdapterProcess, op: str, fields: Mapping[str, object], seconds: float
    ) -> Message:
        request = {"id": self._new_id(), "op": op, **fields}
        self._tell("→", request)
        response = protocol.decode(process.exchange(protocol.encode(request), seconds))
        self._tell("←", response)
        wrong = protocol.check_response(op, response)
        if wrong:
            raise ProtocolError(f"response to {op}: {'; '.join(wrong[:3])}")
        if response["id"] != request["id"]:
            raise ProtocolError(f"answered request {response['id']}, asked was {request['id']}")
        return response

    def _tell(self, direction: str, message: Mapping[str, object]) -> None:
        if self._listener is not None:
            self._listener(direction, message)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1
