"""Rows by words."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.full_text.inverted import INVERTED, rows_with
from lanceref.index.full_text.parameters import Analysis, says_words
from lanceref.index.indices import kind_of
from lanceref.index.predicate import HasWords

from ..tables import QUESTIONS, asked, assert_same, ids, index_reads, scanned, write

WORDS = {
    "stem": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "lower_case": False,
    "max_token_length": None,
}
SOURCE = random.Random(9)
VOCABULARY = ["the", "The", "fox", "foxes", "é", "e", "日本", "12", "a_b", "x-y", "running"]
TEXTS = [
    None if SOURCE.random() < 0.1 else " ".join(SOURCE.choices(VOCABULARY, k=SOURCE.randrange(6)))
    for _ in range(200)
]


def conditions(count: int) -> list[str]:
    """Return conditions on words, seeded."""
    source = random.Random(count)

    def leaf() -> str:
        words = " ".join(source.choices([*VOCABULARY, "nowhere"], k=source.randrange(1, 4)))
        return f"contains_tokens(s, '{words}')"

    return [
        leaf() if source.random() < 0.5 else f"{leaf()} {source.choice(['and', 'or'])} {leaf()}"
        for _ in range(count)
    ]


def segments_of(dataset):
    """Return the segments of a version, opened anew."""
    return pylanceref.dataset(dataset.uri)._snapshot.indices.segments


@pytest.mark.parametrize("stable", [False, True])
def test_what_is_found_is_what_a_scan_finds(tmp_path, stable):
    """With rows deleted, added, taken in and moved."""
    table = pa.table({"s": TEXTS})
    dataset = write(table, tmp_path, max_rows_per_file=80, enable_stable_row_ids=stable)
    dataset.create_scalar_index("s", "INVERTED", **WORDS)
    dataset.delete("_rowoffset in (3, 100)")
    dataset.insert(table.slice(0, 20))
    assert_same(dataset, conditions(QUESTIONS))
    dataset.optimize.optimize_indices()
    assert_same(dataset, conditions(20))
    dataset.optimize.compact_files()
    assert_same(dataset, conditions(20))


def test_only_an_index_of_words_is_asked(tmp_path):
    """And it is not asked for nothing, or for what it has not."""
    dataset = write(pa.table({"s": TEXTS}), tmp_path)
    dataset.create_scalar_index("s", "INVERTED", **WORDS)
    (segment,) = segments_of(dataset)
    assert kind_of(segment.entry).exact == (HasWords,)
    assert not asked(dataset, "contains_tokens(s, ' -')")
    assert_same(dataset, ["not contains_tokens(s, 'fox')"])
    assert len(ids(dataset, "contains_tokens(s, ' -')")) == sum(one is not None for one in TEXTS)
    for changed in ({"stem": True}, {"lower_case": True}, {"base_tokenizer": "whitespace"}):
        dataset.create_scalar_index("s", "INVERTED", **{**WORDS, **changed})
        assert not asked(dataset, "contains_tokens(s, 'fox')")
        (segment,) = segments_of(dataset)
        assert kind_of(segment.entry) is INVERTED
        assert INVERTED.open(segment).search(HasWords(("fox",))) is None


def test_parameters_that_keep_words():
    """Every step that changes or drops a token is one too many."""
    plain = Analysis(**WORDS)
    assert plain.keeps_words
    assert not Analysis().keeps_words
    for name in ("stem", "remove_stop_words", "ascii_folding", "lower_case"):
        assert not Analysis(**{**WORDS, name: True}).keeps_words, name
    assert not Analysis(**{**WORDS, "max_token_length": 40}).keeps_words
    assert not says_words(b"")
    assert not says_words(b"\xff")


def test_rows_of_fragments_that_are_gone(tmp_path):
    """They are left out; so is everything when a word is nowhere."""
    dataset = write(pa.table({"s": ["fox e", "fox", None, "e"]}), tmp_path, max_rows_per_file=2)
    dataset.create_scalar_index("s", "INVERTED", **WORDS)
    (segment,) = segments_of(dataset)
    parts = INVERTED.open(segment).partitions

    def rows(*words: str, gone: int = 9) -> list[int]:
        return rows_with(words, parts, np.array([gone], np.uint64)).keys.tolist()

    assert rows("e") == [0, (1 << 32) + 1]
    assert rows("e", gone=0) == [(1 << 32) + 1]
    assert rows("e", "fox") == [0]
    assert rows("fox", "nowhere") == rows() == []


def test_the_text_is_not_read(tmp_path):
    """Only lists of the words asked for."""
    texts = [f"word{n} the quick brown fox {n}" * 30 for n in range(10_000)]
    dataset = write(pa.table({"s": texts}), tmp_path)
    condition = "contains_tokens(s, 'word17171')"
    everything = index_reads(dataset, condition)
    dataset.create_scalar_index("s", "INVERTED", **WORDS)
    assert index_reads(dataset, condition) * 3 < everything


@pytest.mark.oracle
def test_the_oracle_finds_the_same(tmp_path):
    """From the files of both; but it finds nothing where nothing is asked for."""
    import lance

    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(pa.table({"s": TEXTS}), path, max_rows_per_file=80)
        library.dataset(path).create_scalar_index("s", "INVERTED", **WORDS)
        readers = lance.dataset(path), pylanceref.dataset(path)
        asking = conditions(QUESTIONS)
        for condition, found in zip(asking, scanned(readers[0], asking), strict=True):
            for reader in readers:
                assert sorted(ids(reader, condition)) == sorted(found), condition
        nothing = "contains_tokens(s, '')"
        everything = ids(readers[0], nothing, use_scalar_index=False)
        assert ids(readers[0], nothing) == []
        assert ids(readers[1], nothing) == everything != []
