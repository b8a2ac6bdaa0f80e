"""Validate: every broken clause of a file or dataset, not only the first.

Runs the reader's own parsers, in their plain forms, with findings switched on. A file is checked
whole; a dataset is its manifest, the files it names, and with `deep` the content of each.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from lanceref import storage
from lanceref.checks.indices import check_indices
from lanceref.checks.tables import check_dataset
from lanceref.core.context import Context, Finding, plain_forms
from lanceref.core.errors import NotFound
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.explain import checker
from lanceref.storage.local_file import local_path, refusals
from lanceref.storage.manifests.opening import open_table


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
            checker(ctx.file)(storage.open_source(path, options), ctx)
    return list(dict.fromkeys(findings))


def is_table(path: str | os.PathLike[str], options: storage.StoreOptions) -> bool:
    """Return whether a path is that of a folder, or a URI that of no object. Raises Unreadable."""
    if storage.is_local(path):
        with suppress(NotFound), refusals(path):
            return stat.S_ISDIR(Path(local_path(path)).stat().st_mode)
        return False
    return not storage.open_store(path, options).exists("")
