"""Footer of 0.1 files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadMagic, LanceError, OutOfRange, Truncated, UnknownVersion
from lanceref.file_0_1.footer import is_legacy, lint_words, parse_footer, write_footer
from lanceref.storage import BytesSource

from .building import file_bytes

GOOD = bytes.fromhex("ac00000000000000 0000 0200 4c414e43")


def test_the_footer_of_the_worked_example():
    """Metadata at 172, version words 0, 2."""
    data = bytes(295) + GOOD

    assert (172, 295) == (
        parse_footer(file_bytes(data)).metadata_position,
        parse_footer(file_bytes(data)).start,
    )
    assert write_footer(172) == GOOD


@pytest.mark.parametrize(
    ("data", "error", "clause"),
    [
        (GOOD[1:], Truncated, "L.legacy.footer.size"),
        (bytes(295) + GOOD[:-1] + b"D", BadMagic, "L.legacy.footer.magic"),
        (bytes(295) + GOOD[:10] + b"\x03" + GOOD[11:], UnknownVersion, "L.legacy.footer.version"),
        (bytes(100) + GOOD, OutOfRange, "L.legacy.footer.position"),
    ],
)
def test_a_broken_footer_is_refused(data, error, clause):
    """Each fault under its clause."""
    with pytest.raises(error) as refusal:
        parse_footer(file_bytes(data))
    assert clause == refusal.value.clause


@pytest.mark.parametrize("minor", [0, 1])
def test_older_version_words_are_read_and_reported(minor):
    """(0, 0) and (0, 1) read; only validate minds them."""
    findings = []
    data = bytes(295) + GOOD[:10] + bytes([minor]) + GOOD[11:]

    file = FileBytes(BytesSource(data), Context("f", findings=findings))
    lint_words(parse_footer(file), file)

    assert ["L.legacy.footer.version-written"] == [finding.clause for finding in findings]


@given(st.integers(0, 2**64 - 1), st.integers(0, 60))
def test_what_is_written_parses(position, before):
    """The position comes back, or is refused when it is not in the file."""
    file = file_bytes(bytes(before) + write_footer(position))
    if position + 4 <= before:
        assert position == parse_footer(file).metadata_position
    else:
        with pytest.raises(LanceError):
            parse_footer(file)


@pytest.mark.parametrize(
    ("data", "legacy"), [(GOOD, True), (GOOD[:10] + b"\x03\x00LANC", False), (b"LANC", False)]
)
def test_0_1_is_known_by_its_end(data, legacy):
    """Version words and magic decide."""
    assert legacy == is_legacy(BytesSource(data))
