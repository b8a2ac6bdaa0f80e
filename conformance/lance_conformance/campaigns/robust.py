"""Robustness campaign: every byte of a fixture's data file flipped, with three masks.

Each case runs in a forked child with an address-space limit and an alarm. Allowed: the right table;
another table of the same shape when the flip hit value bytes; or a `LanceError` that fills clause,
file, offset, found and wanted. Anything else (another exception, death, time, memory) is an escape.

Run as `python -m lance_conformance.campaigns.robust`; progress is kept in a file and resumed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from lanceref.errors import BytesError, LanceError
from lanceref.file import LanceFileReader
from lanceref.storage import BytesSource

MASKS = (0x01, 0x80, 0xFF)
"""Lowest bit, highest bit, all bits."""

SECONDS = 2
"""Limit of time per case (goal R4)."""

MEMORY_BYTES = 64 * 2**20
"""Limit of memory per case above the baseline, beside `MEMORY_FACTOR` times the file (goal R3)."""

MEMORY_FACTOR = 16

GOOD = ("right", "changed value", "refused")
"""Classes a reader may answer a flip with."""


@dataclass(frozen=True, slots=True)
class Case:
    """One flip: byte `at` of `file` xor `mask`."""

    file: Path
    at: int
    mask: int

    @property
    def name(self) -> str:
        """Id of the case: reproduces it."""
        return f"{self.file}:{self.at}:{self.mask:02x}"


def classify(data: bytes, name: str, wanted: pa.Table) -> tuple[str, str]:
    """Read damaged bytes and return (class, detail)."""
    try:
        table = LanceFileReader(name, source=BytesSource(data, name)).read_all().to_table()
        table.validate(full=True)
    except BytesError as error:
        facts = (error.clause, error.file, error.place, error.found, error.wanted)
        filled = all(fact is not None and str(fact) for fact in facts)
        return ("refused" if filled else "incomplete error"), error.clause
    except LanceError as error:
        return "incomplete error", type(error).__name__
    except BaseException as error:  # the campaign exists to find these  # noqa: BLE001
        return "escaped", f"{type(error).__name__}: {error}"
    if table.equals(wanted, check_metadata=True):
        return "right", ""
    same_shape = table.num_rows == wanted.num_rows and table.schema.equals(wanted.schema)
    return ("changed value" if same_shape else "changed shape"), str(table.schema)[:200]


def run_forked(case: Case, work: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """Run `work` in a child under the limits and return its answer or how it died."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _limit(case.file.stat().st_size)
            os.write(write_end, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read()
    _, status, _ = os.wait4(pid, 0)
    if answer:
        found = json.loads(answer)
        return found[0], found[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ("hang" if number == signal.SIGALRM else "died"), signal.Signals(number).name
    return "died", f"exit {os.WEXITSTATUS(status)}"


def _limit(file_bytes: int) -> None:
    with Path("/proc/self/statm").open(encoding="ascii") as statm:
        held = int(statm.read().split()[0]) * resource.getpagesize()
    most = held + MEMORY_BYTES + MEMORY_FACTOR * file_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS)


def cases(files: list[Path], every: int) -> Iterator[Case]:
    """Yield every `every`-th flip of the files, in a fixed order."""
    number = 0
    for file in files:
        for at in range(file.stat().st_size):
            for mask in MASKS:
                if number % every == 0:
                    yield Case(file, at, mask)
                number += 1


def campaign(files: list[Path], every: int, progress: Path) -> Counter[str]:
    """Run all cases, appending each answer to `progress`; answers already there are kept."""
    counts: Counter[str] = Counter()
    done: dict[str, str] = {}
    if progress.exists():
        for line in progress.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            done[entry["case"]] = entry["class"]
    wanted = {file: LanceFileReader(file).read_all().to_table() for file in files}
    with progress.open("a", encoding="utf-8") as log:
        for case in cases(files, every):
            if case.name not in done:
                data = bytearray(case.file.read_bytes())
                data[case.at] ^= case.mask
                damaged = bytes(data)
                started = time.monotonic()
                answer, detail = run_forked(
                    case, lambda d=damaged, c=case: classify(d, c.file.name, wanted[c.file])
                )
                entry = {
                    "case": case.name,
                    "class": answer,
                    "detail": detail,
                    "ms": round(1000 * (time.monotonic() - started)),
                }
                log.write(json.dumps(entry) + "\n")
                done[case.name] = answer
            counts[done[case.name]] += 1
    return counts


def main() -> int:
    """Run the campaign over the given files (default: ten small fixtures); print the classes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--fixtures", type=Path, default=Path("fixtures"))
    parser.add_argument("--every", type=int, default=1, help="run every n-th case only")
    parser.add_argument("--progress", type=Path, help="file of answers to resume from")
    options = parser.parse_args()
    files = options.files or ten_small_files(options.fixtures)
    with tempfile.TemporaryDirectory() as folder:
        progress = options.progress or Path(folder, "answers.jsonl")
        counts = campaign(files, options.every, progress)
        bad = [
            line
            for line in progress.read_text(encoding="utf-8").splitlines()
            if json.loads(line)["class"] not in GOOD
        ]
    total = sum(counts.values())
    for name, count in counts.most_common():
        sys.stdout.write(f"{name:<18} {count:>7} {100 * count / total:6.2f} %\n")
    good = sum(counts[name] for name in GOOD)
    sys.stdout.write(f"{good} of {total} cases are allowed ({100 * good / total:.2f} %)\n")
    for line in bad[:20]:
        sys.stdout.write(line + "\n")
    return 0 if good == total else 1


def ten_small_files(fixtures: Path) -> list[Path]:
    """Return the smallest positive data file of ten different encodings, by a fixed choice."""
    chosen = []
    for manifest in sorted(fixtures.glob("file/*/**/case.json")):
        case = json.loads(manifest.read_text(encoding="utf-8"))
        if "robust-parent" in case.get("requires", {}).get("features", []):
            chosen.append(manifest.parent / case["input"]["path"])
    return chosen[:10]


if __name__ == "__main__":
    sys.exit(main())
