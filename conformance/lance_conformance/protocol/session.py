"""Session: requests to one adapter, which is restarted when it fails, and its claims.

A session owns a scratch directory. It starts the adapter on the first request, sends `hello`, and
returns every exchange as a `RequestResult`: the response, or the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lance_conformance import __version__
from lance_conformance.command_error import CommandError
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol import messages
from lance_conformance.protocol.adapter_process import AdapterDied, AdapterProcess
from lance_conformance.protocol.cancellation import Cancelled, CancelToken
from lance_conformance.protocol.messages import Message, ProtocolError
from lance_conformance.untrusted_text import MAX_NAME, truncated

HELLO_SECONDS = 180.0
"""Time limit of the start, enough to load a large library."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request: seconds, and MiB above the address space at `hello`."""

    seconds: float = 10.0
    memory_mb: int = 2048


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class RequestResult:
    """A response, or the outcome of a request without one (`response` is None)."""

    response: Message | None
    outcome: Outcome = Outcome.PASS
    detail: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of an adapter in `hello`."""

    implementation: Mapping[str, str]
    capabilities: Mapping[str, Mapping[str, object]]
    hello: Message = field(repr=False)

    def excluded(self, what: str) -> frozenset[str]:
        """Return the excluded `types`, `encodings` or `features`."""
        return frozenset(self.hello.get(what, {}).get("exclude", ()))


class AdapterUnusable(CommandError):
    """The adapter cannot be started, or does not answer `hello`: nothing can be judged."""

    exit_code, prefix = 3, "the adapter cannot be judged: "


Listener = Callable[[str, Mapping[str, object]], None]
"""Called with the direction (`→` or `←`) and every message."""


class Session:
    """Requests to one adapter command, one process at a time."""

    def __init__(
        self,
        command: Sequence[str],
        scratch: Path,
        listener: Listener | None = None,
        stop: CancelToken | None = None,
    ) -> None:
        self._command = command
        self._listener = listener
        self._stop = stop
        self._process: AdapterProcess | None = None
        self._claims: Claims
        self._next_id = 0
        self.scratch = scratch
        self.starts = 0

    def new_session(self, name: str) -> Session:
        """Return another session with the same command, with its scratch below this one's."""
        return Session(self._command, self.scratch / name, self._listener, self._stop)

    def claims(self) -> Claims:
        """Start the adapter if it does not run, and return its claims."""
        self._start()
        return self._claims

    def request(self, op: str, fields: Mapping[str, object], limits: Limits) -> RequestResult:
        """Send one request and return its result; a failed process is killed.

        Raises Cancelled when the run is.
        """
        process = self._start()
        process.limit_memory(limits.memory_mb)
        try:
            response = self._exchange(process, op, fields, limits.seconds)
        except AdapterDied as death:
            answer = RequestResult(None, death.outcome, death.detail, process.stderr_tail())
        except ProtocolError as error:
            answer = RequestResult(
                None, Outcome.INFRA, f"protocol error: {error}", process.stderr_tail()
            )
        else:
            return RequestResult(response, stderr=process.stderr_tail())
        self.restart()
        return answer

    def restart(self) -> None:
        """Kill the process; the next request starts a fresh one."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def close(self) -> bool:
        """Send `bye`; return whether the adapter exited as required."""
        if self._process is None:
            return True
        process, self._process = self._process, None
        return process.shut_down(messages.encode({"id": self._new_id(), "op": "bye"}))

    def _start(self) -> AdapterProcess:
        if self._process is not None:
            return self._process
        if self._stop:
            raise Cancelled
        try:
            self.scratch.mkdir(parents=True, exist_ok=True)
            process = AdapterProcess(self._command, self.scratch, self._stop)
        except OSError as error:
            raise AdapterUnusable(f"cannot start {self._command[0]}: {error}") from error
        self.starts += 1
        try:
            claims = self._say_hello(process)
            if self.starts > 1 and claims != self._claims:
                raise ProtocolError("it does not claim what it claimed at its first start")
        except (AdapterDied, ProtocolError) as error:
            tail = process.stderr_tail()
            process.kill()
            raise AdapterUnusable(f"no hello: {error}\n{tail}".rstrip()) from error
        except Cancelled:
            process.kill()
            raise
        process.note_base_memory()
        self._claims, self._process = claims, process
        return process

    def _say_hello(self, process: AdapterProcess) -> Claims:
        limits = {"seconds": DEFAULT_LIMITS.seconds, "memory_mb": DEFAULT_LIMITS.memory_mb}
        fields = {
            "protocol": messages.VERSION,
            "suite": __version__,
            "scratch": str(self.scratch),
            "limits": limits,
        }
        response = self._exchange(process, "hello", fields, HELLO_SECONDS)
        if "ok" not in response:
            raise ProtocolError(f"hello was answered by {response}")
        hello = response["ok"]
        implementation = {
            key: truncated(text, MAX_NAME) for key, text in hello["implementation"].items()
        }
        return Claims(implementation, hello["capabilities"], hello)

    def _exchange(
        self, process: AdapterProcess, op: str, fields: Mapping[str, object], seconds: float
    ) -> Message:
        request = {"id": self._new_id(), "op": op, **fields}
        self._notify("→", request)
        response = messages.decode(process.exchange(messages.encode(request), seconds))
        self._notify("←", response)
        wrong = messages.response_problems(op, response)
        if wrong:
            raise ProtocolError(f"response to {op}: {'; '.join(wrong[:3])}")
        if response["id"] != request["id"]:
            raise ProtocolError(
                f"the response has id {response['id']}, the request {request['id']}"
            )
        return response

    def _notify(self, direction: str, message: Mapping[str, object]) -> None:
        if self._listener is not None:
            self._listener(direction, message)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1
