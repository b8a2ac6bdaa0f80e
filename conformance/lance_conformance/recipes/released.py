"""Makers: datasets written by old releases of the oracle, each in an environment of its own.

Made once, and frozen: what a case holds is what the release itself read of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from lance_conformance.matrix.actor import load, save
from lance_conformance.matrix.wheels import Wheel, cache, interpreter
from lance_conformance.recipes.model import Made
from lance_conformance.recipes.staging import files_below

Step = tuple[object, ...]
"""Name and arguments of a step, as the actor has them."""


def released(
    release: str,
    tables: Mapping[str, pa.Table],
    steps: Sequence[Step],
    options: Mapping[str, object] | None = None,
) -> Callable[[], Made]:
    """Return a maker of a dataset that a release writes by `steps`, which name `tables`."""

    def make() -> Made:
        with tempfile.TemporaryDirectory() as name:
            folder, root = Path(name), Path(name, "table.lance")
            for given, table in tables.items():
                save(table, str(folder / given))
            wheel = Wheel(release, interpreter(release, cache()))
            where = {"uri": str(root), "folder": name, "options": dict(options or {})}
            told = wheel.ask("build", **where, steps=[list(step) for step in steps])
            if told is None or any(told):
                raise RuntimeError(f"{release} does not take these steps: {told}")
            read = wheel.ask("read", uri=str(root), out=name, filters=[], latest=True)
            wheel.close()
            (rows,) = (key for key in read if key.endswith(" rows"))
            return Made(files_below(root), load(name, f"{rows}.arrow"), version=release)

    return make
