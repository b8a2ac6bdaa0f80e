"""The model of recipes: positive cases with makers, negative cases with one change, scenarios."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from lance_conformance.suite.case_storage import DATA_FILE

DATA = DATA_FILE
"""Name of the input of a file case."""

DATASET = "dataset"
"""Name of the folder with the input of a dataset case."""

Files = Mapping[str, bytes]
"""Files of an input by relative path."""


@dataclass(frozen=True, slots=True)
class Input:
    """The files of an input, and their table (None: metadata only).

    `version` is the version of the writer, where it is not the current one.
    """

    files: Files
    table: pa.Table | None
    made_by: str = "oracle"
    version: str = ""


Maker = Callable[[], Input]
"""Builds the input of a positive case."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """File and line of a recipe in this package."""

    file: str
    line: int


def _source_line() -> SourceLine:
    """Return the line of the recipe that is being built, in its module of cases."""
    frame, inner = sys._getframe(1), None
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        inner, frame = frame, frame.f_back
    if inner is not None and inner.f_code.co_name == "<genexpr>":
        frame = inner
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)


@dataclass(frozen=True, slots=True)
class Request:
    """An input with the request of a case.

    `index` is the type of the index that is used or dumped, `order` the order of expected rows,
    `tolerance` the relative error of their scores, and `clauses` are tested by every such request.
    """

    make: Maker
    kind: str
    args: Mapping[str, object] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    index: str = ""
    order: str = "storage"
    tolerance: str = ""
    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Positive(Request):
    """A case whose input must be read as its table.

    `reachable` is whether a writer produces such bytes (None: unless they are handmade).
    """

    id: str
    title: str
    kind: str = "read-file"
    reachable: bool | None = None
    place: SourceLine = field(init=False, default_factory=_source_line, compare=False)


@dataclass(frozen=True, slots=True)
class SpanPatch:
    """New bytes of the same size for one leaf of the parent's span tree.

    `path` names groups and leaf, outermost first, each anywhere below the previous one; `nth`
    selects among several. `new` is an integer (little-endian in the leaf's width), bytes of the
    leaf's size, or a function of the old bytes. `at` moves the change to a byte inside the leaf.
    """

    path: tuple[str, ...]
    new: int | bytes | Callable[[bytes], bytes]
    nth: int = 0
    at: int = 0
    target: str = DATA


Paths = Mapping[str, object]
"""New values of a message by paths such as `fields.0.name`.

None clears a field, a list replaces a repeated one, an empty dict sets an empty message; a
function receives the old value.
"""


@dataclass(frozen=True, slots=True)
class MessageEdit:
    """A change of one message of the parent; lengths and offsets around it are recomputed.

    `where` names the message: `descriptor`, `column 0`, `page 0.0` (column.page: its encoding),
    `manifest`, `transaction`, `index section`, `buffer 1 IVF` (a global buffer and the type of its
    message), or of files that only a message describes `metadata` (0.1) and `index` (vectors).
    """

    where: str
    edit: Callable[..., None] | Paths
    target: str = DATA


@dataclass(frozen=True, slots=True)
class Resize:
    """The parent cut to `keep` bytes (negative: from the end), or with `append` after it.

    The appended bytes may be a function of the parent's.
    """

    keep: int | None = None
    append: bytes | Callable[[bytes], bytes] = b""
    target: str = DATA


@dataclass(frozen=True, slots=True)
class Remove:
    """One file of the parent dataset is missing."""

    target: str


@dataclass(frozen=True, slots=True)
class Rename:
    """One file of the parent dataset has another name."""

    target: str
    to: str


Change = SpanPatch | MessageEdit | Resize | Remove | Rename
"""The fault of a negative case. A `target` may be a glob that matches exactly one file."""


@dataclass(frozen=True, slots=True)
class Negative:
    """A parent with one fault: to be refused (`negative-…`) or to be reported (`lint`).

    It is reported under `clause`; the same bytes also break the clauses `also`.
    """

    id: str
    title: str
    clause: str
    parent: str
    change: Change
    meaning: str
    stage: str = "any"
    kind: str = "negative-file"
    flags: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    place: SourceLine = field(default_factory=_source_line, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a writer."""

    op: str
    args: Mapping[str, object]
    actor: str = "a"


@dataclass(frozen=True, slots=True)
class Plan:
    """The initial table of a scenario, its steps, and the expected table.

    `read` are arguments of the final read, `manifest` facts of the latest manifest (None: absent),
    `inputs` tables of steps by file name.
    """

    files: Mapping[str, bytes]
    steps: tuple[Step, ...]
    table: pa.Table | None
    read: Mapping[str, object] = field(default_factory=dict)
    manifest: Mapping[str, object] = field(default_factory=dict)
    inputs: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A case whose steps write versions; `allowed` are the outcomes of the last one.

    It keeps `clauses`, and a writer must refuse to break `broken`. `writer_flags` are the flags of
    a table that only writers which know them may change.
    """

    id: str
    title: str
    clauses: tuple[str, ...]
    make: Callable[[], Plan]
    allowed: tuple[str, ...] = ("committed",)
    broken: tuple[str, ...] = ()
    kind: str = "commit-race"
    writer_flags: int | None = None
    place: SourceLine = field(init=False, default_factory=_source_line, compare=False)


Recipe = Positive | Negative | Scenario
"""The recipe of one case."""
