"""Noncanonical files are read equal; random data is legal and has every shape."""

from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3
from lanceref.fast.codecs import KERNEL_USE
from lanceref.inspection import explain, validate
from lanceref.proto import encodings_v2_0_pb2, file2_pb2, file_pb2
from lanceref_testing.arrays import NULL_PATTERNS, random_array
from lanceref_testing.fixed_width import INTEGER_PATTERNS
from lanceref_testing.noncanonical import variations
from lanceref_testing.noncanonical.files import write_noncanonical_file
from lanceref_testing.noncanonical.variations import ALL, VariationSampler
from lanceref_testing.noncanonical.wire import serialize, varint
from lanceref_testing.strings import STRING_PATTERNS
from lanceref_testing.tables import random_sample, tables
from pylanceref.file import LanceFileReader

from tests.lanceref_testing.plain import plain_columns

VERSIONS = {"2.0": V2_0, "2.1": V2_1, "2.2": V2_2, "2.3": V2_3}


def _check_rows(path: Path, table: pa.Table) -> None:
    """Compare all rows of a file, and three of them taken, with those of a table."""
    reader = LanceFileReader(path)
    assert plain_columns(reader.read_all().to_table()) == plain_columns(table)
    if table.num_rows:
        rows = sorted({0, table.num_rows // 2, table.num_rows - 1})
        taken = pa.concat_tables([table.slice(row, 1) for row in rows])
        assert plain_columns(reader.take_rows(rows).to_table()) == plain_columns(taken)


def test_every_variation_occurs_and_is_read(tmp_path):
    """Each variation occurs in some of a hundred files, whose rows are read equal."""
    seen = Counter[str]()
    for seed in range(51):
        for version in (V2_0, V2_3):
            table = random_sample(seed, version).table.slice(0, 300)
            sampler = VariationSampler(seed)
            write_noncanonical_file(tmp_path / "f", table, version, sampler)
            _check_rows(tmp_path / "f", table)
            seen.update(sampler.seen)

    assert ALL == seen.keys()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("violations", [frozenset(), variations.WRITER_VIOLATIONS], ids=len)
def test_only_writer_violations_break_clauses(tmp_path, version, violations):
    """Every byte of a noncanonical file is owned, and only allowed variations are drawn."""
    for seed in range(100, 105):
        table = random_sample(seed, VERSIONS[version]).table.slice(0, 300)
        sampler = VariationSampler(seed, ALL - variations.WRITER_VIOLATIONS | violations)
        write_noncanonical_file(tmp_path / "f", table, VERSIONS[version], sampler)

        _check_rows(tmp_path / "f", table)
        report = explain(tmp_path / "f")
        clauses = {finding.clause for finding in report.findings if finding.severity != "note"}
        assert [] == report.unowned
        assert clauses <= (variations.WRITER_CLAUSES if violations else set())
        assert sampler.seen.keys() <= sampler.allowed


@pytest.mark.parametrize("kind", ["bitpacked", "bitpacked for non-negative"])
def test_rows_are_read_from_any_block_of_packed_numbers(tmp_path, monkeypatch, kind):
    """All of three blocks, whole ones of these, and parts; without compiled kernels."""
    monkeypatch.setattr(KERNEL_USE, "is_there", False)
    table, sampler = pa.table({"a": pa.array(range(3000), pa.int32())}), VariationSampler(8, {kind})
    write_noncanonical_file(tmp_path / "f", table, V2_0, sampler)
    reader = LanceFileReader(tmp_path / "f")

    assert {kind} == set(sampler.seen)
    for start, count in ((0, 3000), (1024, 1024), (1100, 1900), (2047, 2)):
        assert table.slice(start, count) == reader.read_range(start, count).to_table()


def test_blobs_of_2_0_lie_between_the_pages(tmp_path):
    """Bytes, nulls and empty blobs are read back, and the file validates."""
    values = [b"abc", None, b"", b"z" * 70, b"abc"]
    field = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table([pa.array(values, pa.large_binary())], schema=pa.schema([field]))
    for seed in range(8):
        write_noncanonical_file(
            tmp_path / "f", table, V2_0, VariationSampler(seed, {"pages cut anywhere"})
        )
        _check_rows(tmp_path / "f", table)
        assert [] == validate(tmp_path / "f")


def test_a_variation_includes_its_prerequisites():
    """Deltas of deltas need positions in any codec, which need a sparse structure."""
    needed = {"deltas of deltas", "positions in any codec", "sparse structure"}

    assert needed == variations.with_prerequisites("deltas of deltas")
    assert {"bitpacked"} == variations.with_prerequisites("bitpacked")
    assert {*variations.PREREQUISITES, *variations.PREREQUISITES.values()} <= ALL


def test_a_seed_gives_the_same_file_again(tmp_path):
    """Every byte of a file is drawn from the generator that was given."""
    table = random_sample(3, V2_0).table
    for path in ("a", "b"):
        write_noncanonical_file(tmp_path / path, table, V2_0, VariationSampler(5))

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def _messages():
    schema = file_pb2.Schema(metadata={"k": b"v", "": b""})
    schema.fields.add(name="a", id=0, parent_id=-1, logical_type="int32", metadata={"x": b"1"})
    schema.fields.add(name="b", id=1, logical_type="string", nullable=True)
    column = file2_pb2.ColumnMetadata(buffer_offsets=[1, 2**40], buffer_sizes=[0, 300])
    column.pages.add(length=7, priority=2**63, buffer_offsets=[64])
    column.encoding.direct.encoding = b"abc"
    array = encodings_v2_0_pb2.ArrayEncoding()
    array.nullable.some_nulls.validity.flat.bits_per_value = 1
    array.nullable.some_nulls.values.flat.bits_per_value = 32
    array.nullable.some_nulls.values.flat.buffer.buffer_index = 1
    return [file_pb2.FileDescriptor(schema=schema, length=9), column, array]


@given(st.integers(0, 2**32))
def test_a_message_in_any_serialization_parses_as_the_same(seed):
    """Order of fields, length of numbers, splits and unknown fields change nothing."""
    sampler = VariationSampler(seed)
    for message in _messages():
        read = type(message).FromString(serialize(sampler, message))
        read.DiscardUnknownFields()

        assert message == read
    for message in _messages()[1:]:
        assert message.SerializeToString() == serialize(VariationSampler(0, ()), message)


def test_varints_may_be_longer_than_necessary():
    """300 is ac 02; zero groups make it longer, up to the given length."""
    sampler = VariationSampler(3, {"longer varints"})

    assert {"ac02", "ac8200", "ac828000"} == {varint(sampler, 300, 4).hex() for _ in range(200)}


@pytest.mark.parametrize(
    ("type_", "patterns"), [(pa.int64(), INTEGER_PATTERNS), (pa.string(), STRING_PATTERNS)]
)
def test_every_pattern_is_drawn(type_, patterns):
    """Every value pattern and every null pattern occurs within 200 seeds."""
    seen = Counter[str]()
    for seed in range(200):
        labels: set[str] = set()
        random_array(Random(seed), type_, 20, V2_1, labels=labels)
        seen.update(labels)

    assert {f"values {name}" for name in patterns} <= set(seen)
    assert {f"nulls {name}" for name in NULL_PATTERNS} <= set(seen)


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_structs_of_2_0_are_never_null(seed):
    """Structs for 2.0, which cannot store their validity, have no nulls at any level."""
    type_ = pa.list_(pa.struct([("s", pa.struct([("a", pa.int8())]))]))

    array = random_array(Random(seed), type_, 30, V2_0)

    assert 0 == array.values.null_count
    assert 0 == array.values.field(0).null_count


@pytest.mark.parametrize("version", [V2_0, V2_1, V2_2, V2_3])
def test_a_seed_gives_the_same_table_again(version):
    """A seed determines rows, field metadata, batches and labels of a sample."""
    for seed in range(20):
        first, again = random_sample(seed, version), random_sample(seed, version)

        assert first.table.schema.equals(again.table.schema, check_metadata=True)
        assert _bytes(first.table) == _bytes(again.table)
        assert (first.batch_rows, first.cache_bytes) == (again.batch_rows, again.cache_bytes)
        assert first.labels == again.labels


def _bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


@settings(deadline=None, max_examples=30)
@given(tables(V2_2, max_depth=2))
def test_tables_are_valid_arrow(sample):
    """Every sample is a valid table that is labelled with its types and depth."""
    sample.table.validate(full=True)

    assert any(label.startswith("type ") for label in sample.labels)
    assert any(label.startswith("depth ") for label in sample.labels)
