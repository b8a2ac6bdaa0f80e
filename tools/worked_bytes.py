"""Worked bytes: the hex of the chapters' examples is that of real files.

A fenced block whose language is `hex CASE` (or `hex CASE FILE`, a file of the case's table, which
may be a glob) is read line by line: an offset in decimal, then hex and quoted text, then two
blanks and what it means. The bytes must be those of the case at that offset. After `...` follow
bytes that are not shown; a line without an offset, or without hex after it, is not read.

    python tools/worked_bytes.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from findings import Finding, conclude
from lance_conformance.stored import case_folder
from sources import ROOT

_FENCE = re.compile(r"```hex (\S+)(?: (\S+))?")
_BEGIN = re.compile(r" *\d+ +(?:\"|[0-9a-f]+(?: |$))")
_WORD = r"(?:(?:[0-9a-f]{2})+|\"[^\"]*\"|\.\.\.)"
_LINE = re.compile(rf"(\d+) +({_WORD}(?: {_WORD})*)(?:  .*)?")


def shown(text: str) -> bytes:
    """Return the bytes of hex words and quoted texts."""
    parts = re.findall(r"\"[^\"]*\"|[0-9a-f]+", text)
    return b"".join(p[1:-1].encode() if p[0] == '"' else bytes.fromhex(p) for p in parts)


def data_of(root: Path, case: str, name: str | None) -> bytes:
    """Return the bytes of the input of a case. Raises OSError, ValueError."""
    folder = case_folder(root / "fixtures" / case)
    given = json.loads((folder / "case.json").read_text("utf-8"))["input"]
    if name is None:
        return Path(folder, given["path"]).read_bytes()
    found = sorted(Path(folder, given["uri"]).glob(name))
    if len(found) != 1:
        raise ValueError(f"{len(found)} files {name}")
    return found[0].read_bytes()


def check(root: Path, path: Path) -> Iterator[Finding]:
    """Yield the lines of a page whose bytes are others, and those that cannot be read."""
    name, data = path.relative_to(root).as_posix(), b""
    is_open = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        begins = _FENCE.fullmatch(line.strip())
        if begins:
            is_open = True
            try:
                data = data_of(root, begins[1], begins[2])
            except (OSError, ValueError, KeyError) as error:
                yield Finding(name, number, f"no such bytes: {error}")
                is_open = False
        elif line.startswith("```"):
            is_open = False
        elif is_open and _BEGIN.match(line):
            told = _LINE.fullmatch(line.strip())
            if told is None:
                yield Finding(name, number, f"neither offset nor hex: {line!r}")
                continue
            at, wanted = int(told[1]), shown(told[2].split(" ...")[0])
            found = data[at : at + len(wanted)]
            if found != wanted:
                yield Finding(name, number, f"at {at} are {found.hex()}, not {wanted.hex()}")


def main() -> int:
    """Check every page of the specification."""
    pages = sorted((ROOT / "spec").glob("*.md"))
    findings = [finding for page in pages for finding in check(ROOT, page)]
    blocks = sum(len(_FENCE.findall(page.read_text("utf-8"))) for page in pages)
    print(f"{blocks} worked examples")
    return conclude("worked bytes", findings)


if __name__ == "__main__":
    raise SystemExit(main())
