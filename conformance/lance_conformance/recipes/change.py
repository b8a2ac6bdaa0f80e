"""Applying the one change of a negative case to its parent's bytes.

Where a change lies is said by name and found through the reference's own byte map, so that a recipe
reads `("footer", "num_columns")` and not an offset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

from lanceref.core.spans import Span
from lanceref.explain import explain_source
from lanceref.storage import BytesSource

from lance_conformance.recipes.edits import put
from lance_conformance.recipes.model import (
    Change,
    MessageEdit,
    Remove,
    Rename,
    Resize,
    SpanPatch,
)
from lance_conformance.recipes.reflow import edit_message


@dataclass(frozen=True, slots=True)
class Patch:
    """The declared difference between parent and case: what `case.json` says under `patch`."""

    target: str
    at: int
    was: bytes
    now: bytes
    field: str
    reflow: bool = False


class RecipeError(Exception):
    """A recipe names a place its parent does not have, or changes nothing."""


def apply(change: Change, parent: Mapping[str, bytes]) -> tuple[dict[str, bytes], Patch]:
    """Return the changed files and the patch that describes the change."""
    target = _target(change.target, parent)
    data, files = parent[target], dict(parent)
    if isinstance(change, Remove):
        del files[target]
        return files, Patch(target, 0, data, b"", "file")
    if isinstance(change, Rename):
        files[change.to] = files.pop(target)
        return files, Patch(target, 0, target.encode(), change.to.encode(), "name")
    if isinstance(change, Resize):
        files[target] = data[: change.keep] + change.append
        patch = _difference(target, data, files[target], "end of file")
    elif isinstance(change, SpanPatch):
        files[target], patch = _patch_span(change, target, data)
    else:
        files[target], patch = _edit(change, target, data)
    if files[target] == data:
        raise RecipeError(f"{change} changes nothing in {target}")
    return files, patch


def _target(pattern: str, parent: Mapping[str, bytes]) -> str:
    names = [name for name in parent if fnmatch(name, pattern)]
    if len(names) != 1:
        raise RecipeError(f"{pattern} names {len(names)} files of {', '.join(parent)}")
    return names[0]


def _patch_span(change: SpanPatch, target: str, data: bytes) -> tuple[bytes, Patch]:
    root = explain_source(BytesSource(data, target)).root
    found = list(find(root, change.path))
    if change.nth >= len(found):
        raise RecipeError(f"{' > '.join(change.path)} #{change.nth} is not in {target}")
    leaf = found[change.nth]
    old = data[leaf.start : leaf.end]
    if callable(change.new):
        new = change.new(old)
    elif isinstance(change.new, int):
        new = change.new.to_bytes(len(old), "little")
    else:
        new = old[: change.at] + change.new + old[change.at + len(change.new) :]
    if len(new) != len(old):
        raise RecipeError(f"{' > '.join(change.path)} has {len(old)} bytes, not {len(new)}")
    changed = data[: leaf.start] + new + data[leaf.end :]
    return changed, Patch(target, leaf.start, old, new, ".".join(change.path))


def find(root: Span, path: tuple[str, ...]) -> Iterator[Span]:
    """Yield the leaves that `path` names; a part matches a span's name whole or as a glob.

    A group with a clause is named as a whole: its parts are those of a structure inside a value.
    """
    if not path:
        if root.is_leaf or root.clause:
            yield root
        return
    for child in root.children:
        if fnmatch(child.name, path[0]):
            yield from find(child, path[1:])
        else:
            yield from find(child, path)


def _edit(change: MessageEdit, target: str, data: bytes) -> tuple[bytes, Patch]:
    edited = edit_message(target, data, change.where, lambda message: put(message, change.edit))
    at, was, now = trim(edited.was, edited.now)
    patch = Patch(target, edited.at + at, was, now, change.where, reflow=True)
    return edited.data, patch


def _difference(target: str, was: bytes, now: bytes, field: str) -> Patch:
    at, old, new = trim(was, now)
    return Patch(target, at, old, new, field)


def trim(was: bytes, now: bytes) -> tuple[int, bytes, bytes]:
    """Return (offset, old, new) without the bytes both share at the start and at the end."""
    start = 0
    while start < min(len(was), len(now)) and was[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(was), len(now)) - start and was[-1 - end] == now[-1 - end]:
        end += 1
    return start, was[start : len(was) - end], now[start : len(now) - end]
