"""Limits on hostile bytes and on memory; the family of errors, and what callers hand over."""

import os
import pickle
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core import errors
from lanceref.core.integers import unsigned
from lanceref.core.limits import DEFAULT_LIMITS, SMALL_FILE_BYTES, Budget, Limits
from lanceref.proto import file_pb2, table_pb2, transaction_pb2
from lanceref.search.snapshot import bound_table
from lanceref.table.manifest import encode_manifest
from pylanceref.errors import CallerCode, ColumnRefused, KeyMissing
from pylanceref.file import LanceFileReader
from tests.table.manifests import parse

ROOM_BYTES = 16 * 2**20
"""What a busy process may hold besides."""


def test_the_defaults_stay_below_the_goal_for_damaged_files():
    """64 MiB + 16 times the file's size is the goal: the default leaves room beside the output."""
    assert DEFAULT_LIMITS.expanded(1000) <= 64 * 2**20 + 16 * 1000


def _peak_bytes(call: Callable[[], object]) -> int:
    """Return how far memory rises above what it is now while a forked child makes a call."""
    pid = os.fork()
    if pid == 0:
        with suppress(errors.LanceError):
            call()
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    assert 0 == status
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return 1024 * usage.ru_maxrss - pages * resource.getpagesize()


def _fields() -> bytes:
    """Return a field of a schema for each of many numbers."""
    shape = file_pb2.Field(parent_id=-1, logical_type="int8", type=2)
    manifest = table_pb2.Manifest()
    for number in range(1, 60_000):
        shape.name, shape.id = str(number), number
        manifest.fields.append(shape)
    return manifest.SerializeToString()


SHAPES: dict[str, Callable[[], bytes]] = {
    "fragments": lambda: table_pb2.Manifest(fragments=[{}]).SerializeToString() * 300_000,
    "fields": _fields,
    "unknown fields": lambda: b"\x98\x06\x01" * 300_000,
    "indices": lambda: b"",
}
"""What is appended to a manifest to fill it with many small entries."""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("name", SHAPES)
def test_a_manifest_of_many_small_entries_costs_no_more_than_the_limits(tmp_path, name):
    """Opening, validating and explaining take 64 MiB and 16 bytes for each that is read."""
    uri = str(tmp_path / "t")
    pylanceref.write_dataset(pa.table({"a": range(10)}), uri)
    (path,) = (tmp_path / "t" / "_versions").glob("*.manifest")
    calls = (
        lambda: pylanceref.dataset(uri).to_table(),
        lambda: lanceref.validate(uri),
        lambda: lanceref.explain(path),
    )
    sound = [_peak_bytes(call) for call in calls]
    message = parse(path.read_bytes()).message
    message.MergeFromString(SHAPES[name]())
    indices = [table_pb2.IndexMetadata()] * (400_000 if name == "indices" else 0)
    path.write_bytes(encode_manifest(message, transaction_pb2.Transaction(), indices, {}))
    size = path.stat().st_size
    del message, indices

    most = 64 * 2**20 + 16 * size + ROOM_BYTES
    for call, before in zip(calls, sound, strict=True):
        assert _peak_bytes(call) - before <= most


def test_a_table_of_constants_is_streamed_but_not_held(tmp_path):
    """7 million equal numbers are few bytes in the file, and 56 MB in memory."""
    uri = str(tmp_path / "t")
    rows = pa.table({"a": pa.array(np.zeros(7_000_000, np.int64))})
    written = pylanceref.write_dataset(
        rows, uri, data_storage_version="2.2", max_rows_per_file=7_000_000
    )
    (path,) = (tmp_path / "t" / "data").glob("*.lance")

    with pytest.raises(errors.LimitExceeded, match="to_batches"):
        written.to_table()
    with pytest.raises(errors.LimitExceeded, match="to_batches"):
        LanceFileReader(path).read_all().to_table()
    assert 7_000_000 == sum(batch.num_rows for batch in written.to_batches())
    more = pylanceref.dataset(uri, limits=Limits(expansion_bytes=2**28))
    assert 7_000_000 == more.to_table().num_rows


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_a_dictionary_that_batches_share_counts_once(version, tmp_path):
    """100 kB of items are in each of thirteen batches, and in memory once; at any depth."""
    keys = pa.array(np.arange(100_000) % 1000, pa.int16())
    column = pa.DictionaryArray.from_arrays(keys, [f"{number:0100}" for number in range(1000)])
    columns = {"d": column}
    if version != "2.0":
        columns["s"] = pa.StructArray.from_arrays([column], ["d"])
        columns["l"] = pa.ListArray.from_arrays(pa.array(range(100_001), pa.int32()), column)
    path, limits = tmp_path / "f.lance", Limits(expansion_bytes=2_100_000, expansion_factor=0)
    lanceref.write_file(path, pa.table(columns), version=version)

    assert 100_000 == lanceref.open_file(path, limits=limits).read().num_rows
    assert 100_000 == LanceFileReader(path, limits=limits).read_all().to_table().num_rows
    with pytest.raises(errors.LimitExceeded):
        lanceref.open_file(path, limits=replace(limits, expansion_bytes=250_000)).read()


PLACE = errors.Place("f", 0)
LIMITS = Limits(expansion_bytes=100_000, expansion_factor=16)
EMPTY_FRAGMENTS = b"\x12\x00" * 1000


def test_a_row_may_be_taken_as_often_as_it_is_asked_for(tmp_path):
    """A row a hundred times is no expansion of the file; many rows of a constant are one."""
    limits, text = Limits(expansion_bytes=50_000, expansion_factor=1), os.urandom(20_000)
    random, constant = tmp_path / "random.lance", tmp_path / "constant.lance"
    lanceref.write_file(random, pa.table({"b": pa.array([text] * 3, pa.binary())}))
    lanceref.write_file(constant, pa.table({"n": pa.array([7] * 10_000)}))
    taken = LanceFileReader(random, limits=limits).take_rows([1] * 100)

    assert [text] * 100 == taken.to_table()["b"].to_pylist()
    lanceref.write_table(tmp_path / "t", lanceref.open_file(random).read())
    assert 3 == pylanceref.dataset(tmp_path / "t", limits=limits).to_table().num_rows
    with pytest.raises(errors.LimitExceeded):
        LanceFileReader(constant, limits=limits).take_rows(range(10_000)).to_table()


def test_a_message_that_takes_too_much_is_refused():
    """1,000 empty fragments are 2,000 bytes, and more than 100 kB in memory."""
    with pytest.raises(errors.LimitExceeded, match="expansion_bytes"):
        Budget(LIMITS).of_file("a", 2000).admit(EMPTY_FRAGMENTS, table_pb2.Manifest, PLACE)


def test_the_files_of_a_table_share_what_it_may_take():
    """What one file takes beyond its size is missing for the next, until the file is closed."""
    table = Budget(LIMITS)
    first = table.of_file("a", 0)
    first.charge(SMALL_FILE_BYTES + 60_000, "a table", PLACE)
    with pytest.raises(errors.LimitExceeded):
        table.of_file("b", 0).charge(SMALL_FILE_BYTES + 60_000, "a table", PLACE)
    del first

    table.of_file("b", 0).charge(SMALL_FILE_BYTES + 60_000, "a table", PLACE)


def test_a_file_that_is_open_twice_counts_its_bytes_once():
    """Many fragments may name one file: its bytes were read, but each takes memory."""
    table = Budget(LIMITS)
    held = [table.of_file("a", 10_000)]
    held[0].charge(160_000, "a table", PLACE)

    for _ in range(2):  # each time it is closed again
        with pytest.raises(errors.LimitExceeded):
            table.of_file("a", 10_000).charge(160_000, "a table", PLACE)
    held.clear()
    table.of_file("a", 10_000).charge(160_000, "a table", PLACE)


def test_messages_of_no_file_are_not_summed_up():
    """A table may be read for days: what is parsed and let go of again uses nothing up."""
    table = Budget(LIMITS)
    message = table_pb2.Manifest(fragments=[table_pb2.DataFragment(id=1)] * 20)
    message.tag = "a" * 70_000

    for _ in range(100):
        table.admit(message.SerializeToString(), table_pb2.Manifest, PLACE)


ROW_LIMITS = Limits(expansion_bytes=1000, expansion_factor=16)


@pytest.mark.parametrize(
    ("values", "read_bytes", "passed"),
    [(100, 0, 1), (125, 0, 1), (129, 1, 0), (129, 2, 1), (100, 37, 1), (100, 38, 2)],
)
def test_batches_pass_until_they_are_too_many(values, read_bytes, passed):
    """Of 8 bytes a value 1000 pass, and sixteen times the bytes that were read."""
    batch = pa.record_batch({"a": pa.array([1] * values, pa.int64())})
    batches = bound_table([batch] * 3, ROW_LIMITS, "f", lambda: read_bytes)

    assert [batch] * passed == [next(batches) for _ in range(passed)]
    with pytest.raises(errors.LimitExceeded, match=r"to_batches\(\) streams"):
        next(batches)


PROGRAM = """
import resource
import numpy as np
from lanceref.core.run_sizes import KEPT_BYTES, keep_freed_blocks

keep_freed_blocks()
size = KEPT_BYTES // 4
np.ones(size, np.uint8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(8):
    np.ones(size, np.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, size // resource.getpagesize())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other rules")
def test_a_freed_block_is_used_again():
    """Eight arrays one after another fault for less than the pages of a single one."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True)
    faults, pages = map(int, done.stdout.split())

    assert faults < pages


def test_a_format_error_names_all_five_facts():
    """Clause, file, offset, found and wanted are attributes and lie in the text."""
    error = errors.BadMagic(
        "L.file.footer.magic", errors.Place("a.lance", 36, 4), found="00", wanted="4c414e43"
    )

    assert ("L.file.footer.magic", "a.lance", 36) == (error.clause, error.file, error.offset)
    assert (36, 40) == error.span
    for fact in ("a.lance", "36", "00", "4c414e43", "L.file.footer.magic"):
        assert fact in str(error)


@pytest.mark.parametrize(
    ("error", "python_class"),
    [
        (errors.FormatError("L.x.y", errors.Place("f", 0), found=1, wanted=2), ValueError),
        (
            errors.Unsupported("L.x.y", errors.Place("f", 0), found="lz77", wanted="zstd"),
            NotImplementedError,
        ),
        (errors.LimitExceeded("L.x.y", errors.Place("f", 0), found=9, wanted=1), errors.LanceError),
        (errors.CommitConflict("Append", "Overwrite", 2, retryable=False), OSError),
        (errors.NotFound("no dataset"), ValueError),
        (errors.NotFound("no dataset"), LookupError),
        (KeyMissing("no column"), KeyError),
        (ColumnRefused("no number"), TypeError),
    ],
)
def test_errors_are_also_what_python_calls_them(error, python_class):
    """A caller may catch the family or the Python class."""
    assert isinstance(error, errors.LanceError)
    assert isinstance(error, python_class)


def test_a_refused_query_says_whose_fault_it_is():
    """Once, also after it was pickled."""
    error = errors.QueryRefused("no such thing")
    assert "Invalid user input: no such thing" == str(error)
    assert str(error) == str(pickle.loads(pickle.dumps(error)))


def test_a_long_text_is_cut():
    """Beginning and end of a long text are shown, and how much is left out."""
    shown = errors.short("a" * 10_000 + "b" * 10_000)

    assert f"a [{20_000 - errors.SHOWN} characters] b" in shown
    assert len(shown) < errors.SHOWN + 40


def test_every_message_has_utf_8():
    """A surrogate is shown by its number."""
    assert "a\\ud800" == errors.short("a\ud800")


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, OverflowError), (2**64, OverflowError), (1.5, TypeError), ("1", TypeError)],
)
def test_others_are_refused(value, error):
    """Numbers outside of 64 bits and values that are no integers raise what pylance raises."""
    with pytest.raises(error):
        unsigned(value)  # type: ignore[arg-type]


def test_code_of_the_caller_fails_with_its_own_words():
    """Errors of ours, and what ends a process, are let through."""
    with pytest.raises(OSError, match="KeyError: 'gone'") as caught, CallerCode():
        raise KeyError("gone")
    assert isinstance(caught.value.__cause__, KeyError)
    for own in (errors.DataRefused, KeyboardInterrupt):
        with pytest.raises(own) as let, CallerCode():
            raise own("mine")
        assert own is type(let.value)
    with CallerCode():
        pass
