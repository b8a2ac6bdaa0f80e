"""Odd sparse structures: every codec spells the same positions."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.file_versions import V2_3
from lanceref.data_file.lance_file import LanceFileReader
from lanceref.validate import validate
from lanceref_testing.odd_files import odd_file
from lanceref_testing.odd_sparse import odd_sequence
from lanceref_testing.oddities import PAGES, Chance

ROWS = {
    "lists": [None if i % 7 == 0 else list(range(i % 5)) for i in range(300)],
    "structs": [None if i % 3 == 0 else {"a": i} for i in range(200)],
    "numbers": [None if i * i % 11 == 3 else i for i in range(500)],
}


def test_flat_positions_are_their_words():
    """Without odd codecs or luck: 3, 4, 9 as three u64; with luck as deltas 1 and 5 after 3."""
    seen = set()
    for seed in range(60):
        encoding, data = odd_sequence(Chance(seed, ()), np.array([3, 4, 9]))
        seen.add(encoding.WhichOneof("compression"))
        if encoding.HasField("flat"):
            assert bytes(data) == b"".join(n.to_bytes(8, "little") for n in (3, 4, 9))
        if encoding.HasField("delta"):
            assert encoding.delta.base == 3

    assert seen == {"flat", "delta", "out_of_line_bitpacking"}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("seed", range(6))
def test_rows_come_back(tmp_path, name, seed):
    """Scanned, and validate finds nothing."""
    table = pa.table({"c": pa.array(ROWS[name])})
    odd_file(tmp_path / "f", table, V2_3, Chance(seed, PAGES))

    assert LanceFileReader(tmp_path / "f").read_all().to_table()["c"].to_pylist() == ROWS[name]
    assert validate(tmp_path / "f") == []
