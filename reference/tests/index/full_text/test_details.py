"""Details of full-text indices."""

import json

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import BadProto, Place
from lanceref.index.full_text.parameters import parse_details, shown_analysis
from lanceref.proto.index_details_pb2 import InvertedIndexDetails

PLACE = Place("m", 0)

REQUESTS = [
    {},
    {"with_position": True, "stem": False, "language": "German"},
    {"base_tokenizer": "ngram", "min_ngram_length": 2, "max_ngram_length": 4, "prefix_only": True},
    {"base_tokenizer": "whitespace", "max_token_length": None, "custom_stop_words": ["a"]},
    {"base_tokenizer": "code", "split_identifiers": True},
    {"format_version": 1, "lower_case": False, "ascii_folding": False},
    {"block_size": 256},
]


def _described(module, root, **given):
    words = ["hello world", "b"]
    table = {"t": words, "m": words, "j": pa.array(['{"x": "y"}'] * 2, pa.json_())}
    made = module.write_dataset(pa.table(table), str(root))
    made.create_scalar_index("t", "INVERTED", **given)
    made.create_scalar_index("m", "MINHASHLSH")
    parameters = {"target_index_type": "btree", "path": "x"}
    made.create_scalar_index("j", module.indices.IndexConfig("json", parameters))
    return made


def test_lists_have_the_parameters(tmp_path):
    """As the entry has them, which does not hold a user's stop words."""
    made = _described(pylanceref, tmp_path, max_token_length=None, custom_stop_words=["a"])
    found = {one.name: one.details for one in made.describe_indices()}

    text = found["t_idx"]
    assert (None, None, None) == tuple(
        text[name] for name in ("lance_tokenizer", "max_token_length", "custom_stop_words")
    )
    assert ("simple", "English", 3) == (
        text["base_tokenizer"],
        text["language"],
        text["max_ngram_length"],
    )
    assert "row" == text["document_granularity"]
    assert {"path": "x", "target_details": {}} == found["j_idx"]
    assert (128, 16, 3) == tuple(found["m_idx"].values())[:3]


def test_flags_of_program_text_are_on_where_not_said():
    """Two of them, and only with a configuration of program text."""
    flags = ("split_identifiers", "split_on_numerics", "preserve_original", "index_operators")
    plain = InvertedIndexDetails(language='"English"')
    found = shown_analysis(plain, PLACE)
    assert [False] * 4 == [found[name] for name in flags]

    plain.code_config.split_identifiers = True
    found = shown_analysis(plain, PLACE)
    assert [True, True, True, False] == [found[name] for name in flags]


@pytest.mark.parametrize("language", ["", "{", "[" * 100_000])
def test_a_language_that_is_no_json_is_an_error(language):
    """However deep it is; so are bytes that are no message."""
    with pytest.raises(BadProto, match=r"L\.index\.fts\.params"):
        shown_analysis(InvertedIndexDetails(language=language), PLACE)
    with pytest.raises(BadProto, match=r"L\.index\.fts\.params"):
        parse_details(b"\x0a\xff", PLACE)


@pytest.mark.oracle
@pytest.mark.parametrize("given", REQUESTS, ids=json.dumps)
def test_the_oracle_lists_the_same(tmp_path, given):
    """Whoever built the index."""
    import lance

    _described(lance, tmp_path / "o", **given)
    _described(pylanceref, tmp_path / "l", **given)
    for name in ("o", "l"):
        root = str(tmp_path / name)
        ours, theirs = (module.dataset(root).describe_indices() for module in (pylanceref, lance))
        assert [list(one.details.items()) for one in theirs] == [
            list(one.details.items()) for one in ours
        ]
