"""Changes of bytes and of messages: by name, one at a time, and never none."""

from pathlib import Path

import pytest
from google.protobuf.message import Message
from lance_conformance.recipes.apply_change import RecipeError, apply, edit_message, trim
from lance_conformance.recipes.model import DATA, MessageEdit, Remove, Resize, SpanPatch
from lance_conformance.suite.case_storage import materialise
from lanceref.core.context import Context
from lanceref.storage import BytesSource
from lanceref.table.manifest import open_manifest

FIXTURES = Path(__file__).parents[3] / "fixtures"
PARENT = {DATA: (FIXTURES / "file/2.1/miniblock/int32/data.lance").read_bytes()}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (SpanPatch(("footer", "no such word"), 1), "is not in"),
        (SpanPatch(("footer", "magic"), 1, nth=1), "is not in"),
        (SpanPatch(("footer", "magic"), lambda old: old + b"X"), "has 4 bytes, not 5"),
        (SpanPatch(("footer", "magic"), b"LANC"), "changes nothing"),
        (SpanPatch(("footer", "num_columns"), 1), "changes nothing"),
        (MessageEdit("descriptor", lambda _message: None), "changes nothing"),
        (Resize(), "changes nothing"),
        (Remove("other.lance"), "names 0 files"),
    ],
)
def test_a_recipe_that_misses_or_changes_nothing_is_an_error(change, complaint):
    """No negative case can be its own parent."""
    with pytest.raises(RecipeError, match=complaint):
        apply(change, PARENT)


@pytest.mark.parametrize(
    ("was", "now", "difference"),
    [
        (b"abcd", b"abXd", (2, b"c", b"X")),
        (b"aaa", b"aa", (2, b"a", b"")),
        (b"aa", b"aaa", (2, b"", b"a")),
        (b"", b"x", (0, b"", b"x")),
        (b"abab", b"ab", (2, b"ab", b"")),
    ],
)
def test_a_difference_is_as_short_as_it_can_be(was, now, difference):
    """What both share at the start and at the end is left out."""
    assert difference == trim(was, now)


FILE = (FIXTURES / "file/2.1/container/two-columns/data.lance").read_bytes()
BUFFERS = (FIXTURES / "file/2.1/container/user-global-buffers/data.lance").read_bytes()
TABLE = materialise(FIXTURES / "table/any/deletions/arrow/dataset")


def _nothing(message: Message) -> None:
    assert message.IsInitialized()


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
