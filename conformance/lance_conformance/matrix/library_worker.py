"""Library worker: builds and reads tables with one library, in the environment of that library.

The script, `python library_worker.py LIBRARY`, needs only that library, which includes pyarrow and
numpy, so that it runs in the environments of old releases. It reads requests as lines of JSON, and
writes each response as a line. The key `do` names the method: `about`, `build` or `read`. A panic
of the library becomes an error; an abort ends the worker.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

Json = Any
"""A value read from, or written as, JSON."""

FORMATS = ("legacy", "2.0", "2.1", "2.2", "2.3")
"""Names of file formats that a release may write."""

ERROR_CHARACTERS = 300
"""Most characters of an error that are reported."""

ALIASES = {"enable_stable_row_ids": "enable_move_stable_row_ids"}
"""Former names of arguments."""

KEYWORDS = (
    "data_storage_version",
    "enable_stable_row_ids",
    "enable_v2_manifest_paths",
    "max_rows_per_file",
    "max_rows_per_group",
)
"""Arguments of `write_dataset` where its signature has `**kwargs`."""


class NotSupported(Exception):
    """The release has no such method, argument or format."""


def load(*path: str) -> pa.Table:
    """Return the table of an Arrow stream."""
    with pa.OSFile(str(Path(*path))) as source:
        return pa.ipc.open_stream(source).read_all()


def aligned(table: pa.Table) -> pa.Table:
    """Return the table with every chunk copied: some releases require aligned buffers."""
    columns = [
        pa.chunked_array([pa.concat_arrays([part, part.slice(0, 0)]) for part in column.chunks])
        if column.num_chunks
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def save(table: pa.Table, path: str) -> None:
    """Write an Arrow stream, in which dictionaries may differ by batch."""
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def attempt(action: Callable[[], Any]) -> tuple[Any, str | None]:
    """Return the result of an action, or None and its error as one line."""
    try:
        return action(), None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:ERROR_CHARACTERS]}"


class LibraryWorker:
    """Runs requests with one library."""

    def __init__(self, library: str) -> None:
        self._lance = import_module(library)
        parameters = inspect.signature(self._lance.write_dataset).parameters
        has_keywords = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        self._writer = frozenset([*parameters, *(KEYWORDS if has_keywords else ())])

    def about(self, folder: str) -> Json:
        """Return the release, the formats that it writes, and whether it supports V2 names."""
        table, formats = pa.table({"a": [1]}), []
        for name in FORMATS:
            write = partial(self._write, str(Path(folder, name)), table, {"format": name})
            if attempt(write)[1] is None:
                formats.append(name)
        names = "enable_v2_manifest_paths" in self._writer
        return {"version": str(self._lance.__version__), "formats": formats, "v2_names": names}

    def build(
        self, uri: str, folder: str, options: Json, steps: list[Json], *, new: bool = True
    ) -> Json:
        """Run steps on a table; return for each None or its error.

        If the first step of a new table fails, no other runs.
        """
        errors: list[str | None] = []
        for name, *arguments in steps:
            step = partial(getattr(self, f"_step_{name}"), uri, folder, options, *arguments)
            errors.append(attempt(step)[1])
            if new and errors == errors[:1] and errors[0] is not None:
                break
        return errors

    def read(self, uri: str, out: str, filters: list[str], *, latest: bool = False) -> Json:
        """Read every version (or the latest) in every way; return by name None or the error.

        The results are Arrow streams of those names in `out`.
        """
        listed, error = attempt(lambda: self._lance.dataset(uri).versions())
        if error is not None:
            return {"open": error}
        versions = sorted(int(one["version"]) for one in listed)
        errors: dict[str, str | None] = {}
        for version in versions[-1:] if latest else versions:
            for name, reading in self._readings(uri, version, filters).items():
                key = f"{version} {name}"
                table, error = attempt(reading)
                if error is None:
                    save(table, str(Path(out, f"{key}.arrow")))
                errors[key] = error
        return errors

    def _readings(
        self, uri: str, version: int, filters: list[str]
    ) -> dict[str, Callable[[], pa.Table]]:
        def dataset() -> Any:
            return self._lance.dataset(uri, version=version)

        def take() -> pa.Table:
            opened = dataset()
            rows = opened.count_rows()
            return opened.take(sorted({0, rows // 3, rows // 2, rows - 1}) if rows else [])

        def counts() -> pa.Table:
            opened = dataset()
            fragments = len(list(opened.get_fragments()))
            return pa.table({"rows": [opened.count_rows()], "fragments": [fragments]})

        def filtered(text: str) -> pa.Table:
            return dataset().to_table(filter=text)

        readings: dict[str, Callable[[], pa.Table]] = {
            "rows": lambda: dataset().to_table(),
            "counts": counts,
            "take": take,
            "ids": lambda: dataset().to_table(columns=["id"], with_row_id=True),
            "slice": lambda: dataset().to_table(limit=5, offset=3),
        }
        for number, text in enumerate(filters):
            readings[f"filter {number}"] = partial(filtered, text)
        return readings

    def _write(self, uri: str, table: pa.Table, options: Json, **more: Json) -> None:
        arguments = {**more, **{k: v for k, v in options.items() if k != "format"}}
        for name, alias in ALIASES.items():
            if name in arguments and name not in self._writer and alias in self._writer:
                arguments[alias] = arguments.pop(name)
        missing = [name for name in arguments if name not in self._writer]
        if missing:
            raise NotSupported(f"write_dataset has no {missing}")
        self._lance.write_dataset(table, uri, **arguments, **self._format(options.get("format")))

    def _format(self, name: str | None) -> Json:
        if name is None:
            return {}
        if "data_storage_version" in self._writer:
            return {"data_storage_version": name}
        experimental = "use_experimental_writer"
        if name == "legacy":
            return {experimental: False} if experimental in self._writer else {}
        if name == "2.0" and experimental in self._writer:
            return {experimental: True}
        raise NotSupported(f"no format {name}")

    def _step_create(self, uri: str, folder: str, options: Json, name: str, rows: int) -> None:
        table = aligned(load(folder, name))
        self._write(uri, table, options, max_rows_per_file=rows, max_rows_per_group=rows)

    def _step_append(self, uri: str, folder: str, options: Json, name: str) -> None:
        format_ = {"format": options["format"]} if "format" in options else {}
        self._write(uri, aligned(load(folder, name)), format_, mode="append")

    def _step_overwrite(self, uri: str, folder: str, options: Json, name: str) -> None:
        format_ = {"format": options["format"]} if "format" in options else {}
        self._write(uri, aligned(load(folder, name)), format_, mode="overwrite")

    def _step_delete(self, uri: str, folder: str, options: Json, predicate: str) -> None:
        self._lance.dataset(uri).delete(predicate)

    def _step_update(self, uri: str, folder: str, options: Json, updates: Json, where: str) -> None:
        self._lance.dataset(uri).update(updates, where=where)

    def _step_upsert(self, uri: str, folder: str, options: Json, name: str) -> None:
        merge = self._lance.dataset(uri).merge_insert("id")
        merge.when_matched_update_all().when_not_matched_insert_all().execute(
            aligned(load(folder, name))
        )

    def _step_insert_new(self, uri: str, folder: str, options: Json, name: str) -> None:
        merge = self._lance.dataset(uri).merge_insert("id")
        merge.when_not_matched_insert_all().execute(aligned(load(folder, name)))

    def _step_join(self, uri: str, folder: str, options: Json, name: str) -> None:
        self._lance.dataset(uri).merge(aligned(load(folder, name)), "id")

    def _step_add(self, uri: str, folder: str, options: Json, columns: Json) -> None:
        self._lance.dataset(uri).add_columns(columns)

    def _step_drop(self, uri: str, folder: str, options: Json, columns: list[str]) -> None:
        self._lance.dataset(uri).drop_columns(columns)

    def _step_rename(self, uri: str, folder: str, options: Json, path: str, name: str) -> None:
        self._lance.dataset(uri).alter_columns({"path": path, "name": name})

    def _step_nullable(self, uri: str, folder: str, options: Json, path: str) -> None:
        self._lance.dataset(uri).alter_columns({"path": path, "nullable": True})

    def _step_cast(self, uri: str, folder: str, options: Json, path: str, to: str) -> None:
        kind = pa.type_for_alias(to)
        self._lance.dataset(uri).alter_columns({"path": path, "data_type": kind})

    def _step_compact(self, uri: str, folder: str, options: Json) -> None:
        self._lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=1000)

    def _step_restore(self, uri: str, folder: str, options: Json, version: int) -> None:
        self._lance.dataset(uri, version=version).restore()

    def _step_tag(self, uri: str, folder: str, options: Json, name: str, version: int) -> None:
        self._lance.dataset(uri).tags.create(name, version)

    def _step_config(self, uri: str, folder: str, options: Json, values: Json) -> None:
        self._lance.dataset(uri).update_config(values)

    def _step_scalar(self, uri: str, folder: str, options: Json, column: str, kind: str) -> None:
        self._lance.dataset(uri).create_scalar_index(column, kind, name=f"{column}_{kind}")

    def _step_vector(self, uri: str, folder: str, options: Json, column: str, kind: str) -> None:
        more = {"num_sub_vectors": 2} if kind.endswith("PQ") else {}
        self._lance.dataset(uri).create_index(column, kind, num_partitions=1, **more)

    def _step_reindex(self, uri: str, folder: str, options: Json) -> None:
        self._lance.dataset(uri).optimize.optimize_indices()

    def _step_move(self, uri: str, folder: str, options: Json) -> None:
        self._lance.dataset(uri).migrate_manifest_paths_v2()


def main() -> None:
    """Run requests until the input ends."""
    worker = LibraryWorker(sys.argv[1])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        response = getattr(worker, request.pop("do"))(**request)
        print(json.dumps(response), file=out, flush=True)


if __name__ == "__main__":
    main()
