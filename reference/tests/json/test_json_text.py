"""JSON: documents as bytes, as text, and paths into them."""

import json
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import DataRefused, LanceError, LimitExceeded, QueryFailed
from lanceref.json import jsonb
from lanceref.json import jsonb as jsontext
from lanceref.json.json_path import members_of, parse_path, select

LIBERTIES = [
    "", "  ", "TRUE", "Null", "nan", "+NaN", "Infinity", "-infinity", "+Infinity", "'x'",
    '\'a"b\'', "{a:1}", "{_a1:1}", "{é:1}", "{null:1}", "[1,]", "[,1]", "[,]", "[null,,]", "01",
    "-01", "1.", ".5", "-.5", "+1", "1.e5", "0x10", "-0x10", "0xff.8", "0xFFFFFFFFFFFFFFFFFF",
    "007.5", "-0", "-0.0", r"\n1", r"1\n", "1 \x0c", r'"\u{0041}"', r'"\ud83d"',
    r'"\ud83d\ude00"', r'"\ud83d\u0041"', r'"\ude00"', r'"\/"', '"a\nb"', "1e400", "-1e400",
    "1e-400", "1e5", "18446744073709551616", "-9223372036854775809",
    "123456789012345678901234567890", "9" * 40, "0" * 5000 + "7",
]  # fmt: skip
"""Texts beyond plain JSON that are taken."""

REFUSED = [
    "tru", "[1 2]", '{"a":1,"a":2}', "1 2", "// c\n1", "\ufeff1", r'"\x41"', r'"\u{41}"', "1e",
    "1e+", "-", "--1", '"abc', "[1", '{"a"}', '{"a":}', "[]]", "undefined", "{1:2}", "{a b:1}",
    "{,}", '{"a":1,}', "0x", ".", "+-1", "inf", "-nan", r'"\u12"', r"'a\'b'", "1.2.3", "0x1p3",
    "1_0", "1..5", r'{"\u0061":1,"a":2}', "[1,", '{"a":', "{", "[", "0x" + "f" * 33,
    "0x1." + "f" * 33,
]  # fmt: skip
"""Texts that are refused."""


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_json_is_refused(text):
    """Text beyond JSON and its liberties raises DataRefused."""
    with pytest.raises(DataRefused):
        jsontext.document(text)


def test_nesting_has_a_limit():
    """200 containers inside each other are written, 201 are refused."""
    jsontext.document("[" * 200 + "]" * 200)

    with pytest.raises(DataRefused, match="containers inside each other"):
        jsontext.document("[" * 201 + "]" * 201)


@given(st.text())
def test_any_text_is_a_document_or_refused(text):
    """No text raises anything but DataRefused."""
    try:
        jsontext.document(text)
    except DataRefused:
        return


def _value(rng: random.Random, depth: int) -> object:
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([None, True, False, 0.0, -0.0, 1e15, 1e16, 1e-5, 1e-6])
    if kind < 3:
        bits = rng.randrange(1, 66)
        return rng.randrange(-(2**bits), 2**bits)
    if kind == 3:
        return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)
    if kind < 6:
        return "".join(rng.choices('abz é€😀"\\/\n\0\x1f\x7f', k=rng.randrange(8)))
    if kind == 6:
        return [_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {
        "".join(rng.choices('abcé"\\', k=rng.randrange(4))): _value(rng, depth + 1)
        for _ in range(rng.randrange(5))
    }


@pytest.mark.oracle
def test_documents_and_their_text_are_the_oracles(tmp_path):
    """2 000 random documents and every liberty become the oracle's bytes, and read as its text."""
    import lance
    from lance.file import LanceFileReader
    from pylanceref.dataset import dataset

    rng = random.Random(20261121)
    texts = [
        json.dumps(_value(rng, 0), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
        for _ in range(2000)
    ]
    texts += LIBERTIES
    schema = pa.schema([pa.field("j", pa.utf8(), metadata={"ARROW:extension:name": "arrow.json"})])
    ours, theirs = (
        f"{tmp_path}/t",
        lance.write_dataset(pa.table([pa.array(texts)], schema=schema), f"{tmp_path}/t"),
    )
    (file,) = [f"{ours}/data/{f.path}" for f in theirs.get_fragments()[0].data_files()]
    stored = LanceFileReader(file).read_all().to_table()["j"].to_pylist()

    assert jsontext.documents(pa.array(texts)).to_pylist() == stored
    assert dataset(ours).to_table().equals(theirs.to_table())
    assert dataset(ours).schema.equals(theirs.schema, check_metadata=True)


@pytest.mark.oracle
@pytest.mark.parametrize("text", REFUSED)
def test_the_oracle_refuses_the_same(text, tmp_path):
    """What we refuse the oracle refuses too."""
    import lance

    schema = pa.schema([pa.field("j", pa.utf8(), metadata={"ARROW:extension:name": "arrow.json"})])
    with pytest.raises((ValueError, OSError), match="Failed to encode JSON"):
        lance.write_dataset(pa.table([pa.array([text])], schema=schema), f"{tmp_path}/t")


DOCUMENT = {"k": [10, {"a": 1}, [7, 8], {"a": 2}], "o": {"a": {"b": 3}, "0": 9}, "1": 5}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        *((one, [DOCUMENT]) for one in ("", "$")),
        ("$.1", [5]),
        *((one, [10]) for one in ("k[0]", ".k[0]", "$ . k [ 0 ] ")),
        ('$["k"][1]["a"]', [1]),
        ('$."k"[last]', [{"a": 2}]),
        *((one, [[7, 8]]) for one in ("$:k[last-1]", "$.k[last - 1]")),
        ("$.k[0,2]", [10, [7, 8]]),
        ("$.k[1 to 2, 0]", [{"a": 1}, [7, 8], 10]),
        ("$.k[2 to last]", [[7, 8], {"a": 2}]),
        ("$.k[*].a", [1, 2]),
        ("$.o[*].a", [{"b": 3}]),
        ("$.o.*", [{"b": 3}, 9]),
        *((one, []) for one in ("$.k[5 to 1]", "$.k[-1]", "$.k[9]", "$.k.*", "$.k.a", "$.o[0]")),
        ("$.o.**", [DOCUMENT["o"], {"b": 3}, 3, 9]),
    ],
)
def test_paths_find_values(path, found):
    """A step finds nothing where it does not fit; `[*]` of no array is that itself."""
    assert found == select(DOCUMENT, parse_path(path))
    assert 70_000 == len(select([0] * 70_000, parse_path("$[*]")))


@pytest.mark.parametrize(
    "path", ["$..k", "$.", "$k", "$.k[0", "$.k.", "$['k']", "@.k", "$.k[?(@)]"]
)
def test_other_texts_are_no_paths(path):
    """A text that is no JSON path is refused, and the error names it."""
    with pytest.raises(QueryFailed, match="Invalid JSONPath"):
        parse_path(path)


@given(st.text(st.sampled_from('$.k:[]"0*, tolas-'), max_size=12))
def test_any_text_is_a_path_or_refused(text):
    """What is found is a list."""
    try:
        steps = parse_path(text)
    except QueryFailed:
        return
    assert isinstance(select(DOCUMENT, steps), list)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("a", ("a",)),
        ("$.a.b", ("a", "b")),
        ('$["a b"]:c', ("a b", "c")),
        *((one, None) for one in ("$", "", "a[0]", "a.*", "$.a.0", r'$."a\"b"', "..a")),
    ],
)
def test_members_that_a_path_leads_through(path, names):
    """A number may be that of an element, and what is no path leads nowhere."""
    assert members_of(path) == names


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
