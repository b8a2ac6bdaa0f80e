"""Sessions of files, and blobs that are stored by one before their rows."""

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.blobs.descriptors import PACKED, PREPARED, sidecar_path
from lanceref.file.schema import BLOB_EXTENSION, EXTENSION_KEY
from pylanceref.file import LanceFileSession

BATCH = pa.record_batch({"a": [1, 2, 3]})


READ = [("up/a", 1, 3), ("up/a", 9, 0), ("up/a", 0, 1 << 20), ("up", 0, 1), ("up/a", -1, 1)]
CALLS = [
    lambda s: _rows(s, "d/x.lance"),
    lambda s: _rows(s, "/d//x.lance"),
    lambda s: _rows(s, "nothing"),
    lambda s: s.upload_file(__file__, "up/a"),
    lambda s: s.upload_file("nothing here", "up/b"),
    lambda s: [s.contains(path) for path in ("up/a", "up", "d/x.lance", "nothing", "")],
    lambda s: [sorted(s.list(path)) for path in (None, "", "up", "d/", "nothing", "up/a")],
    lambda s: [
        (sorted(one.common_prefixes), sorted(one.objects))
        for one in map(s.list_with_delimiter, (None, "up/", "nothing"))
    ],
    *(lambda s, given=given: s.read_range(*given) for given in READ),
    lambda s: s.download_file("up/a", "/dev/null"),
    lambda s: s.download_file("nothing", "/dev/null"),
    lambda s: s.delete_file("up/a"),
    lambda s: s.delete_file("up/a"),
    lambda s: s.list("up"),
]


def _rows(session, path: str) -> list[dict]:
    return session.open_reader(path, ["a"]).read_all().to_table().to_pylist()


def _calls(session) -> list[object]:
    """What every call gives, the class of its error where there is one."""
    with session.open_writer("d/x.lance", schema=BATCH.schema, version="2.1") as writer:
        writer.write_batch(BATCH)
    found, kinds = list[object](), (OSError, OverflowError, TypeError, ValueError)
    for call in CALLS:
        try:
            found.append(call(session))
        except kinds as error:
            found.append(next(kind for kind in kinds if isinstance(error, kind)))
    return found


def test_files_are_written_and_read_below_the_folder(tmp_path):
    """No path leaves the folder of the session."""
    session = LanceFileSession(tmp_path / "s")
    rows = [{"a": 1}, {"a": 2}, {"a": 3}]

    assert [rows, rows, ValueError] == _calls(session)[:3]
    session.upload_file(__file__, "u/a")
    session.download_file("u/a", tmp_path / "down")
    assert Path(__file__).read_bytes() == (tmp_path / "down").read_bytes()
    assert ["s/d/x.lance"] == [
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.lance")
    ]
    for call in (session.open_reader, session.contains, session.list, session.delete_file):
        with pytest.raises(OSError, match="outside"):
            call("../up")


@pytest.mark.oracle
def test_every_call_does_as_with_the_oracle(tmp_path):
    """Same results, errors of the same class."""
    from lance.file import LanceFileSession as Theirs

    ours = _calls(LanceFileSession(str(tmp_path / "ours")))
    assert ours == _calls(Theirs(str(tmp_path / "theirs")))


def test_prepared_rows_take_the_place_of_others(tmp_path):
    """Written by hand beside a table, committed, and read back."""
    rows = pa.table(
        {"b": pylanceref.blob_array([b"old"])}, schema=pa.schema([pylanceref.blob_field("b")])
    )
    table = pylanceref.write_dataset(rows, tmp_path, data_storage_version="2.2")
    session = LanceFileSession(tmp_path / "data")
    (tmp_path / "data" / sidecar_path("new.lance", 1)).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "data" / sidecar_path("new.lance", 1)).write_bytes(b"new")
    packed = {"kind": PACKED, "blob_id": 1, "position": 0, "blob_size": 3}
    field = pa.field("b", PREPARED, metadata={EXTENSION_KEY: BLOB_EXTENSION})
    made, schema = pa.array([packed], PREPARED), pa.schema([field])
    with session.open_writer("new.lance", schema=schema, version="2.2") as file:
        file.write_batch(pa.record_batch([made], schema=schema))
    replaced = pylanceref.LanceOperation.DataReplacementGroup(
        0, pylanceref.DataFile.create(table, "new.lance")
    )
    operation = pylanceref.LanceOperation.DataReplacement([replaced])
    table = pylanceref.LanceDataset.commit(table, operation, read_version=1)
    (blob,) = table.take_blobs("b", indices=[0])
    assert b"new" == blob.readall()
