"""Sessions of files."""

import pyarrow as pa
import pytest
from pylanceref.file import LanceFileSession

BATCH = pa.record_batch({"a": [1, 2, 3]})


def _calls(session) -> list[object]:
    """What every call gives, the class of its error where there is one."""
    with session.open_writer("d/x.lance", schema=BATCH.schema, version="2.1") as writer:
        writer.write_batch(BATCH)
    found: list[object] = []
    for path in ("d/x.lance", "/d//x.lance", "nothing"):
        try:
            found.append(session.open_reader(path, ["a"]).read_all().to_table().to_pylist())
        except ValueError:
            found.append(ValueError)
    return found


def test_files_are_written_and_read_below_the_folder(tmp_path):
    """No path leaves the folder of the session."""
    session = LanceFileSession(tmp_path / "s")
    rows = [{"a": 1}, {"a": 2}, {"a": 3}]

    assert [rows, rows, ValueError] == _calls(session)
    assert ["s/d/x.lance"] == [
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.lance")
    ]
    with pytest.raises(OSError, match="outside"):
        session.open_reader("../up")


@pytest.mark.oracle
def test_every_call_does_as_with_the_oracle(tmp_path):
    """Same results, errors of the same class."""
    from lance.file import LanceFileSession as Theirs

    ours = _calls(LanceFileSession(str(tmp_path / "ours")))
    assert ours == _calls(Theirs(str(tmp_path / "theirs")))
