"""Worked bytes: the hex of the chapters' examples is that of real files.

A fenced block whose language is `hex CASE` (or `hex CASE FILE`, a file of the case's table, which
may be a glob) is read line by line: an offset in decimal, then hex and quoted text, then two
blanks and what it means. The bytes must be those of the case at that offset. After `...` follow
bytes that are not shown; a line without an offset, or without hex after it, is not read.

A block whose language is `hex VERSION TYPE VALUES` shows a file of one column that the reference
writes: `hex 2.1 list<int32> [[1, 2], null]`. Values are JSON; ` * n` after a list repeats it, ` + `
joins lists. Before the type, `full-zip` asks for pages of that layout, and KEY=VALUE is metadata of
the field.

A block whose language is `hex STRUCTURE VALUES` shows a structure of tables, which the reference
decodes to these values: `roaring`, `row-ids`, `row-versions`, `row-addresses` (pairs of fragment
and offset, null for all of its rows).

    python tools/worked_bytes.py
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from findings import Finding, conclude
from lance_conformance.suite.case_storage import case_folder
from lanceref import write_table
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import LanceError
from lanceref.index.row_set import RowSet
from lanceref.table.lineage import decode_row_ids, decode_versions
from lanceref.table.roaring import parse_bitmap
from sources import ROOT

_STRUCTURE = r"(roaring|row-ids|row-versions|row-addresses) (\[.*)"
_FENCE = re.compile(
    r"```hex (?:(\d\.\d) (?:(\S+=\S+|full-zip) )?(\S+) (\[.*)|"
    rf"{_STRUCTURE}|(\S+)(?: (\S+))?)"
)
_FULL_ZIP = "lance-encoding:structural-encoding=fullzip"
_BEGIN = re.compile(r" *\d+ +(?:\"|[0-9a-f]+(?: |$))")
_WORD = r"(?:(?:[0-9a-f]{2})+|\"[^\"]*\"|\.\.\.)"
_LINE = re.compile(rf"(\d+) +({_WORD}(?: {_WORD})*)(?:  .*)?")


def shown(text: str) -> bytes:
    """Return the bytes of hex words and quoted texts."""
    parts = re.findall(r"\"[^\"]*\"|[0-9a-f]+", text)
    return b"".join(p[1:-1].encode() if p[0] == '"' else bytes.fromhex(p) for p in parts)


def data_of(root: Path, fence: re.Match[str]) -> bytes:
    """Return the bytes that a block shows. Raises OSError, ValueError, KeyError."""
    version, metadata, type_, values, _, _, case, name = fence.groups()
    if case is not None:
        return _data_of_case(root, case, name)
    key, _, value = (_FULL_ZIP if metadata == "full-zip" else metadata or "").partition("=")
    field = pa.field("c", type_of(type_), metadata={key: value} if key else None)
    column = pa.array(_rows(values), field.type)
    with tempfile.TemporaryDirectory() as folder:
        write_table(folder, pa.table([column], schema=pa.schema([field])), version=version)
        (path,) = Path(folder, "data").iterdir()
        return path.read_bytes()


def _rows(text: str) -> list[object]:
    """Return the values of a block. Raises ValueError."""
    rows = list[object]()
    for part in text.split(" + "):
        values, _, times = part.partition(" * ")
        rows += json.loads(values) * int(times or 1)
    return rows


def type_of(text: str) -> pa.DataType:
    """Return a type: `list<T>`, `T[n]` for lists of a fixed size, or a type of Arrow by its name.

    Raises ValueError.
    """
    if text.endswith("]"):
        item, _, size = text[:-1].rpartition("[")
        return pa.list_(type_of(item), int(size))
    if text.startswith("list<"):
        return pa.list_(type_of(text[5:-1]))
    return pa.type_for_alias(text)


def _data_of_case(root: Path, case: str, name: str | None) -> bytes:
    """Return the bytes of the input of a case. Raises OSError, ValueError, KeyError."""
    folder = case_folder(root / "fixtures" / case)
    case_input = json.loads((folder / "case.json").read_text("utf-8"))["input"]
    if name is None:
        return Path(folder, case_input["path"]).read_bytes()
    found = sorted(Path(folder, case_input["uri"]).glob(name))
    if len(found) != 1:
        raise ValueError(f"{len(found)} files {name}")
    return found[0].read_bytes()


def decoded(structure: str, data: bytes, count: int) -> list[object]:
    """Return the `count` values of a structure of tables. Raises LanceError."""
    ctx, rows = Context("example"), np.arange(count)
    cursor = Cursor(memoryview(data), 0, ctx)
    if structure == "row-ids":
        return list(decode_row_ids(data, count, ctx, ctx.at(0)).at(rows).tolist())
    if structure == "row-versions":
        return list(decode_versions(data, count, ctx, ctx.at(0)).at(rows).tolist())
    if structure == "roaring":
        return list(parse_bitmap(cursor).tolist())
    found = RowSet.parse(cursor)
    pairs = [[int(key) >> 32, int(key) & 0xFFFFFFFF] for key in found.keys]
    return [*pairs, *([fragment, None] for fragment in sorted(found.whole))]


def _blocks(text: str) -> Iterator[tuple[int, re.Match[str], list[tuple[int, str]]]]:
    """Yield the number of the first line of each block, its fence, and its lines with numbers."""
    begin, lines = None, list[tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), start=1):
        if begin is None:
            match = _FENCE.fullmatch(line.strip())
            begin = None if match is None else (number, match)
        elif line.startswith("```"):
            yield (*begin, lines)
            begin, lines = None, []
        elif _BEGIN.match(line):
            lines.append((number, line))


def check(root: Path, path: Path) -> Iterator[Finding]:
    """Yield the lines of a page whose bytes are others, and those that cannot be read."""
    name = path.relative_to(root).as_posix()
    for begin, fence, lines in _blocks(path.read_text("utf-8")):
        words = {number: _LINE.fullmatch(line.strip()) for number, line in lines}
        for number, line in lines:
            if words[number] is None:
                yield Finding(name, number, f"neither offset nor hex: {line!r}")
        rows = {n: (int(m[1]), shown(m[2].split(" ...")[0])) for n, m in words.items() if m}
        try:
            if fence[5]:
                values, joined = _rows(fence[6]), b"".join(part for _, part in rows.values())
                values_ = decoded(fence[5], joined, len(values))
                if values_ != values:
                    yield Finding(name, begin, f"the bytes are {values_}, not {values}")
                continue
            data = data_of(root, fence)
        except (OSError, ValueError, KeyError, LanceError) as error:
            yield Finding(name, begin, f"no such bytes: {error}")
            continue
        for number, (at, expected) in rows.items():
            found = data[at : at + len(expected)]
            if found != expected:
                yield Finding(name, number, f"at {at} are {found.hex()}, not {expected.hex()}")


def main() -> int:
    """Check every page of the specification."""
    pages = sorted((ROOT / "spec").glob("*.md"))
    findings = [finding for page in pages for finding in check(ROOT, page)]
    blocks = sum(len(_FENCE.findall(page.read_text("utf-8"))) for page in pages)
    print(f"{blocks} worked examples")
    return conclude("worked bytes", findings)


if __name__ == "__main__":
    raise SystemExit(main())
