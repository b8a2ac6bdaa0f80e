"""JSON documents as bytes."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import LanceError, LimitExceeded
from lanceref.json import jsonb
from lanceref.json import jsonb as jsontext

CTX = Context("data.lance")

PLACE = CTX.at(8, 100)


def text(document: bytes, ctx: Context = CTX) -> str:
    """Return the text of one document."""
    return jsonb.texts(pa.array([document], pa.large_binary()), ctx, PLACE)[0].as_py()


def test_a_slice_reads_its_own_rows():
    """Documents of a slice with nulls are those of its rows."""
    documents = jsontext.documents(pa.array(["1", None, "[2]", "3"]))

    assert jsonb.texts(documents.slice(1, 2), CTX, PLACE).to_pylist() == [None, "[2]"]


def test_deep_nesting_needs_no_stack():
    """A document of 3 000 arrays inside each other is read."""
    document = bytes.fromhex("80000000")
    depth = 3000
    for _ in range(depth):
        document = (
            bytes.fromhex("80000001") + (0x50000000 + len(document)).to_bytes(4, "big") + document
        )

    assert text(document) == "[" * (depth + 1) + "]" * (depth + 1)


def test_too_much_text_for_one_array_is_refused(monkeypatch):
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
def test_what_is_written_reads_back(value):
    """Text, document, text: the value stays the same, and checking finds nothing."""
    document = jsontext.document(json.dumps(value))
    ctx = Context("data.lance", findings=[])
    jsonb.check_documents(pa.array([document], pa.large_binary()), ctx, PLACE)

    assert json.loads(text(document)) == value
    assert ctx.findings == []


@given(JSON, st.data())
def test_damaged_documents_are_text_or_an_error(value, data):
    """One changed byte of a document gives JSON text or a LanceError."""
    document = bytearray(jsontext.document(json.dumps(value)))
    document[data.draw(st.integers(0, len(document) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = text(bytes(document))
    except LanceError:
        return

    json.loads(found)


@pytest.mark.parametrize(
    ("was", "now", "clause"),
    [
        ("80000003", "80000013", "L.json.entries"),
        ("6162", "6261", "L.json.key-order"),
        ("50012c", "500007", "L.json.number-width"),
    ],
)
def test_a_document_that_breaks_a_clause_is_found(was, now, clause):
    """A check reports what readers pass over too: keys that fall, numbers that are too wide."""
    sound = jsontext.document('{"a":[1,2,3],"b":300}')
    damaged = sound.replace(bytes.fromhex(was), bytes.fromhex(now), 1)
    for document, wanted in ((sound, []), (damaged, [clause])):
        ctx = Context("data.lance", findings=[])
        jsonb.check_documents(pa.array([document], pa.large_binary()), ctx, PLACE)
        assert ctx.findings is not None
        assert wanted == [finding.clause for finding in ctx.findings]
