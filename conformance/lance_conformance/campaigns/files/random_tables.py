"""Random tables: each implementation reads equal rows from files of the other.

Differential part: the oracle writes random tables of `lanceref_testing` in each file version, and
the reference reads all rows, columns, ranges and random rows; every fourth table also as a dataset.
Counts cover types, nesting, null patterns, page layouts and encodings: every `oneof` arm in the
metadata of a file counts by the name of its message, as in `PageLayout mini_block_layout`.

Written part: the reference and the oracle write the same tables. Both read the file of the
reference, and the bytes of both files are compared. A table that the reference alone refuses to
write is a difference; a file that the oracle cannot read is known where it cannot read its own file
of the same rows.

0.1 files are written by `write_dataset`. They lose nulls, so that the rows that the oracle reads
are the expected ones; where it cannot read its own file, only the bytes are compared.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from random import Random

import pyarrow as pa
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.core.file_versions import V0_1
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.inspection import validate
from lanceref.proto import table_pb2
from lanceref.storage import LocalSource
from lanceref.storage.local import LocalSink
from lanceref_testing.tables import Sample, random_sample

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, outcome_of
from lance_conformance.guarded_call import guarded
from lance_conformance.oracle import lance
from lance_conformance.random_files.identity import IDENTICAL, TRAINED, compare_files
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.readings import dataset_differences, file_differences
from lance_conformance.random_files.unsliced import unsliced
from lance_conformance.random_files.writers import (
    VERSIONS,
    is_oracle_defect,
    refusal_of,
    write_by_oracle,
    write_by_reference,
)

_TYPES = (
    *("bool", "halffloat", "float", "double", "null", "dictionary", "decimal128", "decimal256"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("string", "large_string", "binary", "large_binary", "fixed_size_binary"),
    *("date32", "date64", "time32", "time64", "timestamp", "duration"),
    *("list", "large_list", "struct", "fixed_size_list"),
)

_EVERY_VERSION = (
    *(f"type {name}" for name in _TYPES),
    *(f"nulls {name}" for name in ("none", "some", "all", "first", "last")),
    *(f"depth {depth}" for depth in range(5)),
    "packed struct",
    "many pages",
    "rows 0",
)
"""Labels that each file version requires."""

_ARRAY_ENCODINGS = (
    *(f"ArrayEncoding {arm}" for arm in ("flat", "nullable", "fixed_size_list", "list", "struct")),
    *(f"ArrayEncoding {arm}" for arm in ("binary", "dictionary", "fsst", "packed_struct")),
    *(f"Nullable {arm}" for arm in ("no_nulls", "some_nulls", "all_nulls")),
    "Compression zstd",
    "Compression lz4",
)

_LAYOUTS = (
    "PageLayout mini_block_layout",
    "PageLayout full_zip_layout",
    "PageLayout constant_layout",
    "dictionary",
    *(f"CompressiveEncoding {arm}" for arm in ("flat", "variable", "fsst", "rle", "general")),
    *(f"CompressiveEncoding {arm}_bitpacking" for arm in ("inline", "out_of_line")),
    *(f"CompressiveEncoding {arm}" for arm in ("byte_stream_split", "packed_struct")),
    "CompressiveEncoding fixed_size_list",
)

REQUIRED: dict[str, tuple[str, ...]] = {
    "0.1": _EVERY_VERSION,
    "2.0": (*_EVERY_VERSION, *_ARRAY_ENCODINGS),
    "2.1": (*_EVERY_VERSION, *_LAYOUTS),
    "2.2": (*_EVERY_VERSION, *_LAYOUTS, "type map"),
    "2.3": (*_EVERY_VERSION, "type map"),
}
"""Labels that must occur, by file version."""


def encodings_of(file: DataFile) -> set[str]:
    """Return the labels of every encoding in a file's metadata."""
    labels: set[str] = set()
    for column in file.columns:
        if len(column.pages) > 1:
            labels.add("many pages")
        for page in column.pages:
            labels.update(_arms(page.encoding))
    return labels


def _arms(message: Message) -> Iterator[str]:
    if message.DESCRIPTOR.name == "Compression":
        yield f"Compression {message.scheme}"  # type: ignore[attr-defined]
    for field, value in message.ListFields():
        if field.containing_oneof is not None and field.message_type is not None:
            yield f"{message.DESCRIPTOR.name} {field.name}"
        if field.name == "dictionary":
            yield "dictionary"
        if field.message_type is None:
            continue
        for inner in value if field.is_repeated else [value]:
            yield from _arms(inner)


def differential(plan: Plan) -> Iterator[Session]:
    """Open the part: the seeds of a plan in every file version."""
    yield Session(table_names(plan), lambda case: run_table(case, plan.folder))


def table_names(plan: Plan, versions: Sequence[str] = tuple(VERSIONS)) -> Iterator[str]:
    """Yield `version/seed`, with the same seeds in every version, for the planned number."""
    for seed in range(plan.seed, plan.seed + -(-plan.count // len(versions))):
        yield from (f"{version}/{seed}" for version in versions)


def draw_table(case: str) -> tuple[Sample, int]:
    """Return the random table of a case, and its seed."""
    version, _, seed = case.partition("/")
    return random_sample(int(seed), VERSIONS[version]), int(seed)


def table_outcome(
    sample: Sample, differences: Sequence[str], counts: Mapping[str, float]
) -> Outcome:
    """Return the outcome of a table, with its columns after the differences."""
    schema = sample.table.schema
    columns = "; ".join(f"{one.name}: {one.type} {one.metadata or ''}" for one in schema)
    return outcome_of([*differences, columns] if differences else [], counts=counts)


def run_table(case: str, directory: Path) -> Outcome:
    """Draw the table of a case, write it by the oracle, and read it in every way."""
    sample, seed = draw_table(case)
    path = directory / f"{sample.version}.lance"
    labels = set(sample.labels)
    if sample.version == V0_1:
        refused, differences = legacy_differences(sample, path, seed)
        shutil.rmtree(path, ignore_errors=True)
    else:
        refused, differences = write_by_oracle(sample, path), []
        if refused is None:
            try:
                differences = list(file_differences(path, sample.table, Random(seed)))
                labels |= encodings_of(open_file(LocalSource(str(path)), Context(path.name)))
                if seed % 4 == 0 and sample.table.num_rows:
                    label, more = _as_dataset(sample, directory / str(seed), seed)
                    differences += more
                    labels.add(label)
            except LanceError as error:
                differences.append(f"{type(error).__name__}: {error}")
    if refused is not None:
        return Outcome("refused", (refused,))
    return table_outcome(sample, differences, counts=dict.fromkeys(sorted(labels), 1))


def _as_dataset(sample: Sample, path: Path, seed: int) -> tuple[str, list[str]]:
    """Write a sample by the oracle as a dataset of three fragments, and read it."""
    refused = refusal_of(
        lambda: lance().write_dataset(
            unsliced(sample.table),
            str(path),
            data_storage_version=str(sample.version),
            max_rows_per_file=-(-sample.table.num_rows // 3),
        )
    )
    if refused is not None:
        return "dataset the oracle would not write", []
    differences = list(dataset_differences(path, sample.table, Random(seed)))
    shutil.rmtree(path)
    return "dataset of several fragments", differences


GROUP_ROWS = (7, 64, 1024, 3000)
"""Rows of a batch."""


def legacy_differences(sample: Sample, path: Path, seed: int) -> tuple[str | None, list[str]]:
    """Write a sample by the oracle as a table at `path`; return its refusal, and differences.

    Differences are rows, ranges and columns that the reference reads otherwise than the oracle,
    findings of a deep validation, and the first different byte of a file of the reference.
    """
    rows = Random(seed).choice(GROUP_ROWS)
    table = unsliced(sample.table)
    options = {"data_storage_version": "legacy", "max_rows_per_group": rows}
    refused = refusal_of(lambda: lance().write_dataset(table, str(path), **options))
    if refused is not None or not table.num_rows:
        return refused, []
    differences = [f"validate: {finding.message}" for finding in validate(path, deep=True)]
    differences += _byte_differences(table, path, rows)
    theirs = guarded(lambda: lance().dataset(str(path)).to_table()).value
    if isinstance(theirs, pa.Table):  # D.legacy.written-not-read
        differences += dataset_differences(path, theirs, Random(seed))
    return None, differences


def _byte_differences(table: pa.Table, path: Path, rows: int) -> list[str]:
    """Write the table by the reference, with the writer version of the oracle; compare files."""
    (data,) = (path / "data").iterdir()
    ours, theirs = path / "ours.lance", data.read_bytes()
    signature = table_pb2.Manifest.WriterVersion(library="lance", version=lance().__version__)
    try:
        sink = LocalSink(str(ours))
        writer = LegacyWriter(sink, schema_of(table.schema), rows, writer=signature)
        for batch in table.to_batches():
            writer.write_batch(batch)
        writer.finish()
        sink.close()
    except LanceError as error:
        return [f"not written: {type(error).__name__}: {error}"]
    written = ours.read_bytes()
    if written == theirs:
        return []
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(written, theirs))
    return [f"the file differs at byte {sum(1 for _ in equal)} of {len(theirs)}"]


def written(plan: Plan) -> Iterator[Session]:
    """Open the part: the seeds of a plan in every version with a file writer."""
    with closing(OracleChild()) as child:
        yield Session(
            table_names(plan, tuple(VERSIONS)[1:]),
            lambda case: run_written(case, plan.folder, child),
        )


def run_written(case: str, directory: Path, child: OracleChild) -> Outcome:
    """Write the table of a case by both implementations; both read the file of the reference."""
    sample, seed = draw_table(case)
    ours, theirs = directory / "ours", directory / "theirs"
    theirs.unlink(missing_ok=True)
    refusal, oracle_refusal = write_by_reference(sample, ours), write_by_oracle(sample, theirs)
    if refusal is not None:
        if oracle_refusal is None:
            return Outcome("differed", (f"refused by the reference alone: {refusal}",))
        return Outcome("refused", (refusal,))
    counts = {"refused by the oracle alone": 1} if oracle_refusal else _identity(ours, theirs)
    try:
        differences = list(file_differences(ours, sample.table, Random(seed)))
    except LanceError as error:
        differences = [f"{type(error).__name__}: {error}"]
    difference = child.difference(ours, sample.table)
    if difference is not None and not is_oracle_defect(difference, theirs, sample, child):
        differences.append(f"oracle: {difference}")
    if difference is not None and not differences:
        return Outcome("known", (f"the oracle cannot read its own file: {difference}",), counts)
    return table_outcome(sample, differences, counts=counts)


def _identity(ours: Path, theirs: Path) -> dict[str, float]:
    """Count a file as identical, as randomly trained, or by the field that differs."""
    result = compare_files(ours, theirs)
    if result == TRAINED:
        return {"bytes with FSST, not compared": 1}
    file = open_file(LocalSource(str(ours)), Context(ours.name))
    is_single = max((len(column.pages) for column in file.columns), default=0) <= 1
    pages = "one page per column" if is_single else "several pages"
    if result == IDENTICAL:
        return {f"bytes identical, {pages}": 1}
    part = result.rpartition(": ")[2].lstrip("0123456789 ").partition(" for ")[0]
    return {f"bytes differ, {pages}": 1, f"bytes differ in {part}": 1}


PARTS = (Part("differential", 2000, differential, REQUIRED), Part("written", 1200, written))
