"""Inspection: the annotated tree of a file's bytes, and every broken clause of a file or table.

Both run the reader's own parsers in their plain forms: `explain` with spans switched on, so that
the tree is what the parsers cut; `validate` with findings, so that it reports every fault and not
only the first. Kinds of file: data file (also index files, which are data files but for those of
early releases), manifest, transaction, deletion file, rows that moved, tag, branch, version hint,
and what a write-ahead log is made of; the name decides. A table is its manifest, the files it
names, and with `deep` the content of each.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lanceref import storage
from lanceref.checks.indices import check_indices
from lanceref.checks.tables import check_dataset
from lanceref.core.context import Context, Finding, plain_forms
from lanceref.core.errors import NotFound
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.core.spans import Span, SpanRecorder, uncovered
from lanceref.data_file.check import check_data_file
from lanceref.files import open_source
from lanceref.index.anatomy import dissect
from lanceref.index.fragment_reuse import check_reuse_file
from lanceref.index.mem_wal import shard_log
from lanceref.index.vector.single_file import check_vector_file
from lanceref.storage import Source
from lanceref.storage.local_file import local_path, refusals
from lanceref.storage.manifests.opening import open_table
from lanceref.table.deletions import read_deletions
from lanceref.table.manifest import open_manifest
from lanceref.table.refs import check_reference
from lanceref.transactions.transaction import check_transaction


def _own_payloads(source: Source, ctx: Context) -> None:
    """Take a file of blobs, which is nothing but their bytes."""
    ctx.leaf(0, source.size, "payloads", "blob", "L.blob.sidecar")


CHECKS: dict[str, Callable[[Source, Context], object]] = {
    ".manifest": open_manifest,
    ".txn": check_transaction,
    ".arrow": read_deletions,
    ".bin": read_deletions,
    ".json": check_reference,
    ".binpb": check_reuse_file,
    ".idx": check_vector_file,
    ".blob": _own_payloads,
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
    ".binpb": shard_log.parse_manifest,
    ".arrow": shard_log.check_entry,
}
"""What parses a file of the write-ahead log, whose name is a number in binary digits."""


def checker(path: str) -> Callable[[Source, Context], object]:
    """Return the function that parses and checks the kind of file `path` names.

    It raises FormatError where nothing more of the file can be checked.
    """
    name = Path(path)
    if name.suffix in LOG and shard_log.parse_reversed(name.name, name.suffix) is not None:
        return LOG[name.suffix]
    if name.name == shard_log.FILE:
        return shard_log.parse_key_filter
    return CHECKS.get(name.suffix, check_data_file)


def explain(
    path: str | os.PathLike[str],
    *,
    limits: Limits = DEFAULT_LIMITS,
    storage_options: dict[str, str] | None = None,
) -> Explanation:
    """Parse one file with spans on. Raises NotFound; damage becomes findings and unowned bytes."""
    source = open_source(path, storage.store_options(storage_options))
    return explain_source(source, limits=limits)


def explain_source(source: Source, *, limits: Limits = DEFAULT_LIMITS) -> Explanation:
    """Parse an opened file with spans on."""
    recorder = SpanRecorder(limits.expanded(source.size))
    findings: list[Finding] = []
    name = Path(source.path).name
    ctx = Context(name, limits=limits, spans=recorder, findings=findings)
    with plain_forms():
        with ctx.piece():
            checker(name)(source, ctx)
        root = recorder.finish(source.size)
        dissect(root, source, ctx)
    return Explanation(name, source.size, root, findings)


def validate(
    path: str | os.PathLike[str],
    *,
    deep: bool = False,
    version: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    storage_options: dict[str, str] | None = None,
    allow_external: bool = True,
) -> list[Finding]:
    """Return the findings of a file, or of a dataset directory (latest or `version`), each once.

    `deep` also decodes the data files of a dataset. Without `allow_external` nothing outside the
    folder of the table is opened. Raises NotFound when nothing is at `path`, Unreadable for a file
    or folder that cannot be read or is not allowed to be.
    """
    options = storage.store_options(storage_options, allow_external=allow_external)
    findings: list[Finding] = []
    ctx = Context(storage.name_of_uri(path), limits=limits, findings=findings)
    with plain_forms():
        if is_table(path, options):
            store = open_table(path, options)
            check_dataset(store, ctx, version=version, deep=deep)
            check_indices(store, ctx, version=version, deep=deep)
        else:
            source = open_source(path, options)
            with ctx.piece():
                checker(ctx.file)(source, ctx)
    return list(dict.fromkeys(findings))


def is_table(path: str | os.PathLike[str], options: storage.StoreOptions) -> bool:
    """Return whether a path is that of a folder, or a URI that of no object. Raises Unreadable."""
    if storage.is_local(path):
        with suppress(NotFound), refusals(path):
            return stat.S_ISDIR(Path(local_path(path)).stat().st_mode)
        return False
    return not storage.open_store(path, options).exists("")
