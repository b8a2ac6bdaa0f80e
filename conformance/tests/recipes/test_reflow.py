"""Reflow: one message is edited, everything else keeps its meaning."""

from pathlib import Path

import pytest
from google.protobuf.message import Message
from lance_conformance.recipes.reflow import edit_message
from lance_conformance.stored import materialised
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.storage import BytesSource
from lanceref.table.manifest import open_manifest
from pylanceref.lance_file import LanceFileReader

FIXTURES = Path(__file__).parents[3] / "fixtures"
FILE = (FIXTURES / "file/2.1/container/two-columns/data.lance").read_bytes()
BUFFERS = (FIXTURES / "file/2.1/container/user-global-buffers/data.lance").read_bytes()
TABLE = materialised(FIXTURES / "table/any/deletions/arrow/dataset")


def _read(data: bytes):
    return (
        LanceFileReader("data.lance", source=BytesSource(data, "data.lance")).read_all().to_table()
    )


def _longer_name(message: Message) -> None:
    message.schema.fields[0].name = "a much longer name than before"


def _nothing(message: Message) -> None:
    assert message.IsInitialized()


def test_an_edited_descriptor_moves_what_stands_behind_it():
    """The data stay where they are, and read as before under the new name."""
    edited = edit_message("data.lance", FILE, "descriptor", _longer_name)
    before, after = _read(FILE), _read(edited.data)

    assert len(FILE) + len(edited.now) - len(edited.was) == len(edited.data)
    assert FILE[: edited.at] == edited.data[: edited.at]
    assert ["a much longer name than before", *before.column_names[1:]] == after.column_names
    assert before.columns == after.columns


@pytest.mark.parametrize(
    ("data", "where"),
    [
        *(
            (FILE, where)
            for where in ("descriptor", "column 0", "column 1", "page 0.0", "page 1.0")
        ),
        *((BUFFERS, where) for where in ("descriptor", "column 0", "page 0.0")),
    ],
)
def test_an_edit_that_changes_nothing_gives_the_same_file(data, where):
    """Reflow is the identity when the message is: nothing is lost or reordered."""
    assert data == edit_message("data.lance", data, where, _nothing).data


def test_a_page_is_edited_inside_its_column():
    """A field added to the page of column 1 is there, column 0 is as before, the table too."""
    added = b"\xc2\x3e\x01x"  # field 1000, one byte

    edited = edit_message("data.lance", FILE, "page 1.0", lambda m: m.MergeFromString(added))
    ctx = Context("data.lance")
    before, after = (open_file(BytesSource(d), ctx).columns for d in (FILE, edited.data))

    assert before[0].pages[0].encoding == after[0].pages[0].encoding
    plain, changed = (c[1].pages[0].encoding.SerializeToString() for c in (before, after))
    assert plain + added == changed
    assert _read(FILE).equals(_read(edited.data))


def test_global_buffers_keep_their_bytes():
    """User buffers lie before the descriptor and are pointed at as before."""
    edited = edit_message("data.lance", BUFFERS, "descriptor", _longer_name).data
    ctx = Context("data.lance")
    before, after = (open_file(BytesSource(d), ctx).global_buffers for d in (BUFFERS, edited))

    assert [BUFFERS[e.offset : e.end] for e in before[1:]] == [
        edited[e.offset : e.end] for e in after[1:]
    ]


@pytest.mark.parametrize("where", ["manifest", "transaction"])
def test_sections_of_a_manifest_move_together(where):
    """A longer section leaves a manifest that opens, with the other section as it was."""
    path = min((TABLE / "_versions").glob("*.manifest"))
    data = path.read_bytes()

    def edit(message: Message) -> None:
        if where == "manifest":
            message.tag = "a tag"
        else:
            message.uuid = "another uuid, longer than what was there before it"

    same = edit_message(path.name, data, where, _nothing)
    edited = edit_message(path.name, data, where, edit)
    opened = open_manifest(BytesSource(edited.data, path.name), Context(path.name))

    assert data == same.data
    if where == "manifest":
        assert "a tag" == opened.message.tag
    else:
        assert "another uuid, longer than what was there before it" == opened.transaction.uuid
    assert 2 == opened.version


def test_a_transaction_file_is_one_message():
    """Nothing stands around it."""
    path = min((TABLE / "_transactions").glob("*.txn"))

    def edit(message: Message) -> None:
        message.read_version = 77

    edited = edit_message(path.name, path.read_bytes(), "transaction", edit)

    assert edited.now == edited.data
    assert path.read_bytes() == edited.was
