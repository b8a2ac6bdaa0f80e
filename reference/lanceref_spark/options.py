"""Options: what `spark.read.format("lance_reference").option(...)` may say.

Spark hands every option over as text, under a key of any case. Options come into plans and their
logs: a key of an object store is not said, but where it lies, as in
`.option("storage.aws_secret_access_key", "env:NAME")`, a variable of every process.
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
"""Beginning of the options that go to the object store, without it."""

SECRET = re.compile("secret|token|password|credential|account_key|service_account|sas_key")
"""Part of the name of an option that must not be seen."""

VARIABLE = "env:"
"""Beginning of a value that names a variable of the environment."""

FILE_NAME = re.compile(r"[\w.:-]{1,200}")
"""What a transaction id is made of, as the name of a file contains it."""

REFERENCE = "reference"
"""Name of this implementation among the readers."""

READERS = "lanceref.readers"
"""Group of entry points: other modules with the face of this one, by the name of `reader`."""

OPTIONS = """
path version tag branch columns filter with_row_id with_row_address batch_size split_rows reader ns
data_storage_version max_rows_per_file max_bytes_per_file enable_stable_row_ids transaction_id
changes checkpointlocation
"""
"""Options of a load or save, beside those of the store."""


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
        """Options of the object store, None without any. Raises QueryRefused."""
        return {key: _looked_up(value) for key, value in self.storage.items()} or None


@dataclass
class Rows(InputPartition):
    """What one task reads: live rows of a fragment from `start` on, all without a `count`."""

    version: int
    fragment: int
    start: int = 0
    count: int | None = None


def parse(given: Mapping[str, str]) -> Options:
    """Return the options. Raises QueryRefused for one that there is not, or that says nothing."""
    texts = {key.lower(): value for key, value in given.items()}
    storage = {
        key[len(STORAGE) :]: texts.pop(key) for key in list(texts) if key.startswith(STORAGE)
    }
    for key, value in storage.items():
        if SECRET.search(key) and not value.startswith(VARIABLE):
            raise QueryRefused(
                f"option {STORAGE}{key} would be seen in plans and logs: give {VARIABLE}NAME, a "
                "variable of the environment of the driver and the executors"
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


def _looked_up(value: str) -> str:
    """Return a value, or that of the variable that it names."""
    if not value.startswith(VARIABLE):
        return value
    name = value[len(VARIABLE) :]
    if name not in os.environ:
        raise QueryRefused(f"no variable {name} in the environment of this process")
    return os.environ[name]


def _files(texts: Mapping[str, str]) -> dict[str, object]:
    """Return what a save says about files, as `write_fragments` takes it."""
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
    """Return the module that reads: this implementation, or one of an entry point of the name."""
    if name == REFERENCE:
        return import_module("pylanceref")
    for entry in entry_points(group=READERS):
        if entry.name == name:
            load = entry.load()
            module = load() if callable(load) else load
            assert isinstance(module, ModuleType)
            return module
    raise QueryRefused(f"no such reader: {name!r}")
