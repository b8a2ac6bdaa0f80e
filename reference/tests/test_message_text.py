"""Texts of messages, letter by letter."""

from __future__ import annotations

from lanceref.proto import table_pb2
from pylanceref.message_text import Struct, Variant, Word, shown, some, text_of


def test_values_stand_below_their_names():
    """What holds nothing stands on one line."""
    held = {"a": 1, "b": [], "c": some(None), "d": some("x"), "e": {"k": True}, "f": Word("W")}

    assert text_of(Struct("S", {**held, "g": Variant("V", [2])})).splitlines() == [
        "S {",
        "    a: 1,",
        "    b: [],",
        "    c: None,",
        "    d: Some(",
        '        "x",',
        "    ),",
        "    e: {",
        '        "k": true,',
        "    },",
        "    f: W,",
        "    g: V(",
        "        [",
        "            2,",
        "        ],",
        "    ),",
        "}",
    ]


def test_bytes_are_letters_where_they_are_some():
    """The others by their numbers, but for a few."""
    assert r'b"a\0\n\"\\\x01\xff"' == text_of(b'a\0\n"\\\x01\xff')


def test_one_of_several_is_shown_under_the_name_they_share():
    """None of them too; words of an enumeration are joined."""
    inline = table_pb2.DataFragment(inline_row_ids=b"x")
    deleted = table_pb2.DeletionFile(file_type=table_pb2.DeletionFile.ARROW_ARRAY)
    name = table_pb2.DataFragment.DESCRIPTOR.fields_by_name["inline_row_ids"].containing_oneof.name

    assert Variant("Some", Variant("InlineRowIds", b"x")) == shown(inline).held[name]
    assert Word("None") == shown(table_pb2.DataFragment()).held[name]
    assert Word("ArrowArray") == shown(deleted).held["file_type"]
