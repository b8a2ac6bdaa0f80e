"""Hostile bytes of tables: any damage is refused by its clause, in bounded memory."""

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from random import Random

import numpy as np
import pyarrow as pa
import pyroaring
import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError, LanceError, LimitExceeded
from lanceref.core.limits import Limits
from lanceref.core.spans import SpanRecorder
from lanceref.proto import table_pb2
from lanceref.proto.rowids_pb2 import RowDatasetVersionSequence, RowIdSequence
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource, LocalStore
from lanceref.table.arrow_file import expanded_bytes
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader, NullColumn
from lanceref.table.deletions import read_deletions
from lanceref.table.file_entries import offsets_below, parse_coverage
from lanceref.table.lineage import decode_row_ids, decode_versions
from lanceref.table.refs import list_branches, list_tags
from lanceref.table.roaring import parse_bitmap
from lanceref.table.rows import FragmentRows
from lanceref.transactions.transaction import check_transaction, open_transaction
from lanceref_testing.faulty_messages import change_some
from lanceref_testing.mutations import MASKS, flip
from pylanceref.history import made_at, summary_of

from tests.table.manifests import (
    WORKED,
    data_file,
    footer,
    fragment,
    minimal,
    parse,
    section,
    to_bytes,
)

CTX = Context("m.manifest")
PLACE = CTX.at(76, 121)


def _arrow(values: list[int], **options: str) -> bytes:
    """Return a deletion file in the form of an Arrow file."""
    schema = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_batch(pa.record_batch([pa.array(values, pa.uint32())], schema=schema))
    return sink.getvalue().to_pybytes()


def _with_index(**fields: object) -> bytes:
    """Return a manifest with an index section of one entry."""
    entry = {"uuid": {"uuid": bytes(16)}, "fields": [0], "name": "a_idx", **fields}
    front = section(table_pb2.IndexSection(indices=[entry]).SerializeToString())
    return front + section(minimal(index_section=0).SerializeToString()) + footer(len(front))


def _overlay(bitmap: bytes) -> table_pb2.DataOverlayFile:
    made = table_pb2.DataOverlayFile(committed_version=2, shared_offset_bitmap=bitmap)
    file = made.data_file
    file.path, file.fields[:], file.column_indices[:] = "x", [0], [0]
    file.file_major_version, file.file_minor_version = 2, 1
    return made


def _ids(data: bytes, rows: int) -> list[int]:
    return decode_row_ids(data, rows, CTX, PLACE).at(np.arange(rows)).tolist()


def _deletions(suffix: str) -> Callable[[bytes], object]:
    def read(data: bytes) -> None:
        source = BytesSource(data, f"0-1-2{suffix}")
        ctx = Context(source.path, spans=SpanRecorder(), findings=[])
        with ctx.piece():
            read_deletions(source, ctx)
        rows = read_deletions(source, Context(source.path), None, 2**20 + 1)
        assert np.all(rows[1:] > rows[:-1])

    return read


def _transaction(data: bytes) -> None:
    source = BytesSource(data, "1-u.txn")
    ctx = Context("1-u.txn", spans=SpanRecorder(), findings=[])
    with ctx.piece():
        check_transaction(source, ctx)
    open_transaction(source, Context("1-u.txn"))


RUNS = pyroaring.BitMap([*range(50), *range(2**16, 2**16 + 90, 3)])
RUNS.run_optimize()
ONE_AND_THREE = bytes.fromhex("3a30000001000000000001001000000001000300")
SEQUENCE = bytes.fromhex("0a091a07080510081a01050a080a06089601109701")

STRUCTURES: dict[str, tuple[bytes, Callable[[bytes], object]]] = {
    "manifest": (WORKED, lambda data: (summary_of(parse(data)), made_at(parse(data)))),
    "index section": (_with_index(fragment_bitmap=ONE_AND_THREE), parse),
    "transaction": (bytes.fromhex("08011224") + b"c" * 36 + bytes.fromhex("aa0600"), _transaction),
    "plain deletions": (_arrow([3, 5, 9]), _deletions(".arrow")),
    "compressed deletions": (_arrow([*range(0, 400, 3)], compression="zstd"), _deletions(".arrow")),
    "deletion bitmap": (pyroaring.BitMap([3, 5, 2**20]).serialize(), _deletions(".bin")),
    "bitmap of runs": (
        RUNS.serialize(),
        lambda data: parse_bitmap(Cursor(memoryview(data), 0, Context("d.bin"))),
    ),
    "overlay": (ONE_AND_THREE, lambda data: parse_coverage(_overlay(data), CTX, PLACE)),
    "row ids": (SEQUENCE, lambda data: _ids(data, 3)),
    "row versions": (
        bytes.fromhex("0a080a040a02100210010a0a0a060a04080210031002"),
        lambda data: decode_versions(data, 3, CTX, PLACE).at(np.arange(3)),
    ),
}
"""Whole bytes of each structure, and what reads them."""


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_flipped_byte_is_read_or_refused(name):
    """A refusal names a clause, what was found and what was wanted; no other error escapes."""
    whole, read = STRUCTURES[name]
    read(whole)
    for at in range(len(whole)):
        for mask in MASKS:
            try:
                read(flip(whole, at, mask).apply(whole))
            except LanceError as error:
                assert error.clause.startswith("L.")
                assert error.found and error.wanted
                assert 0 <= error.offset


def test_buffers_of_an_arrow_file_lie_anywhere():
    """Also where the first of two, which has no bytes, is said to begin at 8."""
    data, two = _arrow([3, 5, 9]), b"\2\0\0\0" + bytes(24) + b"\x0c"
    moved = data.replace(two, two[:4] + b"\x08" + two[5:])
    rows = read_deletions(BytesSource(moved, "0-1-2.arrow"), Context("0-1-2.arrow"))
    assert moved != data and [3, 5, 9] == rows.tolist()
    assert 12 == expanded_bytes(pa.py_buffer(moved))


MESSAGES: dict[str, tuple[Message, Callable[[Message], bytes]]] = {
    "manifest": (parse(WORKED).message, to_bytes),
    **{
        name: (message.FromString(STRUCTURES[name][0]), message.SerializeToString)
        for name, message in (
            ("transaction", Transaction),
            ("row ids", RowIdSequence),
            ("row versions", RowDatasetVersionSequence),
        )
    },
}
"""The message of a structure, and what makes its bytes of one."""


@pytest.mark.parametrize("name", MESSAGES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_faulty_messages_are_read_or_refused(name, seed):
    """Any values, very many items and unknown fields raise nothing but errors of the library."""
    whole, encode = MESSAGES[name]
    message = type(whole)()
    message.CopyFrom(whole)
    change_some(message, Random(seed))
    with suppress(LanceError):
        STRUCTURES[name][1](encode(message))


MAPPING = b'{"parentVersion": 1, "identifier": {"version_mapping": %s}}'
REFS = {
    "tags": [
        b'{"branch": "dev/x", "version": 2, "createdAt": "2026-11-21T06:00:29.475201856Z"}',
        *(b"", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"version": true}', b'{"version": -1}'),
        *(b'{"version": 1, "branch": 5}', b'{"version": ' + b"9" * 5000 + b"}"),
    ],
    "branches": [
        MAPPING % b'[[1, "3a31"]]',
        *(b"{}", b'{"parentVersion": 1, "identifier": []}', MAPPING % b"[1]"),
    ],
}
"""A ref of each kind, and texts that are none."""


@pytest.mark.parametrize("folder", REFS)
def test_a_damaged_ref_is_read_or_refused(tmp_path, folder):
    """Every byte flipped, and JSON of another shape, depth or size."""
    whole, *others = REFS[folder]
    path = tmp_path / "_refs" / folder / "r.json"
    path.parent.mkdir(parents=True)
    read = list_tags if folder == "tags" else list_branches
    for at in range(len(whole)):
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ (1, 0x80, 0xFF)[at % 3]]) + whole[at + 1 :]
        )
        try:
            assert 1 == len(read(LocalStore(tmp_path), CTX))
        except FormatError as error:
            assert error.clause.startswith("L.table.refs.") and error.found and error.wanted
    for data in others:
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"L\.table\.refs\."):
            read(LocalStore(tmp_path), CTX)


def _peak(read: Callable[[], object]) -> int:
    """Return the most memory that a call allocated at once."""
    tracemalloc.start()
    try:
        read()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def _runs(containers: int) -> bytes:
    held = pyroaring.BitMap(range(containers * 2**16))
    held.run_optimize()
    return held.serialize()


@pytest.mark.parametrize(
    ("fields", "sets", "wanted"),
    [
        ([3, 4], [[1, 3]], None),
        ([3, 4], [[1, 3], [0]], {3: [1, 3], 4: [0]}),
        ([3, -2, 4], [[1], [5], [0]], {3: [1], 4: [0]}),
        ([3], [[1], [0]], {3: [1]}),
        ([], [[1]], {}),
    ],
)
def test_each_field_of_an_overlay_has_offsets(fields, sets, wanted):
    """Fewer sets than fields are refused, more are reported; a field of -2 is none any more."""
    made, findings = _overlay(b""), []
    made.data_file.fields[:] = fields
    held = [pyroaring.BitMap(one).serialize() for one in sets]
    made.field_coverage.offset_bitmaps[:] = held
    context = Context("m.manifest", findings=findings)
    if wanted is None:
        with pytest.raises(FormatError, match="1 sets of offsets for 2 fields"):
            parse_coverage(made, context, PLACE)
        return
    found = parse_coverage(made, context, PLACE)
    assert wanted == {field: list(offsets) for field, offsets in found.items()}
    reported = ["L.table.overlay.coverage"] * (len(sets) > len(fields))
    assert reported == [one.clause for one in findings]


def test_runs_take_no_memory_before_they_are_bounded():
    """Millions of offsets in a kilobyte are refused or kept as runs, in four megabytes at most."""

    def deletions() -> None:
        with pytest.raises(FormatError, match=r"L\.table\.deletions\.count"):
            read_deletions(BytesSource(_runs(150), "d.bin"), Context("d.bin"), 5)

    def coverage() -> None:
        covered = parse_coverage(_overlay(_runs(130)), CTX, PLACE)[0]
        assert [0, 1, 2] == offsets_below(3, covered).tolist()
        assert [] == offsets_below(3, pyroaring.BitMap()).tolist()

    assert _peak(deletions) < 2**22
    assert _peak(coverage) < 2**22


def test_bitmaps_that_expand_too_far_are_refused():
    """131 072 000 values in 28 kB, and a million fragments of an index, exceed limits."""
    numbers = range(2000)
    head = (12347 | 1999 << 16).to_bytes(4, "little") + b"\xff" * 250
    head += np.array([word for key in numbers for word in (key, 65535)], "<u2").tobytes()
    data = head + bytes(8000) + np.array([1, 0, 65535], "<u2").tobytes() * 2000
    with pytest.raises(LimitExceeded) as caught:
        parse_bitmap(Cursor(memoryview(data), 0, Context("d.bin")))
    error = caught.value
    assert ("L.table.limits.bitmap", "131072000 values") == (error.clause, error.found)
    many = pyroaring.BitMap(range(2**20), optimize=True).serialize()
    with pytest.raises(LimitExceeded, match="over 1048576 fragments"):
        parse(_with_index(fragment_bitmap=many))


@pytest.mark.parametrize(
    ("type_", "rows"),
    [
        (pa.list_(pa.int64(), 2**31 - 1), 1),
        (pa.binary(2**31 - 1), 1),
        (pa.struct([("v", pa.list_(pa.list_(pa.int8(), 2**15), 2**12))]), 1),
        (pa.int64(), 2**31 + 1),
    ],
    ids=str,
)
def test_rows_without_a_file_have_a_limit(tmp_path, type_, rows):
    """A schema and a count of a few bytes cannot ask for gigabytes of nulls."""
    with pytest.raises(LimitExceeded, match=r"L\.table\.limits\.no-file"):
        if rows == 1:
            NullColumn(type_, rows, CTX, PLACE)
        else:
            manifest = parse(minimal(fragments=[{"id": 0, "physical_rows": rows}]))
            reader = FragmentReader(
                manifest.fragments[0], Bases(LocalStore(tmp_path), manifest), CTX
            )
            reader.column(manifest.schema.fields[0])


@pytest.mark.parametrize(
    ("type_", "row_bytes"),
    [
        (pa.binary(10), 11),
        (pa.list_(pa.int8(), 3), 28),
        (pa.struct([("a", pa.binary(4)), ("b", pa.int8())]), 15),
    ],
)
def test_rows_without_a_file_are_as_wide_as_the_limit_at_most(type_, row_bytes):
    """A value counts nine bytes, or those of its type and one."""
    NullColumn(type_, 1, Context("m", limits=Limits(expansion_bytes=row_bytes)), PLACE)
    with pytest.raises(LimitExceeded, match=f"rows of {row_bytes} bytes"):
        NullColumn(type_, 1, Context("m", limits=Limits(expansion_bytes=row_bytes - 1)), PLACE)


def test_ids_of_rows_that_only_a_manifest_states(tmp_path):
    """They are not asked for before the rows are bounded."""
    manifest = parse(minimal(fragments=[{"id": 0, "physical_rows": 2**31 + 1}]))
    bases = Bases(LocalStore(tmp_path), manifest)
    with pytest.raises(LimitExceeded, match=r"L\.table\.limits\.no-file"):
        _ = FragmentRows(manifest.fragments[0], bases, CTX, True).by_id


def _two_sets_of_three() -> dict[str, object]:
    over = _overlay(b"")
    over.ClearField("shared_offset_bitmap")
    over.field_coverage.offset_bitmaps.extend([ONE_AND_THREE] * 3)
    words = {"reader_feature_flags": 64, "writer_feature_flags": 64, "max_fragment_id": 0}
    return {"fragments": [fragment(overlays=[over])], "version": 2, **words}


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (_with_index(base_id=4), "L.table.base.resolves"),
        (to_bytes(minimal(**_two_sets_of_three())), "L.table.overlay.coverage"),
    ],
)
def test_what_readers_pass_over_is_found(data, clause):
    """An unlisted base of an index and sets without a field are findings."""
    findings = []
    parse(data, findings)

    assert clause in [finding.clause for finding in findings]


def test_a_manifest_without_bytes_ends_where_the_footer_begins():
    """Its length has room; one of three bytes has none."""
    assert () == tuple(parse(section(b"") + footer(0)).schema.fields)
    with pytest.raises(FormatError, match=r"L\.table\.manifest\.section"):
        parse(bytes(3) + footer(0))


def test_a_field_is_listed_once():
    """A field in two columns of a file, or in two files, is refused."""
    twice = data_file(fields=[0, 0], column_indices=[0, 1])
    for files in ([twice], [data_file(), data_file(path="g")]):
        with pytest.raises(FormatError, match=r"L\.table\.datafile\.once"):
            parse(minimal(fragments=[fragment(0, *files)]))
