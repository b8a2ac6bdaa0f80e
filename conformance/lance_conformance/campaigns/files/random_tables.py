"""Random tables: what one side wrote, the other reads equal.

Differential part: random tables (`lanceref_testing`) are written by the oracle in each file version
and read back by the reference: whole, projected, as a range and as random rows; every fourth also
as a dataset. Counts are a census of types, nesting, null patterns, page layouts and encodings: of
the latter every `oneof` arm that is set in the metadata of a file counts under the name of its
message, as in `PageLayout mini_block_layout`.

Written part: the same tables written by the reference and by the oracle. Both readers read ours
back; the oracle's bytes are compared with ours. A table that only the reference refuses to write is
a difference too; one that the oracle cannot read is known where the oracle cannot read its own file
of the same rows.

0.1 files come only from `write_dataset`. They lose nulls, so what the oracle reads back decides,
not what was written; where the oracle cannot read what it wrote, only the bytes are compared.
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

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged
from lance_conformance.guarded_call import guarded
from lance_conformance.oracle import lance
from lance_conformance.random_files.identity import IDENTICAL, TRAINED, verdict
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.readings import dataset_differences, file_differences
from lance_conformance.random_files.settled import settled
from lance_conformance.random_files.writers import (
    VERSIONS,
    is_a_defect,
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
"""What a campaign over any version must have met."""

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
"""Labels that must not stay at zero, by file version."""


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
    """Yield `version/seed`, in every version as often, until there are as many as planned."""
    for seed in range(plan.seed, plan.seed + -(-plan.count // len(versions))):
        yield from (f"{version}/{seed}" for version in versions)


def drawn(case: str) -> tuple[Sample, int]:
    """Return the random table of a case, and its seed."""
    version, _, seed = case.partition("/")
    return random_sample(int(seed), VERSIONS[version]), int(seed)


def judged_table(
    sample: Sample, differences: Sequence[str], counts: Mapping[str, float]
) -> Outcome:
    """Return the outcome of a table: its columns come after what differs."""
    schema = sample.table.schema
    columns = "; ".join(f"{one.name}: {one.type} {one.metadata or ''}" for one in schema)
    return judged([*differences, columns] if differences else [], counts=counts)


def run_table(case: str, directory: Path) -> Outcome:
    """Draw the table of a case, let the oracle write it and read it back in every way."""
    sample, seed = drawn(case)
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
    return judged_table(sample, differences, counts=dict.fromkeys(sorted(labels), 1))


def _as_dataset(sample: Sample, path: Path, seed: int) -> tuple[str, list[str]]:
    """Let the oracle write a sample as a dataset of three fragments, and read it back."""
    refused = refusal_of(
        lambda: lance().write_dataset(
            settled(sample.table),
            str(path),
            data_storage_version=str(sample.version),
            max_rows_per_file=-(-sample.table.num_rows // 3),
        )
    )
    if refused is not None:
        return "dataset the oracle would not write", []
    told = list(dataset_differences(path, sample.table, Random(seed)))
    shutil.rmtree(path)
    return "dataset of several fragments", told


GROUP_ROWS = (7, 64, 1024, 3000)
"""Rows of a batch."""


def legacy_differences(sample: Sample, path: Path, seed: int) -> tuple[str | None, list[str]]:
    """Let the oracle write a sample as a table at `path`; return why it did not, or what differs.

    Differences: rows, ranges and columns of the reference's reading against the oracle's, findings
    of a deep validation, and the first byte that the reference would write otherwise.
    """
    rows = Random(seed).choice(GROUP_ROWS)
    table = settled(sample.table)
    given = {"data_storage_version": "legacy", "max_rows_per_group": rows}
    refused = refusal_of(lambda: lance().write_dataset(table, str(path), **given))
    if refused is not None or not table.num_rows:
        return refused, []
    told = [f"validate: {finding.message}" for finding in validate(path, deep=True)]
    told += _byte_differences(table, path, rows)
    theirs = guarded(lambda: lance().dataset(str(path)).to_table()).value
    if isinstance(theirs, pa.Table):  # D.legacy.written-not-read
        told += dataset_differences(path, theirs, Random(seed))
    return None, told


def _byte_differences(table: pa.Table, path: Path, rows: int) -> list[str]:
    """Write the table with the reference, signed as the oracle signs, and compare the files."""
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
    """Open the part: the seeds of a plan in every version that has a writer of single files."""
    with closing(OracleChild()) as child:
        yield Session(
            table_names(plan, tuple(VERSIONS)[1:]),
            lambda case: run_written(case, plan.folder, child),
        )


def run_written(case: str, directory: Path, child: OracleChild) -> Outcome:
    """Write the table of a case with both writers, and read ours with both readers."""
    sample, seed = drawn(case)
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
    told = child.difference(ours, sample.table)
    if told is not None and not is_a_defect(told, theirs, sample, child):
        differences.append(f"oracle: {told}")
    if told is not None and not differences:
        return Outcome("known", (f"the oracle cannot read its own file: {told}",), counts)
    return judged_table(sample, differences, counts=counts)


def _identity(ours: Path, theirs: Path) -> dict[str, float]:
    """Count a file as identical, as trained at random, or by the field that differs."""
    same = verdict(ours, theirs)
    if same == TRAINED:
        return {"bytes with FSST, not compared": 1}
    opened = open_file(LocalSource(str(ours)), Context(ours.name))
    single = max((len(column.pages) for column in opened.columns), default=0) <= 1
    pages = "one page per column" if single else "several pages"
    if same == IDENTICAL:
        return {f"bytes identical, {pages}": 1}
    what = same.rpartition(": ")[2].lstrip("0123456789 ").partition(" for ")[0]
    return {f"bytes differ, {pages}": 1, f"bytes differ in {what}": 1}


PARTS = (Part("differential", 2000, differential, REQUIRED), Part("written", 1200, written))
