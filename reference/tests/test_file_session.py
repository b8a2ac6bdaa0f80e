"""Sessions of files, and blobs that are stored by one before their rows."""

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.blobs.descriptors import sidecar_path
from pylanceref.file import LanceFileSession

BATCH = pa.record_batch({"a": [1, 2, 3]})
KINDS = (OSError, OverflowError, TypeError, ValueError)
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
    found = list[object]()
    for call in CALLS:
        try:
            found.append(call(session))
        except KINDS as error:
            found.append(next(kind for kind in KINDS if isinstance(error, kind)))
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


NAME = "new.lance"
STORED = [b"one", b"two", None, b"", b"three", b"one", None, b"four", b"ne", b"", b"three"]


def _prepare(session, builder) -> tuple[pa.RecordBatch, list[object]]:
    """The rows STORED, written beside a data file, and what is said of them and of wrong calls."""
    packed = session.open_packed_blob_writer(NAME, 1)
    packed.write_blob(b"one")
    packed.write_blobs(pa.chunked_array([[b"two", None], [b""]], pa.binary()))
    dedicated = session.open_dedicated_blob_writer(NAME, 2)
    dedicated.write(bytearray(b"thr"))
    dedicated.write(list(b"ee"))
    said: list[object] = [packed.blob_id, Path(packed.path).name, Path(dedicated.path).parent.name]
    places = [*packed.finish(), dedicated.finish()]
    builder.extend(places)
    builder.append(places[0])
    builder.append_null()
    builder.append_inline(b"four")
    builder.extend_packed(1, [1, 6], [2, 0])
    builder.append_dedicated(2, 5)
    open_, empty = (
        session.open_packed_blob_writer(NAME, 3),
        session.open_packed_blob_writer(NAME, 4),
    )
    for call in (
        lambda: packed.write_blob(b"late"),
        dedicated.finish,
        lambda: packed.path,
        lambda: open_.field,
        lambda: open_.write_blobs(pa.array(["text"])),
        lambda: open_.write_blobs([b"bytes"]),
        lambda: open_.write_blob("text"),
        lambda: open_.write_blob([256]),
        lambda: session.open_packed_blob_writer("a.txt", 1),
        lambda: session.open_dedicated_blob_writer(NAME, 0),
        lambda: session.open_dedicated_blob_writer(NAME, 1 << 32),
        lambda: builder.extend([b"bytes"]),
        lambda: builder.append_dedicated(0, 1),
        lambda: builder.extend_packed(1, [1 << 63], [1 << 63]),
        lambda: builder.append_managed("../up", 0, 1),
    ):
        with pytest.raises(KINDS[1:]) as raised:
            call()
        said.append(next(kind for kind in KINDS[1:] if isinstance(raised.value, kind)))
    open_.write_blobs(pa.array([b"a", None], pa.large_binary()))
    said += [
        *map(repr, places),
        open_.finish_array("c"),
        open_.field,
        empty.finish(),
        builder.field,
    ]
    return pa.record_batch([builder.finish()], schema=pa.schema([builder.field])), said


def _replaced(library, session, folder: Path) -> tuple[list[bytes | None], list[object]]:
    """The blobs of a table whose rows are replaced by prepared ones, and what is said of them."""
    old = pa.table(
        [library.blob_array([b"old"] * len(STORED))], pa.schema([library.blob_field("b")])
    )
    table = library.write_dataset(old, folder, data_storage_version="2.2")
    batch, said = _prepare(session, library.BlobDescriptorArrayBuilder("b"))
    with session.open_writer(NAME, schema=batch.schema, version="2.2") as file:
        file.write_batch(batch)
    operations, made = library.LanceOperation, library.fragment.DataFile.create(table, NAME)
    operation = operations.DataReplacement([operations.DataReplacementGroup(0, made)])
    table = library.LanceDataset.commit(table, operation, read_version=1)
    blobs = table.take_blobs("b", indices=range(len(STORED)))
    return [None if blob is None else blob.readall() for blob in blobs], said


def test_prepared_rows_take_the_place_of_others(tmp_path):
    """Sidecars are written beside a table, then a data file, which is committed and read back."""
    session = LanceFileSession(tmp_path / "data")
    assert STORED == _replaced(pylanceref, session, tmp_path)[0]
    sidecars = [path.name for path in (tmp_path / "data" / "new").iterdir()]
    assert sorted(Path(sidecar_path("", number)).name for number in (1, 2, 3, 4)) == sorted(
        sidecars
    )


@pytest.mark.oracle
def test_prepared_rows_are_the_oracles(tmp_path):
    """The same rows, descriptors and errors, and each reads what the other has written."""
    import lance
    from lance.file import LanceFileSession as Theirs

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    made = _replaced(pylanceref, LanceFileSession(str(ours / "data")), ours)
    assert made == _replaced(lance, Theirs(str(theirs / "data")), theirs)
    for library, folder in ((lance, ours), (pylanceref, theirs)):
        blobs = library.dataset(folder).take_blobs("b", indices=range(len(STORED)))
        assert STORED == [None if blob is None else blob.readall() for blob in blobs]
