"""Tags and branches."""

from datetime import UTC, datetime

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.storage import LocalStore
from lanceref.table.refs import list_branches, list_tags

CTX = Context("t")

TAG = b"""{
  "branch": "dev/x", "version": 2, "createdAt": "2026-11-21T06:00:29.475201856Z",
  "updatedAt": null, "manifestSize": 453, "metadata": {"a": "b"}
}"""
BRANCH = b"""{
  "parentBranch": null, "identifier": {"version_mapping": [[1, "3a31"]]}, "parentVersion": 1,
  "createAt": 1795240829, "manifestSize": 369, "metadata": {}
}"""


def _store(tmp_path, folder: str, name: str, data: bytes) -> LocalStore:
    below = tmp_path / "_refs" / folder
    below.mkdir(parents=True)
    (below / name).write_bytes(data)
    (below / ".tmpXyz").write_bytes(b"left over")
    return LocalStore(tmp_path)


def test_a_worked_tag_reads_as_written(tmp_path):
    """Version, branch, times in UTC and cut to microseconds."""
    moment = datetime(2026, 11, 21, 6, 0, 29, 475201, UTC)

    assert {
        "v 2": {
            "branch": "dev/x",
            "version": 2,
            "created_at": moment,
            "updated_at": None,
            "manifest_size": 453,
            "metadata": {"a": "b"},
        }
    } == list_tags(_store(tmp_path, "tags", "v 2.json", TAG), CTX)


def test_a_worked_branch_reads_as_written(tmp_path):
    """The name is percent-encoded, the parent is the main branch."""
    assert {
        "dev/x": {
            "parent_branch": None,
            "branch_identifier": [(1, "3a31")],
            "parent_version": 1,
            "create_at": 1795240829,
            "manifest_size": 369,
            "metadata": {},
        }
    } == list_branches(_store(tmp_path, "branches", "dev%2Fx.json", BRANCH), CTX)


def test_a_tag_needs_only_its_version(tmp_path):
    """Older ones say no more."""
    (tag,) = list_tags(_store(tmp_path, "tags", "t.json", b'{"version": 7}'), CTX).values()

    assert (7, None, None) == (tag["version"], tag["branch"], tag["manifest_size"])


def test_no_folder_is_no_ref(tmp_path):
    """A table need not have any."""
    assert {} == list_tags(LocalStore(tmp_path), CTX) == list_branches(LocalStore(tmp_path), CTX)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"nothing",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"version": "1"}',
        b'{"version": true}',
        b'{"version": -1}',
        b'{"version": 18446744073709551616}',
        b'{"version": ' + b"9" * 5000 + b"}",
        b'{"version": 1, "branch": 5}',
        b'{"version": 1, "createdAt": "yesterday"}',
        b'{"version": 1, "manifestSize": null}',
        b'{"version": 1, "metadata": []}',
    ],
    ids=range(15),
)
def test_a_broken_tag_is_refused(data, tmp_path):
    """No JSON, no object, values of another type."""
    with pytest.raises(FormatError) as caught:
        list_tags(_store(tmp_path, "tags", "t.json", data), CTX)

    assert ("L.table.refs.tag", "t.json") == (caught.value.clause, caught.value.file)


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"parentVersion": 1, "identifier": []}',
        b'{"parentVersion": 1, "identifier": {"version_mapping": [1]}}',
        b'{"parentVersion": 1, "parentBranch": 1}',
    ],
    ids=range(4),
)
def test_a_broken_branch_is_refused(data, tmp_path):
    """Likewise."""
    with pytest.raises(FormatError) as caught:
        list_branches(_store(tmp_path, "branches", "b.json", data), CTX)

    assert "L.table.refs.branch" == caught.value.clause


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize(("folder", "data"), [("tags", TAG), ("branches", BRANCH)])
def test_damage_never_escapes(folder, data, mask, tmp_path):
    """Every byte flipped: refs or a FormatError."""
    store = _store(tmp_path, folder, "r.json", data)
    for at in range(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= mask
        (tmp_path / "_refs" / folder / "r.json").write_bytes(flipped)
        try:
            assert 1 == len((list_tags if folder == "tags" else list_branches)(store, CTX))
        except FormatError as error:
            assert error.clause.startswith("L.table.refs.") and error.found and error.wanted
