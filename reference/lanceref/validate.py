"""Validate: every broken clause of a file or dataset, not only the first.

Runs the reader's own parsers with findings switched on. A file is checked whole; a dataset is its
manifest, the files it names, and with `deep` the content of each.
"""

from __future__ import annotations

import os
from pathlib import Path

from lanceref.context import Context, Finding
from lanceref.explain import checker
from lanceref.limits import DEFAULT_LIMITS, Limits
from lanceref.storage import LocalSource, local_path, open_store
from lanceref.table.check import check_dataset


def validate(
    path: str | os.PathLike[str],
    *,
    deep: bool = False,
    version: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Finding]:
    """Return the findings of a file, or of a dataset directory (latest or `version`).

    `deep` also decodes the data files of a dataset. Raises NotFound when nothing is at `path`.
    """
    local = local_path(path)
    findings: list[Finding] = []
    if Path(local).is_dir():
        ctx = Context(Path(local).name, limits=limits, findings=findings)
        check_dataset(open_store(local), ctx, version=version, deep=deep)
    else:
        name = Path(local).name
        checker(name)(LocalSource(local), Context(name, limits=limits, findings=findings))
    return findings
