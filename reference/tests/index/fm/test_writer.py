"""FM partitions, written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.index.fm.partition import FINGERPRINT_PRIME, FINGERPRINT_START, fingerprint

from .texts import make, partitions


def test_worked_fingerprint():
    """Of no text it is that of eight bytes 00: each multiplies."""
    assert fingerprint([], []) == FINGERPRINT_START * FINGERPRINT_PRIME**8 % 2**64
    assert fingerprint([b"banana"], [0]) == 0x821D6F7CFEAB526F  # as the official writer has it


def test_worked_columns(tmp_path):
    """The text is banana FF FF ana FF 00; its endings begin at 12 11 7 6 ...: 00, FF 00, ..."""
    (partition,) = partitions(make(["banana", "", None, "ana"], tmp_path))
    file = partition.file
    assert partition.num_bytes == 13
    assert [0, 1, 3] == partition.row_ids.tolist()
    assert [0, 7, 8] == partition.starts.tolist()
    assert [6, 7, 11] == partition.ends.tolist()
    assert [0, 1, 2, 3, 0xFFFFFFFF] == file.read("node_id").to_pylist()
    assert [13, 5, 2, 8, 1] == file.read("bit_len").to_pylist()
    assert (
        "851f000000000000 0e00000000000000 0100000000000000 bc00000000000000 0c00000000000000"
    ) == " ".join(words.hex() for words in file.read("words").to_pylist())
    assert np.flatnonzero(np.diff(partition.firsts)).tolist() == [0, *b"abn", 0xFF]
    assert file.text("partition_fingerprint") == "a26c57570a7f6c92"


def test_bytes_that_end_texts_are_blanks(tmp_path):
    """00 and FF of a text are stored as 20."""
    (partition,) = partitions(make([b"\x00", b"\xffa"], tmp_path, pa.binary()))
    counts = np.diff(partition.firsts)
    assert (counts[0], counts[0x20], counts[0xFF]) == (1, 2, 2)


def test_nothing_is_a_partition_too(tmp_path):
    """Without bytes, nodes and rows."""
    for number, values in enumerate(([], [None])):
        (partition,) = partitions(make(values, tmp_path / f"{number}"))
        assert (partition.num_bytes, partition.file.num_rows) == (0, 0)
