"""Feature flags."""

import pytest
from lanceref.core.errors import FormatError, UnknownFlag
from lanceref.table import flags

from .manifests import data_file, fragment, minimal, parse

IDS = b"\x0a\x04\x0a\x02\x10\x0a"
"""Row ids 0 to 9."""


@pytest.mark.parametrize("bit", [512, 4096, 8192, 2**17, 2**40, 2**63])
def test_an_unknown_reader_bit_is_refused(bit):
    """Overlays, unsupported and unknown features."""
    with pytest.raises(UnknownFlag) as caught:
        parse(minimal(reader_feature_flags=bit, writer_feature_flags=bit))

    assert "L.table.flags.unknown-reader-bit" == caught.value.clause
    assert str(bit) in caught.value.feature


@pytest.mark.parametrize("bit", [512, 4096, 8192, 2**17, 2**63])
def test_an_unknown_writer_bit_does_not_stop_a_reader(bit):
    """A reader looks at its own word."""
    assert 1 == parse(minimal(writer_feature_flags=bit)).version


@pytest.mark.parametrize("bit", flags.PAIRED)
@pytest.mark.parametrize("word", ["reader_feature_flags", "writer_feature_flags"])
def test_a_paired_bit_stands_in_both_words(bit, word):
    """One word alone is refused."""
    with pytest.raises(FormatError) as caught:
        parse(minimal(**{word: bit}))

    assert "L.table.flags.paired" == caught.value.clause


@pytest.mark.parametrize("bit", [256, 1024, 16384])
def test_a_paired_bit_in_both_words_is_read(bit):
    """Mixed versions, fragment reuse, managed blobs."""
    assert 1 == parse(minimal(reader_feature_flags=bit, writer_feature_flags=bit)).version


def test_one_bit_is_for_writers_only():
    """Field ids that are not reused: no matter for a reader."""
    both = {"reader_feature_flags": 32768, "writer_feature_flags": 32768}
    with pytest.raises(FormatError) as caught:
        parse(minimal(**both, max_allocated_field_id=3))

    assert "L.table.flags.writer-only" == caught.value.clause


@pytest.mark.parametrize("given", [{"writer_feature_flags": 32768}, {"max_allocated_field_id": 3}])
def test_the_largest_field_id_and_its_flag_go_together(given):
    """Flag or number alone is refused."""
    with pytest.raises(FormatError) as caught:
        parse(minimal(**given))

    assert "L.table.flags.field-ids" == caught.value.clause


def test_the_largest_field_id_with_its_flag_is_read():
    """Both are there."""
    parse(minimal(writer_feature_flags=32768, max_allocated_field_id=3))


@pytest.mark.parametrize(
    "content",
    [
        {"fragments": [fragment(deletion_file={"num_deleted_rows": 1, "id": 1})]},
        {"fragments": [fragment(inline_row_ids=IDS)]},
        {"config": {"a": "b"}},
        {"base_paths": [{"id": 1, "path": "somewhere"}]},
    ],
    ids=["deletions", "row ids", "config", "bases"],
)
def test_content_without_its_flag_is_reported(content):
    """A reader reads it right anyway."""
    findings = []
    parse(minimal(**content), findings)

    assert ["L.table.flags.content"] == [finding.clause for finding in findings]
    assert 1 == parse(minimal(**content)).version


@pytest.mark.parametrize(
    "content",
    [
        {"fragments": [fragment(overlays=[{"data_file": data_file()}])]},
        {"fragments": [fragment(column_row_ids={})]},
        {"fragments": [fragment(column_created_at_versions={})]},
        {"fragments": [fragment(column_last_updated_at_versions={})]},
        {"fragment_tree": {}},
    ],
    ids=["overlays", "ids in a column", "created in a column", "updated in a column", "tree"],
)
def test_content_that_changes_the_rows_is_refused_without_its_flag(content):
    """Passing over it would give wrong rows."""
    with pytest.raises((FormatError, UnknownFlag)) as caught:
        parse(minimal(**content))

    assert "L.table.flags.content" == caught.value.clause


def test_stable_row_ids_are_in_every_fragment():
    """With the flag a fragment without ids is refused."""
    both = {"reader_feature_flags": 2, "writer_feature_flags": 2}
    with pytest.raises(FormatError) as caught:
        parse(minimal(fragments=[fragment(0, inline_row_ids=IDS), fragment(1)], **both))

    assert "L.table.flags.stable-row-ids" == caught.value.clause
    parse(minimal(fragments=[fragment(0, inline_row_ids=IDS)], **both))


def test_flags_follow_from_what_a_version_holds():
    """Row ids and config give 2 in both words and 8 in the writer's; 256 is kept."""
    message = minimal(fragments=[fragment(inline_row_ids=b"")], config={"k": "v"})
    flags.set_flags(message, 256)

    assert (258, 266) == (message.reader_feature_flags, message.writer_feature_flags)


def test_flags_of_what_is_gone_are_cleared():
    """Config and deletions of the version before leave no trace."""
    message = minimal(reader_feature_flags=1, writer_feature_flags=41)
    flags.set_flags(message, 0)

    assert (0, 0) == (message.reader_feature_flags, message.writer_feature_flags)


def test_a_writer_bit_we_do_not_know_is_refused():
    """L.table.flags.writer-refuses: such a version opens, and nothing is built on it."""
    parsed = parse(minimal(writer_feature_flags=1 << 20))

    with pytest.raises(UnknownFlag, match=r"L\.table\.flags\.writer-refuses"):
        flags.check_writable(parsed.message, parsed.place)
