"""Doors to messages: each edit names its message and changes what it says."""

import pytest
from lance_conformance.recipes import messages
from lance_conformance.recipes.model import DATA
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.table_pb2 import IndexSection, Manifest


def test_setting_changes_each_named_field():
    """Every value given by name lies in the message afterwards, and no other is touched."""
    manifest = Manifest(version=3, max_fragment_id=1)
    messages.setting(version=4, tag="x")(manifest)
    assert (manifest.version, manifest.tag, manifest.max_fragment_id) == (4, "x", 1)


def test_field_edits_one_field_of_the_schema():
    """The field of that number is changed, in the descriptor of the data file."""
    message = FileDescriptor()
    message.schema.fields.add(name="a")
    message.schema.fields.add(name="b")
    change = messages.field(1, name="z")
    change.edit(message)
    assert [one.name for one in message.schema.fields] == ["a", "z"]
    assert (change.where, change.target) == ("descriptor", DATA)


@pytest.mark.parametrize(
    ("door", "reach"),
    [
        (messages.fragment, lambda manifest: manifest.fragments[0]),
        (messages.data_file, lambda manifest: manifest.fragments[0].files[0]),
    ],
)
def test_inner_doors_hand_over_the_first_message(door, reach):
    """The edit of a fragment or of a data file sees the first one of the manifest."""
    manifest = Manifest()
    manifest.fragments.add().files.add()
    manifest.fragments.add().files.add()
    seen = []
    change = door(seen.append)
    change.edit(manifest)
    assert seen[0] is reach(manifest)
    assert (change.where, change.target) == ("manifest", messages.MANIFEST)


def test_index_hands_over_the_first_index():
    """The edit of an index sees the first one of the section."""
    section = IndexSection()
    section.indices.add(name="i")
    section.indices.add(name="j")
    messages.index(messages.setting(name="k")).edit(section)
    assert [one.name for one in section.indices] == ["k", "j"]
