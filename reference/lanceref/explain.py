"""Explain: an annotated tree of every byte of one file.

The file is parsed by the plain forms of the reader's own code with spans switched on; the tree is
what the parsers cut. Kinds of file: data file (also index files, which are data files but for those
of early releases), manifest, transaction, deletion file, rows that moved, tag, branch, version
hint, and what a write-ahead log is made of; the name decides.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lanceref.core.context import Context, Finding, plain_forms
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.core.spans import Span, SpanRecorder, uncovered
from lanceref.file_0_1.check import check_data_file
from lanceref.index.anatomy import dissect
from lanceref.index.fragment_reuse import check_beside
from lanceref.index.mem_wal.shard_log import FILE as KEY_FILTER
from lanceref.index.mem_wal.shard_log import check_entry, check_key_filter, parse_reversed
from lanceref.index.mem_wal.shard_log import check_manifest as check_manifest_of_shard
from lanceref.index.vector.single_file import check_vector_file
from lanceref.storage import Source, open_source, store_options
from lanceref.table.deletions import check_deletion_file
from lanceref.table.manifest import check_manifest
from lanceref.table.refs import check_reference
from lanceref.transactions.transaction import check_transaction

CHECKS: dict[str, Callable[[Source, Context], object]] = {
    ".manifest": check_manifest,
    ".txn": check_transaction,
    ".arrow": check_deletion_file,
    ".bin": check_deletion_file,
    ".json": check_reference,
    ".binpb": check_beside,
    ".idx": check_vector_file,
}
"""What parses a file by the end of its name; every other name is a data file."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The spans of a file of `size` bytes, and what its parsers found wrong."""

    path: str
    size: int
    root: Span
    findings: list[Finding]

    @property
    def unowned(self) -> list[tuple[int, int]]:
        """Byte ranges (start, end) of the file that no leaf owns."""
        return uncovered(self.root)

    def bytes_per_kind(self) -> dict[str, int]:
        """Bytes owned by each kind of leaf, largest first."""
        owned: Counter[str] = Counter()
        for leaf in self.root.leaves():
            owned[leaf.kind] += leaf.end - leaf.start
        return dict(owned.most_common())


LOG: dict[str, Callable[[Source, Context], object]] = {
    ".binpb": check_manifest_of_shard,
    ".arrow": check_entry,
}
"""What parses a file of the write-ahead log, whose name is a number in binary digits."""


def checker(path: str) -> Callable[[Source, Context], object]:
    """Return the function that parses and checks the kind of file `path` names."""
    name = Path(path)
    if name.suffix in LOG and parse_reversed(name.name, name.suffix) is not None:
        return LOG[name.suffix]
    if name.name == KEY_FILTER:
        return check_key_filter
    return CHECKS.get(name.suffix, check_data_file)


def explain(
    path: str | os.PathLike[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    storage_options: dict[str, str] | None = None,
) -> Explanation:
    """Parse one file with spans on. Raises NotFound; damage becomes findings and unowned bytes."""
    source = open_source(path, store_options(storage_options))
    return explain_source(source, limits=limits)


def explain_source(source: Source, *, limits: Limits = DEFAULT_LIMITS) -> Explanation:
    """Parse an opened file with spans on."""
    recorder = SpanRecorder(limits.expanded(source.size))
    findings: list[Finding] = []
    name = Path(source.path).name
    ctx = Context(name, limits=limits, spans=recorder, findings=findings)
    with plain_forms():
        checker(name)(source, ctx)
        root = recorder.finish(source.size)
        dissect(root, source, ctx)
    return Explanation(name, source.size, root, findings)
