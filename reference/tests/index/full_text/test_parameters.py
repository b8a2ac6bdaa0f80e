"""Parameters of full-text indices, and what they make of texts: words, folds, stems, documents."""

import json
from itertools import islice

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError, NotYet, Place
from lanceref.index.full_text import analyzer, parameters, tokenizers
from lanceref.index.full_text.analyzer import Analyzer, folded, gather, json_tokens, lowered

from ..subjects import KEPT_WORDS

PLACE = Place("f", 0)
STORED = (
    '{"lance_tokenizer":"text","base_tokenizer":"simple","language":"English",'
    '"with_position":false,"max_token_length":40,"lower_case":true,"stem":true,'
    '"remove_stop_words":true,"custom_stop_words":null,"ascii_folding":true,'
    '"min_ngram_length":3,"max_ngram_length":3,"prefix_only":false,"block_size":128,'
    '"split_identifiers":false,"split_on_numerics":false,"preserve_original":false,'
    '"index_operators":false}'
)


def test_worked_parameters():
    """The defaults, as text and as details."""
    settings = parameters.requested({}, json_documents=False)
    assert STORED == settings.analysis.text
    wanted = "0a06 73696d706c65 1209 22456e676c69736822 2028 2801 3001 3801 4001 4803 5003 608001"
    details = settings.details.SerializeToString(deterministic=True)
    assert bytes.fromhex(wanted + "7802") == details
    assert parameters.Analysis() == parameters.parse_analysis(STORED, PLACE)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"foo": 1}, ValueError),
        ({"analyzer": "text", "base_tokenizer": "code"}, ValueError),
        ({"analyzer": "code", "base_tokenizer": "simple"}, ValueError),
        ({"split_identifiers": True}, ValueError),
        ({"base_tokenizer": "code", "format_version": 2}, ValueError),
        ({"base_tokenizer": "ngram", "min_ngram_length": 0}, ValueError),
        ({"max_token_length": -1}, OverflowError),
        ({"lance_tokenizer": "json"}, ValueError),
        ({"block_size": 256, "format_version": 2}, ValueError),
        ({"base_tokenizer": "foo"}, ValueError),
        ({"base_tokenizer": "ngram", "min_ngram_length": 4}, ValueError),
        ({"with_position": "x"}, TypeError),
        ({"document_granularity": "row"}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(given, error):
    """With the classes that pylance has."""
    with pytest.raises(error):
        parameters.requested(given, json_documents=False)


@pytest.mark.parametrize(
    ("codec", "version"),
    [
        ({}, 1),
        ({"posting_tail_codec": "fixed32"}, 1),
        ({"posting_tail_codec": "varint_delta_v1"}, 2),
    ],
)
def test_a_format_that_is_not_said_is_told_by_how_lists_end(codec, version):
    """As releases wrote it before they named formats."""
    assert version == parameters.parse_settings(codec, PLACE).format_version
    assert 3 == parameters.parse_settings({**codec, "format_version": "3"}, PLACE).format_version


def test_program_text_has_defaults_of_its_own():
    """No stems, no stop words, format 3, and its flags are in the details."""
    own = parameters.requested({"analyzer": "code", "index_operators": True}, json_documents=False)
    assert own == parameters.requested(
        {"base_tokenizer": "code", "index_operators": True}, json_documents=False
    )
    assert (3, False, False) == (
        own.format_version,
        own.analysis.stem,
        own.analysis.remove_stop_words,
    )
    config = own.details.code_config
    assert (False, True, True, True) == (
        config.split_identifiers,
        config.split_on_numerics,
        config.preserve_original,
        config.index_operators,
    )
    assert not parameters.requested({}, json_documents=False).details.HasField("code_config")


@pytest.mark.parametrize(("variable", "asked", "built"), [("1", {}, 1), ("v3", {}, 3)])
def test_the_environment_says_the_format(monkeypatch, variable, asked, built):
    """Unless the caller does; another value is refused by the name of the variable."""
    monkeypatch.setenv("LANCE_FTS_FORMAT_VERSION", variable)
    assert built == parameters.requested(asked, json_documents=False).format_version
    assert 2 == parameters.requested({"format_version": 2}, json_documents=False).format_version
    monkeypatch.setenv("LANCE_FTS_FORMAT_VERSION", "invalid")
    assert 2 == parameters.requested({"format_version": 2}, json_documents=False).format_version
    with pytest.raises(ValueError, match="LANCE_FTS_FORMAT_VERSION invalid"):
        parameters.requested({}, json_documents=False)


def test_parameters_that_keep_words():
    """Every step that changes or drops a token is one too many."""
    plain = parameters.Analysis(**KEPT_WORDS)
    assert plain.keeps_words
    assert not parameters.Analysis().keeps_words
    for name in ("stem", "remove_stop_words", "ascii_folding", "lower_case"):
        assert not parameters.Analysis(**{**KEPT_WORDS, name: True}).keeps_words, name
    assert not parameters.Analysis(**{**KEPT_WORDS, "max_token_length": 40}).keeps_words
    assert not parameters.tokenizes_words(b"")
    assert not parameters.tokenizes_words(b"\xff")


def cut(pieces):
    """The words of a cut text, which lie one after the other."""
    found, positions = pieces
    assert list(range(len(found))) == list(positions)
    return list(found)


def test_worked_texts():
    """Each tokenizer cuts in its own way."""
    assert ["foo", "bar", "baz", "it", "s", "9"] == cut(tokenizers.simple("foo_bar-baz it's 9"))
    assert ["été", "中文字", "x", "Ⅻ", "का"] == cut(tokenizers.simple("été, 中文字 x Ⅻ का!"))
    assert ["a\x0bb", "c", "d\u00a0e"] == cut(tokenizers.whitespace("a\x0bb c\td\u00a0e\n"))
    assert ["The  Quick"] == cut(tokenizers.raw("The  Quick"))
    assert ["x", "y"] == cut(tokenizers.numbered(["x", "y"]))


def test_worked_ngrams():
    """By start and then by length, or only from the first character; all lie at 0."""
    found, positions = tokenizers.ngrams(2, 3, prefix_only=False)("abc ")
    assert ["ab", "abc", "bc", "bc ", "c "] == list(found)
    assert [0] * 5 == list(positions)
    assert ["ab", "abc"] == list(tokenizers.ngrams(2, 3, prefix_only=True)("abc d")[0])
    assert [] == list(tokenizers.ngrams(3, 3, prefix_only=True)("")[0])


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("XMLHttp_parse2JSON", ["XML", "Http", "parse", "2", "JSON"]),
        ("__x__", ["x"]),
        *(("ABC", ["ABC"]), ("aBC", ["a", "BC"]), ("ABc", ["A", "Bc"])),
        *(("ÀbCd", ["Àb", "Cd"]), ("___", [])),
    ],
)
def test_worked_parts(word, parts):
    """Low lines, capitals and digits end a part."""
    assert parts == tokenizers.parts_of(word, numerics=True)


def test_worked_text():
    """A word lies where its first part does; operators are words where they are asked for."""
    text = "getName a::b -> c"
    assert (["getName", "a", "b", "c"], range(4)) == tokenizers.code(operators=False)(text)
    assert ["getName", "a", "::", "b", "->", "c"] == tokenizers.code(operators=True)(text)[0]
    both = tokenizers.code(operators=False, split=True, numerics=True, whole=True)(text)
    assert (["getName", "get", "Name", "a", "b", "c"], [0, 0, 1, 2, 3, 4]) == both
    parts = tokenizers.code(operators=False, split=True, numerics=True, whole=False)(text)
    assert (["get", "Name", "a", "b", "c"], [0, 1, 2, 3, 4]) == parts


def test_worked_word_breaks():
    """Segments with a letter or a digit are words; colons of any width cut."""
    text = "can't 3.14 foo_bar x:y 1,000 e\u0301t\u00e9 😀 ①② x\uff1ay _ 한국어"
    own = ["can't", "3.14", "foo_bar", "x", "y", "1,000", "e\u0301t\u00e9", "①", "②", "x", "y"]
    assert ([*own, "한국어"], range(12)) == tokenizers.icu(split=False)(text)


@pytest.mark.parametrize("text", ["世界", "カタカナ", "สวัสดี"])
def test_scripts_without_blanks_are_refused(text):
    """A dictionary would be needed."""
    with pytest.raises(NotYet, match="dictionary"):
        tokenizers.icu(split=False)(f"hello {text}")


WORDS = "我们 98740 r\n都 202780 d\n有 423765 v\n光明 1219 n\n的 318825 uj\n前途 1263 n\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a dictionary `jieba/default` and one of a user's."""
    monkeypatch.setenv(tokenizers.HOME, str(tmp_path))
    for name, file, text in (
        ("default", "dict.txt", WORDS),
        ("mine", "user.txt", "光明的前途 318825 n\n"),
        ("mine", "config.json", json.dumps({"main": "../default/dict.txt", "users": ["user.txt"]})),
        ("bad", "config.json", json.dumps({"main": "none.txt"})),
    ):
        path = tmp_path / "jieba" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "lindera" / "x").mkdir(parents=True)
    return tmp_path


def test_worked_model_words(home):
    """Words of the dictionary, and short words within a long one, at their first characters."""
    pytest.importorskip("jieba")
    found = tokenizers.model("jieba")("我们都有光明的前途")
    assert (["我们", "都", "有", "光明", "的", "前途"], [0, 2, 3, 4, 6, 7]) == found
    found = tokenizers.model("jieba/mine")("都有光明的前途")
    assert (["都", "有", "光明", "前途", "光明的前途"], [0, 1, 2, 5, 2]) == found


def test_texts_that_cannot_be_cut_here_are_noted(home, monkeypatch):
    """An index is no worse for a dictionary that is only where it was made."""
    pytest.importorskip("jieba")
    dataset = pylanceref.write_dataset(pa.table({"s": ["都 有"]}), home / "t")
    dataset.create_scalar_index("s", "INVERTED", base_tokenizer="jieba")
    assert [] == lanceref.validate(dataset.uri, deep=True)
    monkeypatch.setenv(tokenizers.HOME, str(home / "nowhere"))
    assert ["note"] == [one.severity for one in lanceref.validate(dataset.uri, deep=True)]


def test_worked_characters():
    """Marks go, ligatures and letters of their own become letters; what has no ASCII part stays."""
    assert "ete strasse fi AE 14" == folded("été straße ﬁ Æ ¼")
    assert "中\u0307ж" == folded("中\u0307ж")
    assert "a b" == folded("a\u00a0b")


def test_every_language_has_a_list():
    """Some words that are known, and some that are none."""
    assert all(len(analyzer.stop_words(language)) > 40 for language in parameters.LANGUAGES)
    assert {"the", "i'm", "very"} <= analyzer.stop_words("English")
    assert not {"no", "not", "s"} & analyzer.stop_words("English")
    assert "und" in analyzer.stop_words("German")


def forms(text: str, **settings) -> list[str]:
    """Return the tokens of a text."""
    return [token for token, _ in Analyzer(parameters.Analysis(**settings)).tokens(text)]


def test_worked_steps():
    """Stems are held against the stop words: "very" stays, "having" goes."""
    assert ["veri", "fox", "run"] == forms("The VERY foxes, having running")
    assert ["the", "foxes"] == forms("The foxes", stem=False, remove_stop_words=False)
    assert ["the"] == forms("the Foxes", custom_stop_words=("fox",))
    assert ["ete"] == forms("Été")
    assert ["été"] == forms("Été", ascii_folding=False)
    assert ["chanton", "le"] == forms("chantons les", language="French", remove_stop_words=False)


def test_positions_and_lower_case():
    """Positions count dropped words; lower case is by character."""
    assert [("fox", 2)] == list(Analyzer(parameters.Analysis()).tokens("of the fox"))
    ngrams = Analyzer(parameters.Analysis(base_tokenizer="ngram", stem=False))
    assert [("abc", 0), ("bcd", 0)] == list(ngrams.tokens("abcd"))
    assert "οδοσ" == lowered("ΟΔΟΣ")
    assert "i̇" == lowered("İ")


def found(values, *, list_elements=False) -> list[tuple]:
    """Return row, places in lists and tokens of each document."""
    own = Analyzer(parameters.Analysis())
    made = gather(pa.array(values), own, list_elements=list_elements)
    tokens = zip(made.tokens, made.positions.tolist(), strict=True)
    pairs = zip(made.rows.tolist(), made.elements.tolist(), made.lengths.tolist(), strict=True)
    return [(row, element, [*islice(tokens, length)]) for row, element, length in pairs]


def test_rows_without_tokens_are_none():
    """Null, an empty text and stop words only."""
    assert [(3, [], [("fox", 0)])] == found([None, "", "the", "fox"])


def test_lists():
    """One document, whose positions go on, or one for each element, also the empty ones."""
    values = [["a fox", None, "dog"], None, [], ["cow"]]
    for nested in (values, [[values[0]], None, [], [[], values[3]]]):
        assert [(0, [], [("fox", 1), ("dog", 2)]), (3, [], [("cow", 0)])] == found(nested)
        documents = found(nested, list_elements=True)
        assert [[("fox", 1)], [], [("dog", 0)], [("cow", 0)]] == [one for _, _, one in documents]
    assert [(0, [0, 0]), (0, [0, 1]), (0, [0, 2]), (3, [1, 0])] == [one[:2] for one in documents]


def test_json():
    """Every scalar has a path and a type; numbers stay as they are written."""
    text = '{"a":{"b":["The foxes",1.50,{"c":null}]},"ok":true,"e":""}'
    tokens = ["a.b,str,fox", "a.b,number,1.50", "a.b.c,null,null", "ok,bool,true"]
    assert tokens == json_tokens(text, Analyzer(parameters.Analysis()))
    assert [",str,top"] == json_tokens('"top"', Analyzer(parameters.Analysis()))
    with pytest.raises(FormatError):
        json_tokens("{", Analyzer(parameters.Analysis()))
