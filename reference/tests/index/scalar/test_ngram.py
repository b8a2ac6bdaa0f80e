"""NGRAM: rows by three letters of their text."""

from __future__ import annotations

import random

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError
from lanceref.index.scalar.ngram import literals_of, read_tokens, tokens_of

from ..tables import assert_same, ids, index_reads, write

SOURCE = random.Random(4)
WORDS = ["hello", "world", "Été", "ſtraße", "foo_bar", "日本語", "ab", "x1y2", "hell", "BAR", ""]
TEXTS = [
    None if SOURCE.random() < 0.1 else " ".join(SOURCE.choices(WORDS, k=SOURCE.randint(0, 4)))
    for _ in range(300)
]
CONDITIONS = [
    "contains(s, 'ell')",
    "contains(s, 'hello wor')",
    "contains(s, 'bar')",
    "contains(s, 'zzz')",
    "contains(s, 'traße')",
    "s like 'hel%'",
    "starts_with(s, 'foo')",
    "regexp_match(s, 'hel+o')",
    "regexp_match(s, 'ello.*bar')",
    "contains(s, 'ell') and contains(s, 'bar')",
]


def file_of(dataset):
    """Return the file of the first segment."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    return segment, segment.file("ngram_postings.lance")


def test_worked_examples():
    """Numbers of tokens; letters are folded, other characters end a run."""
    assert tokens_of("abc") == {15516}
    assert tokens_of("ell") == {21371}
    assert tokens_of("foo_bar") == tokens_of("foo") | tokens_of("BAR")
    assert tokens_of("ſtraße") == tokens_of("strasse")
    assert tokens_of("日本語") == tokens_of("ab") == set()


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("hello", ["hello"]),
        ("hel+o", ["hel", "o"]),
        ("hell?o", ["hel", "o"]),
        ("ab*c{2,3}d", ["a", "", "d"]),
        ("a.c", ["a", "c"]),
        ("a|b", []),
        ("(abc)?def", []),
        (r"abc\d", []),
    ],
)
def test_texts_that_a_match_holds(pattern, texts):
    """What may be missing is no part of them, and of groups nothing is said."""
    assert literals_of(pattern) == texts


def test_null_has_a_token_of_its_own(tmp_path):
    """Short texts are in no list."""
    dataset = write(pa.table({"s": ["abc", None, "ab"]}), tmp_path)
    dataset.create_scalar_index("s", "NGRAM")
    segment, _ = file_of(dataset)
    assert read_tokens(segment).tolist() == [0, 15516]
    assert dataset.index_statistics("s_idx")["indices"] == [{"num_ngrams": 2}]


def test_what_is_found_is_what_a_scan_finds(tmp_path):
    """With rows deleted, added and taken in."""
    table = pa.table({"s": TEXTS})
    dataset = write(table, tmp_path, max_rows_per_file=120)
    dataset.create_scalar_index("s", "NGRAM")
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(table.slice(0, 20))
    assert_same(dataset, CONDITIONS)
    dataset.optimize.optimize_indices()
    assert_same(dataset, CONDITIONS)
    dataset.optimize.compact_files()
    assert_same(dataset, CONDITIONS)
    for condition in ("contains(s, 'b c')", "contains(s, 'el')", "contains(s, '日本語')"):
        assert ids(dataset, condition) == ids(dataset, condition, use_scalar_index=False)


@pytest.mark.oracle
def test_the_oracle_writes_the_same_and_finds_the_same(tmp_path):
    """Columns are equal; rows of both libraries from the files of both."""
    import lance

    made = {}
    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(pa.table({"s": TEXTS}), path, max_rows_per_file=120)
        library.dataset(path).create_scalar_index("s", "NGRAM")
        made[library] = path
    theirs, own = (file_of(pylanceref.dataset(path))[1] for path in made.values())
    for name in theirs.names:
        assert theirs.read(name) == own.read(name)
    for path in made.values():
        plain = lance.dataset(path)
        expected = [ids(plain, condition, use_scalar_index=False) for condition in CONDITIONS]
        for reader in (lance, pylanceref):
            dataset = reader.dataset(path)
            for condition, found in zip(CONDITIONS, expected, strict=True):
                assert sorted(ids(dataset, condition)) == found, condition


def test_only_lists_of_its_tokens_are_read(tmp_path):
    """A rare text costs a part of the data."""
    texts = pa.array([f"{n:05d} the quick brown fox {n}" * 5 for n in range(20_000)])
    dataset = write(pa.table({"s": texts}), tmp_path)
    everything = index_reads(dataset, "contains(s, '17171')")
    dataset.create_scalar_index("s", "NGRAM")
    assert index_reads(dataset, "contains(s, '17171')") * 3 < everything


def test_tokens_must_rise(tmp_path):
    """Also below the highest there can be."""
    dataset = write(pa.table({"s": ["abc"]}), tmp_path)
    dataset.create_scalar_index("s", "NGRAM")
    segment, file = file_of(dataset)
    for broken in ([5, 5], [37**3], [None]):
        file.read = lambda name, type_, held=broken: pa.array(held, pa.uint32())
        with pytest.raises(FormatError) as caught:
            read_tokens(segment)
        assert caught.value.clause == "L.index.ngram.order"


def test_a_text_without_tokens_reads_no_index(tmp_path):
    """Of texts with two letters it knows nothing: the column is read as it is without it."""
    dataset = write(pa.table({"s": TEXTS}), tmp_path)
    before = index_reads(dataset, "contains(s, 'll')")
    dataset.create_scalar_index("s", "NGRAM")

    assert before == index_reads(dataset, "contains(s, 'll')")
    assert before != index_reads(dataset, "contains(s, 'ell')")
