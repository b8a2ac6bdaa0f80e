"""The model of a recipe: positive cases with their makers, negative cases with their one change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

DATA = "data.lance"
"""Name of the input of a file case."""

DATASET = "dataset"
"""Name of the folder that holds the input of a dataset case."""

Files = Mapping[str, bytes]
"""Files of an input by relative path."""


@dataclass(frozen=True, slots=True)
class Input:
    """Files, and the table they hold (None: metadata only).

    `version` is that of who made them, where it is not the one of today.
    """

    files: Files
    table: pa.Table | None
    made_by: str = "oracle"
    version: str = ""


Maker = Callable[[], Input]
"""Makes the input of a positive case."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where a recipe is written: a file of this package and a line of it."""

    file: str
    line: int


def _source_line() -> SourceLine:
    """Return the line of a module of cases that makes the recipe which is being made."""
    frame, inner = sys._getframe(1), None
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        inner, frame = frame, frame.f_back
    if inner is not None and inner.f_code.co_name == "<genexpr>":
        frame = inner
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)


@dataclass(frozen=True, slots=True)
class Request:
    """An input with the question that a case asks of it.

    `index` is the type of the index that is asked or shown, `order` that of the rows expected,
    `tolerance` the share by which their scores may be off, and `clauses` what every such question
    shows.
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

    `reachable` says whether a writer makes such bytes (None: unless they are made by hand).
    """

    id: str
    title: str
    kind: str = "read-file"
    reachable: bool | None = None
    place: SourceLine = field(init=False, default_factory=_source_line, compare=False)


@dataclass(frozen=True, slots=True)
class SpanPatch:
    """New bytes in place of one leaf of the parent's span tree, of the same size.

    `path` names groups and leaf, outermost first, each found anywhere below the one before;
    `nth` picks among several. `new` is an integer (little-endian in the leaf's width), bytes of the
    leaf's size, or a function of the old bytes. `at` moves the change to a byte inside the leaf.
    """

    path: tuple[str, ...]
    new: int | bytes | Callable[[bytes], bytes]
    nth: int = 0
    at: int = 0
    target: str = DATA


Paths = Mapping[str, object]
"""New values of a message by paths such as `fields.0.name`.

None clears a field, a list replaces all of a repeated one, an empty dict makes a message present;
a function is given the old value.
"""


@dataclass(frozen=True, slots=True)
class MessageEdit:
    """A change of one message of the parent; what encloses or follows it is recomputed.

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

    What is appended may be made of the parent's bytes.
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
"""The one fault of a negative case. A `target` may be a glob that names exactly one file."""


@dataclass(frozen=True, slots=True)
class Negative:
    """A parent with one fault: to be refused (`negative-…`) or to be reported (`lint`).

    It is reported under `clause`; the same bytes break what `also` names.
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
    """The table writers find, what they do, and what it must hold afterwards.

    `read` are arguments of the reading at the end, `manifest` facts of the latest manifest (None:
    absent), `inputs` tables that steps name by file names.
    """

    files: Mapping[str, bytes]
    steps: tuple[Step, ...]
    table: pa.Table | None
    read: Mapping[str, object] = field(default_factory=dict)
    manifest: Mapping[str, object] = field(default_factory=dict)
    inputs: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A case whose steps make versions; `allowed` is what may become of the last one.

    It keeps `clauses`, and shows a writer held back from breaking `broken`. `writer_flags` are
    those of a table that who knows them may write, and nobody else.
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
"""One case to be."""
