"""Odd pages: our reader and the oracle's on files that no writer makes."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lanceref.core.file_versions import V2_1, V2_2, V2_3
from lanceref.data_file.lance_file import LanceFileReader
from lanceref_testing.odd_files import odd_file
from lanceref_testing.oddities import ALL, Chance

MAP = pa.map_(pa.string(), pa.int8())
ROWS = {
    "numbers": pa.array([None if i % 7 == 0 else i * i for i in range(900)], pa.int64()),
    "strings": pa.array([None if i % 5 == 0 else f"value {i % 50}" for i in range(900)]),
    "booleans": pa.array([i % 3 == 0 for i in range(900)]),
    "lists": pa.array([None if i % 7 == 0 else list(range(i % 5)) for i in range(900)]),
    "nested": pa.array([[[{"a": i, "b": "x"}], []] if i % 4 else [] for i in range(300)]),
    "vectors": pa.array([[i, 1, 2] for i in range(900)], pa.list_(pa.float32(), 3)),
    "dictionary": pa.array([f"v{i % 7}" for i in range(900)]).dictionary_encode(),
    "constant": pa.array([7, None] * 400),
    "wide": pa.array([f"{i:03d}" * 300 if i % 3 else None for i in range(60)]),
    "map": pa.array(
        [[("k", i)] if i % 2 else [] for i in range(90)], pa.map_(pa.string(), pa.int8())
    ),
}
VERSIONS = {"2.1": V2_1, "2.2": V2_2, "2.3": V2_3}

READ_BACK = """
import sys, pyarrow as pa
from lance.file import LanceFileReader
for path in sys.argv[1:]:
    table = LanceFileReader(path).read_all().to_table()
    with pa.OSFile(path + ".arrow", "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
"""


def _table(version):
    names = [name for name in ROWS if version != "2.1" or name != "map"]
    return [(name, pa.table({"c": ROWS[name]})) for name in names]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(8))
def test_odd_files_are_read_equal(tmp_path, version, seed):
    """Scanned, and rows taken."""
    for name, table in _table(version):
        odd_file(tmp_path / "f", table, VERSIONS[version], Chance(seed))

        reader = LanceFileReader(tmp_path / "f")

        rows = [0, 1, len(table) // 2, len(table) - 1]
        assert reader.read_all().to_table()["c"].to_pylist() == ROWS[name].to_pylist(), name
        assert reader.take_rows(rows).to_table()["c"].to_pylist() == [
            ROWS[name][row].as_py() for row in rows
        ], name


@pytest.mark.oracle
@pytest.mark.parametrize("version", VERSIONS)
def test_the_oracle_reads_odd_files(tmp_path, version):
    """What its writer never makes, its reader takes, but for D.codec.deltas."""
    written = []
    for seed in range(3):
        for name, table in _table(version):
            written.append((name, tmp_path / f"{seed}-{name}"))
            odd_file(
                written[-1][1],
                table,
                VERSIONS[version],
                Chance(seed, ALL - {"compressed deltas", "deltas of deltas"}),
            )

    command = [sys.executable, "-c", READ_BACK, *(str(path) for _, path in written)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ)

    for name, path in written:
        read = pa.ipc.open_file(Path(f"{path}.arrow")).read_all()["c"]
        assert read.to_pylist() == ROWS[name].to_pylist(), path.name


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_the_oracle_cannot_read_struct_nulls_after_list_nulls(tmp_path, version):
    """D.page.struct-nulls-after-list-nulls: two pages of its own, the first with an empty list."""
    from lance.file import LanceFileReader as OracleReader
    from lance.file import LanceFileWriter as OracleWriter

    type_ = pa.struct([("a", pa.list_(pa.int64()))])
    schema = pa.schema([("c", type_)])
    pages = [[{"a": []}], [None, {"a": [1]}]]
    path = str(tmp_path / "f")
    with OracleWriter(path, schema, version=version, data_cache_bytes=1) as writer:
        for rows in pages:
            writer.write_batch(pa.record_batch([pa.array(rows, type_)], schema=schema))

    with pytest.raises(ValueError, match="Incorrect number of nulls"):
        OracleReader(path).read_all().to_table()
    assert LanceFileReader(path).read_all().to_table()["c"].to_pylist() == [*pages[0], *pages[1]]
