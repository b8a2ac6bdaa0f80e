"""Footer of 2.x files."""

import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadMagic, FormatError, OutOfRange, Truncated, UnknownVersion
from lanceref.core.file_versions import V2_0, V2_1
from lanceref.file.container import parse_footer
from lanceref.storage import BytesSource

from .files import WORKED_FILE


def _parse(data: bytes, findings=None):
    return parse_footer(
        FileBytes(BytesSource(data, "f.lance"), Context("f.lance", findings=findings))
    )


def _patched(at: int, new: bytes) -> bytes:
    """The worked file with bytes replaced; `at` counts from the start of the footer."""
    start = 308 + at
    return WORKED_FILE[:start] + new + WORKED_FILE[start + len(new) :]


def test_the_worked_footer_reads_as_written():
    """Every word of the 40 bytes at 308."""
    footer = _parse(WORKED_FILE)

    assert 348 == len(WORKED_FILE)
    assert (159, 276, 292) == (footer.column_metadata_start, footer.cmo_start, footer.gbo_start)
    assert (1, 1, V2_0) == (footer.num_global_buffers, footer.num_columns, footer.version)


def test_two_spellings_of_2_0_are_read():
    """A footer of (2, 0) is 2.0 too; a validator says that 0, 3 is what writers use."""
    findings = []
    footer = _parse(_patched(32, b"\2\0\0\0"), findings)

    assert V2_0 == footer.version
    assert ["L.file.footer.version-2-0"] == [finding.clause for finding in findings]


def test_the_version_words_decide():
    """(2, 1) is 2.1."""
    assert V2_1 == _parse(_patched(32, b"\2\0\1\0")).version


@pytest.mark.parametrize("words", [(0, 0), (0, 2), (0, 4), (1, 0), (2, 4), (3, 0), (65535, 65535)])
def test_another_version_is_refused(words):
    """Unknown versions, and the legacy ones, are not read as 2.x."""
    raw = words[0].to_bytes(2, "little") + words[1].to_bytes(2, "little")
    with pytest.raises(UnknownVersion) as caught:
        _parse(_patched(32, raw))

    assert ("L.file.footer.version", 340) == (caught.value.clause, caught.value.offset)


@pytest.mark.parametrize("size", [0, 1, 16, 39])
def test_a_file_shorter_than_a_footer_is_truncated(size):
    """Every size below 40 bytes, the empty file among them."""
    with pytest.raises(Truncated):
        _parse(WORKED_FILE[-size:] if size else b"")


def test_a_wrong_magic_is_refused():
    """The last four bytes are LANC, with nothing after them."""
    for data in (_patched(36, b"LANX"), WORKED_FILE + b"\0"):
        with pytest.raises(BadMagic):
            _parse(data)


@pytest.mark.parametrize(
    ("at", "new", "clause"),
    [
        (24, bytes.fromhex("01000080"), "L.file.footer.num-global-buffers"),
        (24, bytes(4), "L.file.footer.num-global-buffers"),
        (28, bytes.fromhex("ffffffff"), "L.file.footer.num-columns"),
        (28, bytes.fromhex("02000000"), "L.file.footer.cmo-start"),
        (16, (2**62).to_bytes(8, "little"), "L.file.footer.gbo-start"),
        (8, (2**62).to_bytes(8, "little"), "L.file.footer.cmo-start"),
        (8, (275).to_bytes(8, "little"), "L.file.footer.cmo-start"),
        (0, (277).to_bytes(8, "little"), "L.file.footer.column-metadata-start"),
        (0, b"\xff" * 8, "L.file.footer.column-metadata-start"),
    ],
)
def test_words_that_contradict_the_file_are_refused(at, new, clause):
    """Counts and starts are held against the file's size before anything is sized by them."""
    with pytest.raises(OutOfRange) as caught:
        _parse(_patched(at, new))

    assert clause == caught.value.clause
    assert 308 <= caught.value.offset < 348


def test_every_flipped_byte_is_a_footer_or_a_format_error():
    """Each of the 40 bytes with each of three masks: a footer, or an error of the family."""
    outcomes = set()
    for at in range(40):
        for mask in (0x01, 0x80, 0xFF):
            try:
                _parse(_patched(at, bytes([WORKED_FILE[308 + at] ^ mask])))
                outcomes.add("read")
            except (FormatError, UnknownVersion) as error:
                outcomes.add(type(error).__name__)

    assert {"OutOfRange", "BadMagic", "UnknownVersion"} <= outcomes
