"""Which bytes may change an answer without anybody noticing."""

import pytest
from lance_conformance.campaigns.damage.undetectable import may_change, owners
from lanceref.core.spans import Span


@pytest.mark.parametrize(
    "kind", ["int32[]", "bitmap", "levels", "u16[]", "offsets u64[]", "zipped value", "lz4 block"]
)
def test_value_bytes_may_change(kind):
    """Stored values, levels and ends have no checksum."""
    assert may_change(Span(0, 4, "x", kind), False)


@pytest.mark.parametrize("kind", ["u64", "u32", "chunk word", "proto tag", "magic", "padding"])
def test_words_that_describe_may_not(kind):
    """Sizes, places and counts are checked against something else."""
    assert not may_change(Span(0, 4, "x", kind), False)


def test_only_facts_of_the_schema_may_change_among_message_fields():
    """A field name may; a buffer's size may not, nor a name outside the schema."""
    assert may_change(Span(0, 4, "name", "proto field"), True)
    assert not may_change(Span(0, 4, "name", "proto field"), False)
    assert not may_change(Span(0, 4, "id", "proto field"), True)


def test_owners_know_whether_they_stand_in_the_schema():
    """Everything below a field of the schema does."""
    name, size = Span(0, 2, "name", "proto field"), Span(2, 3, "size", "u64")
    group = Span(0, 2, "fields: Field", "group", children=[name])
    root = Span(0, 3, "file", "group", children=[group, size])

    assert {0: (name, True), 1: (name, True), 2: (size, False)} == owners(root)
