"""JSONB: documents as bytes."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, LimitExceeded, UnknownEncoding
from lanceref.json import jsonb
from lanceref.json import jsonb as jsontext

CTX = Context("data.lance")
PLACE = CTX.at(8, 100)


def text(document: bytes, ctx: Context = CTX) -> str:
    """Return the text of one document."""
    return jsonb.texts(pa.array([document], pa.large_binary()), ctx, PLACE)[0].as_py()


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("40000001 10000001 20000002 61 5001", '{"a":1}'),
        ("20000000 20000009 60 3ff8000000000000", "1.5"),
        ("20000000 20000002 40ff", "-1"),
        ("20000000 20000003 50012c", "300"),
        ("20000000 20000001 00", "0"),
        ("20000000 00000000", "null"),
        ("20000000 10000003 22090a", '"\\"\\t\\n"'),
        ("80000000", "[]"),
        ("40000000", "{}"),
        ("80000002 50000004 50000004 80000000 40000000", "[[],{}]"),
        ("80000003 20000001 20000001 20000001 10 20 30", "[null,null,null]"),
        ("40000002 10000001 10000001 30000000 40000000 62 61", '{"b":false,"a":true}'),
        ("", "null"),
    ],
)
def test_documents_read_as_the_chapter_says(document: str, expected: str) -> None:
    """The worked documents of the chapter, and one of each kind, give their text."""
    assert text(bytes.fromhex(document)) == expected


@pytest.mark.parametrize(
    ("document", "clause"),
    [
        ("8000", "L.json.header"),
        ("e0000000", "L.json.header"),
        ("20000001 40000000", "L.json.scalar"),
        ("80000001 50000008 20000000 40000000", "L.json.scalar"),
        ("80000002 00000000", "L.json.entries"),
        ("20000000", "L.json.entries"),
        ("20000000 70000000", "L.json.entry-type"),
        ("20000000 c0000000", "L.json.entry-type"),
        ("20000000 10000005 61", "L.json.payload"),
        ("20000000 10000001 6161", "L.json.trailing"),
        ("20000000 00000001 61", "L.json.literal"),
        ("20000000 10000001 ff", "L.json.string"),
        ("20000000 20000000", "L.json.number"),
        ("20000000 20000002 5101", "L.json.number"),
        ("20000000 20000004 40000001", "L.json.number"),
        ("20000000 20000002 0000", "L.json.number"),
        ("40000001 20000001 00000000 00", "L.json.key"),
    ],
)
def test_a_broken_document_is_refused_under_its_clause(document: str, clause: str) -> None:
    """Each fault is found, named, and placed in the file."""
    with pytest.raises(FormatError) as caught:
        text(bytes.fromhex(document))

    assert (caught.value.clause, caught.value.offset) == (clause, 8)


@pytest.mark.parametrize("document", ["20000000 60000001 00", "20000000 2000000a 70" + "00" * 9])
def test_what_json_does_not_have_is_unsupported(document: str) -> None:
    """Extension values and decimals are legal bytes that this reader does not know."""
    with pytest.raises(UnknownEncoding, match=r"L\.json\.unknown"):
        text(bytes.fromhex(document))


@pytest.mark.parametrize(
    ("document", "clause"),
    [
        ("40000002 10000001 10000001 30000000 40000000 62 61", "L.json.key-order"),
        ("40000002 10000001 10000001 30000000 40000000 61 61", "L.json.key-order"),
        ("20000000 20000003 500007", "L.json.number-width"),
        ("20000000 20000003 40ffff", "L.json.number-width"),
        ("20000000 20000002 5000", "L.json.number-width"),
    ],
)
def test_a_careless_writer_is_reported(document: str, clause: str) -> None:
    """Keys out of order and wide integers read well; checking reports them."""
    ctx = Context("data.lance", findings=[])

    jsonb.check_documents(pa.array([bytes.fromhex(document), None], pa.large_binary()), ctx, PLACE)

    assert ctx.findings is not None
    assert [finding.clause for finding in ctx.findings] == [clause]


def test_checking_goes_on_after_a_broken_document() -> None:
    """Each of two broken documents gives its finding."""
    ctx = Context("data.lance", findings=[])

    jsonb.check_documents(pa.array([b"\x20", b"\xff" * 4], pa.large_binary()), ctx, PLACE)

    assert ctx.findings is not None
    assert [finding.clause for finding in ctx.findings] == ["L.json.header"] * 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (1.5e300, "1.5e+300"),
        (0.0001, "0.0001"),
        (-1.5e-5, "-0.000015"),
        (1e-6, "1e-6"),
        (5e-324, "5e-324"),
        (float("nan"), "null"),
        (float("-inf"), "null"),
    ],
)
def test_doubles_print_with_the_fewest_digits(value: float, expected: str) -> None:
    """Exponents begin at 1e16 and below 1e-5 and have no leading zeros."""
    assert jsonb.double_text(value) == expected


def test_a_slice_reads_its_own_rows() -> None:
    """Documents of a slice with nulls are those of its rows."""
    documents = jsontext.documents(pa.array(["1", None, "[2]", "3"]))

    assert jsonb.texts(documents.slice(1, 2), CTX, PLACE).to_pylist() == [None, "[2]"]


def test_deep_nesting_needs_no_stack() -> None:
    """A document of 3 000 arrays inside each other is read."""
    document = bytes.fromhex("80000000")
    depth = 3000
    for _ in range(depth):
        document = (
            bytes.fromhex("80000001") + (0x50000000 + len(document)).to_bytes(4, "big") + document
        )

    assert text(document) == "[" * (depth + 1) + "]" * (depth + 1)


def test_too_much_text_for_one_array_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit the 32-bit offsets of an Arrow string array ends in LimitExceeded."""
    monkeypatch.setattr(jsonb, "MAX_TEXT_BYTES", 10)

    with pytest.raises(LimitExceeded):
        text(jsontext.document('"0123456789"'))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
)


@given(JSON)
def test_what_is_written_reads_back(value: object) -> None:
    """Text, document, text: the value stays the same, and checking finds nothing."""
    document = jsontext.document(json.dumps(value))
    ctx = Context("data.lance", findings=[])
    jsonb.check_documents(pa.array([document], pa.large_binary()), ctx, PLACE)

    assert json.loads(text(document)) == value
    assert ctx.findings == []


@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda rest: b"\x80\0\0\2" + rest))
def test_any_bytes_are_text_or_an_error(data: bytes) -> None:
    """Whatever the bytes are, a reader gives JSON text or a LanceError."""
    try:
        found = text(data)
    except LanceError:
        return

    json.loads(found)


@given(JSON, st.data())
def test_damaged_documents_are_text_or_an_error(value: object, data: st.DataObject) -> None:
    """One changed byte of a document gives JSON text or a LanceError."""
    document = bytearray(jsontext.document(json.dumps(value)))
    document[data.draw(st.integers(0, len(document) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = text(bytes(document))
    except LanceError:
        return

    json.loads(found)
