"""JSON text: what documents are written from."""

import json
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import DataRefused
from lanceref.json import jsonb as jsontext

LIBERTIES = [
    *(
        "",
        "  ",
        "TRUE",
        "Null",
        "nan",
        "+NaN",
        "Infinity",
        "-infinity",
        "+Infinity",
        "'x'",
        "'a\"b'",
    ),
    *(
        "{a:1}",
        "{_a1:1}",
        "{é:1}",
        "{null:1}",
        "[1,]",
        "[,1]",
        "[,]",
        "[null,,]",
        "01",
        "-01",
        "1.",
    ),
    *(".5", "-.5", "+1", "1.e5", "0x10", "-0x10", "0xff.8", "0xFFFFFFFFFFFFFFFFFF", "007.5", "-0"),
    *(
        "-0.0",
        "\\n1",
        "1\\n",
        "1 \x0c",
        r'"\u{0041}"',
        r'"\ud83d"',
        r'"\ud83d\ude00"',
        r'"\ud83d\u0041"',
    ),
    *(r'"\ude00"', r'"\/"', '"a\nb"', "1e400", "-1e400", "1e-400", "1e5", "18446744073709551616"),
    *("-9223372036854775809", "123456789012345678901234567890", "9" * 40, "0" * 5000 + "7"),
]
"""Texts beyond plain JSON that are taken."""

REFUSED = [
    *(
        "tru",
        "[1 2]",
        '{"a":1,"a":2}',
        "1 2",
        "// c\n1",
        "\ufeff1",
        r'"\x41"',
        r'"\u{41}"',
        "1e",
        "1e+",
    ),
    *("-", "--1", '"abc', "[1", '{"a"}', '{"a":}', "[]]", "undefined", "{1:2}", "{a b:1}", "{,}"),
    *(
        '{"a":1,}',
        "0x",
        ".",
        "+-1",
        "inf",
        "-nan",
        r'"\u12"',
        "'a\\'b'",
        "1.2.3",
        "0x1p3",
        "1_0",
        "1..5",
    ),
    *('{"\\u0061":1,"a":2}', "[1,", '{"a":', "{", "[", "0x" + "f" * 33, "0x1." + "f" * 33),
]
"""Texts that are refused."""


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_json_is_refused(text: str) -> None:
    """Text beyond JSON and its liberties raises DataRefused."""
    with pytest.raises(DataRefused):
        jsontext.document(text)


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ('{"a":1}', "40000001 10000001 20000002 61 5001"),
        ('{b:-129,"a":true}', "40000002 10000001 10000001 40000000 20000003 6162 40ff7f"),
        ("[null,,]", "80000003 00000000 00000000 00000000"),
        (r'"\ud83d"', "20000000 10000006 5c7564383364"),
        (r'"\ud83d\ude00"', "20000000 10000004 f09f9880"),
        ("1e400", "20000000 20000001 20"),
        ("-0", "20000000 20000001 00"),
        ("-0.0", "20000000 20000009 60 8000000000000000"),
        ("0xff.8", "20000000 20000009 60 406ff00000000000"),
        ("18446744073709551616", "20000000 20000009 60 43f0000000000000"),
    ],
)
def test_documents_are_written_as_the_chapter_says(text: str, document: str) -> None:
    """Worked texts give their documents."""
    assert jsontext.document(text) == bytes.fromhex(document)


def test_nesting_has_a_limit() -> None:
    """200 containers inside each other are written, 201 are refused."""
    jsontext.document("[" * 200 + "]" * 200)

    with pytest.raises(DataRefused, match="containers inside each other"):
        jsontext.document("[" * 201 + "]" * 201)


def test_nulls_stay_null() -> None:
    """A null row is no document; an empty text is the document null."""
    assert jsontext.documents(pa.array([None, ""])).to_pylist() == [
        None,
        bytes.fromhex("2000000000000000"),
    ]


@given(st.text())
def test_any_text_is_a_document_or_refused(text: str) -> None:
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
def test_documents_and_their_text_are_the_oracles(tmp_path: object) -> None:
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
def test_the_oracle_refuses_the_same(text: str, tmp_path: object) -> None:
    """What we refuse the oracle refuses too."""
    import lance

    schema = pa.schema([pa.field("j", pa.utf8(), metadata={"ARROW:extension:name": "arrow.json"})])
    with pytest.raises((ValueError, OSError), match="Failed to encode JSON"):
        lance.write_dataset(pa.table([pa.array([text])], schema=schema), f"{tmp_path}/t")
