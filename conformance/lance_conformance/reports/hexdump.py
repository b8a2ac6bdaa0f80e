"""Hex view of a case's input: up to 512 bytes, each range with its owner, the patch marked.

Owners come from the hexmap next to a data file, or else from the reference's explanation of a data
file or manifest. The view starts at the start of the file, or shortly before the patch when that is
outside the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lance_conformance.suite.cases import Case
from lance_conformance.suite.hexmap import build_hexmap as made_hexmap

VIEW_BYTES = 512
LINE_BYTES = 16
NUM_SHADES = 4
"""Number of colours that distinguish adjacent owners."""

BEFORE_PATCH = 128
"""Bytes shown before a patch that is outside the first view."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A byte range of the hexmap with its description."""

    start: int
    end: int
    kind: str
    clause: str
    name: str


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes of one line with one owner; `shade` distinguishes adjacent owners."""

    hex: str
    title: str
    shade: int
    patched: bool


@dataclass(frozen=True, slots=True)
class Line:
    """Up to 16 bytes: their segments, and their printable characters, aligned by `gap`."""

    offset: int
    segments: tuple[Segment, ...]
    gap: str
    text: str


@dataclass(frozen=True, slots=True)
class HexView:
    """A view of a part of one file."""

    name: str
    size: int
    start: int
    end: int
    lines: tuple[Line, ...]


def hex_view(case: Case) -> HexView | None:
    """Return the view of a case's input: the patched file, else the data file or a manifest."""
    patches = case.manifest.get("patch", [])
    path = shown_file(case)
    if path is None:
        return None
    data = path.read_bytes()
    at, size = (patches[0]["at"], len(patches[0]["now_hex"]) // 2) if patches else (0, 0)
    start = max(0, at - BEFORE_PATCH) // LINE_BYTES * LINE_BYTES if at + size > VIEW_BYTES else 0
    end = min(len(data), start + VIEW_BYTES)
    owners = _owners(path, data, case)
    patch = range(at, at + size)
    lines = tuple(_line(data[:end], at, owners, patch) for at in range(start, end, LINE_BYTES))
    return HexView(path.relative_to(case.folder).as_posix(), len(data), start, end, lines)


def parse_hexmap(text: str) -> list[Owner]:
    """Parse a hexmap with lines of `start end kind clause name`."""
    rows = (line.split(" ", 4) for line in text.splitlines())
    return [Owner(int(start), int(end), *rest) for start, end, *rest in rows]


def _owners(path: Path, data: bytes, case: Case) -> list[Owner]:
    hexmap_path = path.with_name(f"{path.name}.hexmap")
    if hexmap_path.exists():
        return parse_hexmap(hexmap_path.read_text("utf-8"))
    if path.suffix not in (".lance", ".manifest") or case.kind == "robust":
        return []
    return parse_hexmap(made_hexmap(data, path.name))


def shown_file(case: Case) -> Path | None:
    """Return the file of a case to show; None without one."""
    root, patches = case.input_root, case.manifest.get("patch", [])
    target = patches[0]["target"] if patches else ""
    if root.is_file():
        return root
    manifests = sorted(root.glob("_versions/*.manifest"))
    candidates = [root / target] if target else manifests
    return next((path for path in candidates if path.is_file()), None)


def _line(data: bytes, start: int, owners: Sequence[Owner], patch: range) -> Line:
    part = data[start : start + LINE_BYTES]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
    gap = "   " * (LINE_BYTES - len(part))
    return Line(start, tuple(_segments(part, start, owners, patch)), gap, text)


def _segments(part: bytes, start: int, owners: Sequence[Owner], patch: range) -> Iterator[Segment]:
    at, end = start, start + len(part)
    while at < end:
        number, owner = _owner_at(owners, at)
        stop = end if owner is None else min(end, owner.end)
        if at in patch:
            stop = min(stop, patch.stop)
        elif at < patch.start < stop:
            stop = patch.start
        title = "" if owner is None else f"{owner.name} ({owner.kind}) {owner.clause}".rstrip(" -")
        shade = -1 if owner is None else number % NUM_SHADES
        yield Segment(part[at - start : stop - start].hex(" "), title, shade, at in patch)
        at = stop


def _owner_at(owners: Sequence[Owner], at: int) -> tuple[int, Owner | None]:
    for number, owner in enumerate(owners):
        if owner.start <= at < owner.end:
            return number, owner
    return -1, None
