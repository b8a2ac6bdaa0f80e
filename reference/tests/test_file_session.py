"""Sessions of files."""

from pathlib import Path

import pyarrow as pa
import pytest
from pylanceref.file import LanceFileSession

BATCH = pa.record_batch({"a": [1, 2, 3]})


def _calls(session, folder: Path) -> list[object]:
    """What every call gives, the class of its error where there is one."""
    with session.open_writer("d/x.lance", schema=BATCH.schema, version="2.1") as writer:
        writer.write_batch(BATCH)
    (folder / "up").write_bytes(b"hello")
    found: list[object] = []
    for call in (
        lambda: session.open_reader("d/x.lance", ["a"]).read_all().to_table().to_pylist(),
        lambda: session.upload_file(str(folder / "up"), "e/f/up"),
        lambda: sorted(session.list()),
        lambda: (session.list("d"), session.list("nothing")),
        lambda: vars(session.list_with_delimiter()),
        lambda: vars(session.list_with_delimiter("d")),
        lambda: [session.contains(path) for path in ("d/x.lance", "d", "q")],
        lambda: (session.read_range("e/f/up", 1, 3), session.read_range("e/f/up", 2, 0)),
        lambda: session.read_range("e/f/up", 0, 6),
        lambda: session.read_range("e/f/up", -1, 2),
        lambda: session.read_range("nothing", 0, 1),
        lambda: session.open_reader("nothing"),
        lambda: session.upload_file(str(folder / "nothing"), "x"),
        lambda: session.download_file("e/f/up", str(folder / "down")),
        lambda: session.download_file("nothing", str(folder / "down2")),
        lambda: session.delete_file("e/f/up"),
        lambda: session.delete_file("e/f/up"),
        lambda: session.delete_file("d"),
        session.list,
    ):
        try:
            found.append(call())
        except OverflowError:
            found.append(OverflowError)
        except OSError:
            found.append(OSError)
        except ValueError:
            found.append(ValueError)
    return [*found, (folder / "down").read_bytes()]


def test_files_are_written_read_listed_copied_and_removed(tmp_path) -> None:
    """All below the folder of the session, which nothing leaves."""
    session = LanceFileSession(tmp_path / "s")
    found = _calls(session, tmp_path)

    assert found[0] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert found[2] == ["d/x.lance", "e/f/up"]
    assert found[-2:] == [["d/x.lance"], b"hello"]
    with pytest.raises(OSError, match="outside"):
        session.contains("../up")


@pytest.mark.oracle
def test_every_call_does_as_with_the_oracle(tmp_path) -> None:
    """Same results, errors of the same class."""
    from lance.file import LanceFileSession as Theirs

    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours = _calls(LanceFileSession(str(tmp_path / "ours/s")), tmp_path / "ours")
    assert ours == _calls(Theirs(str(tmp_path / "theirs/s")), tmp_path / "theirs")
