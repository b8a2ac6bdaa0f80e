"""One fault per file: each is refused under the clause it breaks, padding is only reported."""

import struct

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError

from .oracle_files import column, open_bytes, write
from .shapes import Shape

pytestmark = pytest.mark.oracle

LISTS = Shape(pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())))
LONG = Shape(pa.array([list(range(i % 7 + 1)) for i in range(2000)], pa.list_(pa.int32())))
NUMBERS = Shape(pa.array(np.random.default_rng(1).integers(-(2**62), 2**62, 1500)))
STRINGS = Shape(
    pa.array([None, "ab", "", "wörd"]), {"lance-encoding:structural-encoding": "fullzip"}
)
SEVENS = Shape(pa.array([7] * 100, pa.int32()))


def _broken(data: bytes) -> str:
    """Return the clause under which a file is refused."""
    with pytest.raises(BytesError) as caught:
        reader = column(open_bytes(data))
        list(reader.scan(0, reader.num_rows))
    return caught.value.clause


def _buffer(data: bytes, number: int) -> tuple[int, int]:
    extent = open_bytes(data).columns[0].pages[0].extents[number]
    return extent.offset, extent.size


def _patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _as_version(data: bytes, minor: int) -> bytes:
    return data[:-8] + struct.pack("<HH", 2, minor) + data[-4:]


@pytest.mark.parametrize(
    ("shape", "version", "minor", "clause"),
    [
        (NUMBERS, "2.1", 2, "L.page.miniblock.large-chunk"),
        (NUMBERS, "2.2", 1, "L.page.miniblock.large-chunk"),
        (SEVENS, "2.2", 1, "L.page.constant.only-null"),
        (NUMBERS, "2.2", 3, "L.file.pages.type-url"),
        (NUMBERS, "2.3", 2, "L.file.pages.type-url"),
    ],
)
def test_grammar_of_another_version_is_refused_at_open(shape, version, minor, clause, tmp_path):
    """A footer that names another version meets pages which that version does not have."""
    data = _as_version(write(shape, version, tmp_path / "c.lance"), minor)
    with pytest.raises(BytesError) as caught:
        open_bytes(data)

    assert clause == caught.value.clause


def test_enlarged_chunk_word(tmp_path):
    """A chunk larger than the chunk buffer."""
    data = write(LISTS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 0)

    assert "L.page.miniblock.chunk-bytes" == _broken(_patched(data, at, b"\x70"))


def test_log_of_a_chunk_that_is_not_the_last(tmp_path):
    """512 values turned into 256: the last chunk no longer has the rest."""
    data = write(NUMBERS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 0)
    changed = _patched(data, at, bytes([data[at] - 1]))

    assert 9 == data[at] & 15
    assert "L.codec.flat.size" == _broken(changed)


def test_number_of_levels(tmp_path):
    """One level more than the level buffers hold."""
    data = write(LISTS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 1)

    assert "L.codec.flat.size" == _broken(_patched(data, at, b"\x06"))


def test_levels_counted_where_there_are_none(tmp_path):
    """A page without levels has 0 in every chunk header."""
    data = write(NUMBERS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 1)

    assert "L.page.miniblock.num-levels" == _broken(_patched(data, at, b"\x01"))


@pytest.mark.parametrize(("word", "clause"), [(0, "rows"), (1, "agrees")])
def test_repetition_index_off_by_one(word, clause, tmp_path):
    """Finished rows break the total, leftover entries the agreement with the levels."""
    data = write(LONG, "2.1", tmp_path / "c.lance")
    at, size = _buffer(data, 2)
    at += 8 * word

    assert size > 16
    assert f"L.page.repindex.{clause}" == _broken(_patched(data, at, bytes([data[at] ^ 1])))


def test_rows_moved_between_chunks_of_the_index(tmp_path):
    """The total is right, but a row is said to end one chunk too early."""
    data = write(LONG, "2.2", tmp_path / "c.lance")
    at, size = _buffer(data, 2)
    words = np.frombuffer(data[at : at + size], "<u8").copy()
    words[0] += 1
    words[2] -= 1

    assert "L.page.repindex.agrees" == _broken(_patched(data, at, words.tobytes()))


def test_control_word_with_an_unknown_level(tmp_path):
    """Two bits set where the levels of nullable strings have one."""
    data = write(STRINGS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 0)

    assert "L.page.fullzip.control-word" == _broken(_patched(data, at, b"\x02"))


def test_length_beyond_the_row(tmp_path):
    """A string of 3 bytes where the row index leaves room for 2."""
    data = write(STRINGS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 0)

    assert "L.page.fullzip.length" == _broken(_patched(data, at + 2, b"\x03"))


def test_row_index_that_points_elsewhere(tmp_path):
    """A full scan does not need the row index, and is refused all the same."""
    data = write(STRINGS, "2.1", tmp_path / "c.lance")
    at, _ = _buffer(data, 1)

    assert _broken(_patched(data, at + 1, b"\x02")).startswith("L.page.fullzip.")
    assert "L.page.rowindex.order" == _broken(_patched(data, at + 1, b"\x0f"))


def test_errors_of_scattered_rows_name_the_chunk(tmp_path):
    """A take that decodes far apart chunks together still says where the damage lies."""
    numbers = pa.array(np.random.default_rng(1).integers(-(2**62), 2**62, 9000))
    data = write(Shape(numbers), "2.1", tmp_path / "c.lance")
    at, size = _buffer(data, 1)
    chunk = at + 16 * 4104
    reader = column(open_bytes(_patched(data, chunk, b"\x01")))
    with pytest.raises(BytesError) as caught:
        reader.take(np.array([0, 16 * 512 + 5]))

    assert size > 16 * 4104
    assert chunk == caught.value.offset


def test_padding_is_read_and_reported(tmp_path):
    """Another padding byte changes no value; checking names it."""
    data = write(LISTS, "2.1", tmp_path / "c.lance")
    at, size = _buffer(data, 1)
    changed = _patched(data, at + size - 1, b"\0")
    findings = []
    reader = column(open_bytes(changed))
    column(open_bytes(changed, None, findings)).check()

    assert LISTS.array.equals(next(reader.scan(0, 4)))
    assert ["L.page.miniblock.padding"] == [finding.clause for finding in findings]
    assert [at + size - 4] == [finding.offset for finding in findings]
