"""Options of `spark.read.format("lance_reference").option(...)`.

Spark passes every option as text, with a case-insensitive key. Options appear in plans and logs, so
that a key of an object store must be given by an environment variable of every process, as in
`.option("storage.aws_secret_access_key", "env:NAME")`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType

from lanceref.core.errors import QueryRefused
from pyspark.sql.datasource import InputPartition

STORAGE = "storage."
"""Prefix of options of the object store, which is removed."""

SECRET = re.compile("secret|token|password|credential|account_key|service_account|sas_key")
"""Parts of the names of secret options."""

VARIABLE = "env:"
"""Prefix of values that are names of environment variables."""

FILE_NAME = re.compile(r"[\w.:-]{1,200}")
"""Valid transaction ids, which are part of file names."""

REFERENCE = "reference"
"""Name of this implementation as a reader."""

READERS = "lanceref.readers"
"""Group of entry points of other readers: modules with the interface of `pylanceref`."""

OPTIONS = """
path version tag branch columns filter with_row_id with_row_address batch_size split_rows reader ns
data_storage_version max_rows_per_file max_bytes_per_file enable_stable_row_ids transaction_id
changes checkpointlocation
"""
"""Options of a load or save, without those of the store."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one load or save, parsed."""

    uri: str
    version: int | str | None = None
    branch: str | None = None
    columns: tuple[str, ...] | None = None
    filter: str | None = None
    with_row_id: bool = False
    with_row_address: bool = False
    batch_size: int = 8192
    split_rows: int = 1 << 20
    reader: str = REFERENCE
    truncate: bool = False
    skip_changes: bool = False
    transaction_id: str | None = None
    files: Mapping[str, object] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)
    checkpoint: str | None = None

    @property
    def storage_options(self) -> dict[str, str] | None:
        """Options of the object store, or None without any. Raises QueryRefused."""
        return {key: _resolve(value) for key, value in self.storage.items()} or None


@dataclass
class Rows(InputPartition):
    """The rows of one task: `count` live rows of a fragment from `start`, or all without it."""

    version: int
    fragment: int
    start: int = 0
    count: int | None = None


def parse(options: Mapping[str, str]) -> Options:
    """Return the parsed options. Raises QueryRefused for unknown options and invalid values."""
    texts = {key.lower(): value for key, value in options.items()}
    storage = {
        key[len(STORAGE) :]: texts.pop(key) for key in list(texts) if key.startswith(STORAGE)
    }
    for key, value in storage.items():
        if SECRET.search(key) and not value.startswith(VARIABLE):
            raise QueryRefused(
                f"option {STORAGE}{key} would be seen in plans and logs: give {VARIABLE}NAME, an "
                "environment variable of the driver and the executors"
            )
    unknown = sorted(texts.keys() - set(OPTIONS.split()))
    if unknown:
        raise QueryRefused(f"no such option: {', '.join(unknown)}")
    if not texts.get("path"):
        raise QueryRefused("the path of the table is missing: load(path) or save(path)")
    if "version" in texts and "tag" in texts:
        raise QueryRefused("version and tag exclude each other")
    columns = texts.get("columns")
    return Options(
        uri=texts["path"],
        version=_number(texts, "version") if "version" in texts else texts.get("tag"),
        branch=texts.get("branch"),
        columns=None if columns is None else tuple(one.strip() for one in columns.split(",")),
        filter=texts.get("filter"),
        with_row_id=_flag(texts, "with_row_id"),
        with_row_address=_flag(texts, "with_row_address"),
        batch_size=_number(texts, "batch_size", 8192),
        split_rows=_number(texts, "split_rows", 1 << 20),
        reader=texts.get("reader", REFERENCE),
        truncate=_choice(texts, "ns", ("refuse", "truncate")) == "truncate",
        skip_changes=_choice(texts, "changes", ("refuse", "skip")) == "skip",
        transaction_id=_file_name(texts, "transaction_id"),
        files=_files(texts),
        storage=storage,
        checkpoint=texts.get("checkpointlocation"),
    )


def _resolve(value: str) -> str:
    """Return a value, or that of the environment variable that it names."""
    if not value.startswith(VARIABLE):
        return value
    name = value[len(VARIABLE) :]
    if name not in os.environ:
        raise QueryRefused(f"this process has no environment variable {name}")
    return os.environ[name]


def _files(texts: Mapping[str, str]) -> dict[str, object]:
    """Return the options of files of a save, as arguments of `write_fragments`."""
    files: dict[str, object] = {
        name: _number(texts, name)
        for name in ("max_rows_per_file", "max_bytes_per_file")
        if name in texts
    }
    if "data_storage_version" in texts:
        files["data_storage_version"] = texts["data_storage_version"]
    if "enable_stable_row_ids" in texts:
        files["enable_stable_row_ids"] = _flag(texts, "enable_stable_row_ids")
    return files


def _file_name(texts: Mapping[str, str], name: str) -> str | None:
    text = texts.get(name)
    if text is not None and not FILE_NAME.fullmatch(text):
        raise QueryRefused(f"option {name} is no part of a file's name: {text[:200]!r}")
    return text


def _number(texts: Mapping[str, str], name: str, default: int = 0) -> int:
    text = texts.get(name, str(default))
    if not text.isdigit() or (name != "version" and int(text) < 1):
        raise QueryRefused(f"option {name} is no number above 0: {text!r}")
    return int(text)


def _flag(texts: Mapping[str, str], name: str) -> bool:
    return _choice(texts, name, ("false", "true")) == "true"


def _choice(texts: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    text = texts.get(name, choices[0]).lower()
    if text not in choices:
        raise QueryRefused(f"option {name} is one of {', '.join(choices)}, not {text!r}")
    return text


def reader_module(name: str) -> ModuleType:
    """Return the module of a reader: this implementation, or an entry point with the name."""
    if name == REFERENCE:
        return import_module("pylanceref")
    for entry in entry_points(group=READERS):
        if entry.name == name:
            load = entry.load()
            module = load() if callable(load) else load
            assert isinstance(module, ModuleType)
            return module
    raise QueryRefused(f"no such reader: {name!r}")
