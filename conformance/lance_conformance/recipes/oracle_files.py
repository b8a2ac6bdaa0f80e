"""Makers of files and datasets written by the oracle from a given table, or by its old releases.

Each old release runs in its own environment. The expected table is the one that the release reads.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pylanceref.file
from pylanceref import LanceDataset

from lance_conformance.matrix.library_worker import load, save
from lance_conformance.matrix.wheels import Worker, cache, interpreter
from lance_conformance.oracle import lance, lance_file
from lance_conformance.recipes.model import DATA, Input
from lance_conformance.recipes.scenario_plans import build_files, files_below

PREFIX = "lance-encoding:"
"""Prefix of encoding options in field metadata."""


def column(array: pa.Array, **knobs: str) -> pa.Table:
    """Return a table of one column `c`; `knobs` become encoding metadata of the field."""
    metadata = {PREFIX + name.replace("_", "-"): value for name, value in knobs.items()}
    field = pa.field("c", array.type, metadata=metadata or None)
    return pa.Table.from_arrays([array], schema=pa.schema([field]))


def file(
    table: pa.Table,
    version: str,
    *,
    batches: int = 1,
    data_cache_bytes: int | None = None,
    global_buffers: tuple[bytes, ...] = (),
    schema_metadata: Mapping[str, str] | None = None,
    by: str = "oracle",
) -> Callable[[], Input]:
    """Return a maker of a data file of `table`, written in `batches` equal calls, by a writer."""

    def make() -> Input:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, DATA)
            module = lance_file() if by == "oracle" else pylanceref.file
            with module.LanceFileWriter(
                str(path), table.schema, version=version, data_cache_bytes=data_cache_bytes
            ) as writer:
                step = max(1, -(-len(table) // batches))
                for at in range(0, len(table), step):
                    writer.write_batch(table.slice(at, step))
                for name, value in (schema_metadata or {}).items():
                    writer.add_schema_metadata(name, value)
                for data in global_buffers:
                    writer.add_global_buffer(data)
            metadata = dict(table.schema.metadata or {}) | dict(schema_metadata or {})
            return Input(
                {DATA: path.read_bytes()}, table.replace_schema_metadata(metadata or None), by
            )

    return make


def dataset(
    steps: Callable[[str], pa.Table],
    keep: Callable[[str], bool] = lambda name: True,
    *,
    by: str = "oracle",
) -> Callable[[], Input]:
    """Return a maker of a dataset: `steps` writes it at a URI and returns its table.

    `keep` selects files of the result by relative path; `by` is the writer.
    """

    def make() -> Input:
        table, files = build_files(steps)
        return Input({name: data for name, data in files.items() if keep(name)}, table, by)

    return make


def write(table: pa.Table, uri: str, **options: object) -> LanceDataset:
    """Write a dataset with the oracle and return its handle."""
    return cast(LanceDataset, lance().write_dataset(table, uri, **options))


def stored(
    table: pa.Table,
    *changes: Callable[[Any], object],
    holds: pa.Table | None = None,
    version: str = "2.1",
    keep: Callable[[str], bool] = lambda name: True,
    **options: object,
) -> Callable[[], Input]:
    """Return a maker of a dataset of a table, to which changes are applied in turn.

    `holds` is the final table, if it differs; `keep` selects files as above.
    """

    def steps(uri: str) -> pa.Table:
        write(table, uri, data_storage_version=version, **options)
        for change in changes:
            change(lance().dataset(uri))
        return table if holds is None else holds

    return dataset(steps, keep)


Step = tuple[object, ...]
"""Name and arguments of a step, of `matrix.library_worker`."""


def by_release(
    release: str,
    tables: Mapping[str, pa.Table],
    steps: Sequence[Step],
    options: Mapping[str, object] | None = None,
) -> Callable[[], Input]:
    """Return a maker of a dataset that a release writes by `steps`, which name `tables`."""

    def make() -> Input:
        with tempfile.TemporaryDirectory() as name:
            folder, root = Path(name), Path(name, "table.lance")
            for table_name, table in tables.items():
                save(table, str(folder / table_name))
            wheel = Worker(release, interpreter(release, cache()))
            where = {"uri": str(root), "folder": name, "options": dict(options or {})}
            errors = wheel.request("build", **where, steps=[list(step) for step in steps])
            if errors is None or any(errors):
                raise RuntimeError(f"{release} does not take these steps: {errors}")
            read = wheel.request("read", uri=str(root), out=name, filters=[], latest=True)
            wheel.close()
            (rows,) = (key for key in read if key.endswith(" rows"))
            return Input(files_below(root), load(name, f"{rows}.arrow"), version=release)

    return make
