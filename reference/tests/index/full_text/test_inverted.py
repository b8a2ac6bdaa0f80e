"""INVERTED: files of both libraries, queries of both, and the life of an index."""

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref
import pylanceref.query
import pytest
from lanceref.index.full_text import analyzer, inverted
from lanceref.index.full_text.inverted import Inverted
from lanceref.inspection import validate
from pylanceref.index_statistics import statistics_of

from ..tables import write
from . import texts

ANSWERS = Path(__file__).parent / "answers.json"
"""What the oracle finds over its own index of `texts.table(600)`."""

LAYOUTS = [
    {},
    {"format_version": 1},
    {"format_version": 3},
    {"block_size": 256},
    {"stem": False, "remove_stop_words": False, "ascii_folding": False},
    {"base_tokenizer": "whitespace", "language": "French"},
    {"base_tokenizer": "ngram"},
    {"base_tokenizer": "raw", "max_token_length": None},
]


def test_saved_answers_of_the_oracle_are_found(tmp_path):
    """Without the oracle: rows and scores of every saved query, the data not being there."""
    dataset = write(texts.table(600), tmp_path, max_rows_per_file=250)
    for column in "st":
        dataset.create_scalar_index(column, "INVERTED", with_position=True)
    saved = json.loads(ANSWERS.read_text())
    assert texts.QUERIES == len(saved)
    assert 150 < sum(map(bool, saved))
    for number, (query, wanted) in enumerate(
        zip(texts.queries(pylanceref.query), saved, strict=True)
    ):
        texts.assert_equal(wanted, texts.answer(dataset, query), number)


@pytest.mark.oracle
def test_saved_answers_are_what_the_oracle_finds(tmp_path):
    """Delete the file and run this to save them anew."""
    import lance
    import lance.query

    dataset = lance.write_dataset(texts.table(600), tmp_path / "t", max_rows_per_file=250)
    for column in "st":
        dataset.create_scalar_index(column, "INVERTED", with_position=True)
    found = [texts.answer(dataset, one) for one in texts.queries(lance.query)]
    if not ANSWERS.exists():
        rounded = [[(row, round(score, 7)) for row, score in one] for one in found]
        ANSWERS.write_text(json.dumps(rounded, separators=(",", ":")) + "\n")
    for wanted, own in zip(json.loads(ANSWERS.read_text()), found, strict=True):
        texts.assert_equal(wanted, own, own)


@pytest.mark.oracle
@pytest.mark.parametrize("parameters", LAYOUTS, ids=str)
def test_columns_are_those_of_the_oracle(tmp_path, parameters):
    """Every column and all metadata of every file are equal, but for the last bits of scores."""
    import lance
    from lance.file import LanceFileReader

    files = []
    for writer in (lance, pylanceref):
        path = tmp_path / writer.__name__
        lance.write_dataset(texts.table(400), path, max_rows_per_file=150)
        writer.dataset(str(path)).create_scalar_index(
            "s", "INVERTED", with_position=True, **parameters
        )
        (folder,) = (path / "_indices").iterdir()
        files.append({})
        for file in sorted(folder.iterdir()):
            read = LanceFileReader(str(file))
            files[-1][file.name] = (read.read_all().to_table(), read.metadata().schema.metadata)
    theirs, ours = files
    assert theirs.keys() == ours.keys()
    for name, (table, metadata) in theirs.items():
        assert metadata == ours[name][1], name
        assert table.schema.equals(ours[name][0].schema), name
        for column in table.column_names:
            wanted, found = (one[column].to_pylist() for one in (table, ours[name][0]))
            if column == "_posting" and parameters.get("block_size") != 256:
                scores = [
                    [np.frombuffer(block[:4], "<f4") for row in one for block in row]
                    for one in (wanted, found)
                ]
                np.testing.assert_array_max_ulp(*map(np.concatenate, scores), 2)
                wanted, found = (
                    [[block[4:] for block in row] for row in one] for one in (wanted, found)
                )
            if column == "_max_score":
                np.testing.assert_array_max_ulp(np.float32(wanted), np.float32(found), 2)
            else:
                assert wanted == found, (name, column)


@pytest.mark.parametrize(
    ("words", "is_fault"), [({"a"}, False), ({"don", "t", "who"}, False), ({"fox"}, True)]
)
def test_stop_words_of_other_releases_are_no_fault(words, is_fault, tmp_path, monkeypatch):
    """Fewer or more, in English: what no release left out is missed."""
    dataset = write(pa.table({"s": ["who has it", "a fox", "who don't", None]}), tmp_path)
    with monkeypatch.context() as before:
        before.setattr(analyzer, "stop_words", lambda language: frozenset(words))
        dataset.create_scalar_index("s", "INVERTED", with_position=True)
    faults = [one.clause for one in validate(dataset.uri, deep=True)]
    assert faults == ["L.index.segment.complete"] * is_fault


def _of_each_text(values, own, *, list_elements):
    found = analyzer.gather(values, own, list_elements=True)
    return replace(found, elements=np.empty((len(found.rows), 0), np.uint32))


@pytest.mark.parametrize("parameters", [{}, {"with_position": True}, {"base_tokenizer": "raw"}])
def test_texts_of_a_list_may_be_documents(parameters, tmp_path, monkeypatch):
    """As those of releases up to 8, which say nothing of it."""
    rows = pa.table({"s": [["x y", "x"], [], None, ["x", None]], "i": range(4)})
    dataset = write(rows, tmp_path)
    with monkeypatch.context() as early:
        early.setattr(inverted, "gather", _of_each_text)
        dataset.create_scalar_index("s", "INVERTED", **parameters)
    assert [] == validate(dataset.uri, deep=True)
    assert {0, 3} == {row for row, _ in texts.answer(dataset, "x")}


def test_an_index_without_documents(tmp_path):
    """It has no partition and finds nothing."""
    dataset = write(pa.table({"s": ["", None, "the"], "i": range(3)}), tmp_path)
    dataset.create_scalar_index("s", "INVERTED")
    (index,) = [Inverted(one) for one in dataset._snapshot.indices.segments]
    assert () == index.partitions
    assert {"num_tokens": 0, "num_docs": 0} == {
        name: value for name, value in statistics_of(index).items() if name != "params"
    }
    assert [] == texts.answer(dataset, "fox")
    dataset.insert(pa.table({"s": ["fox"], "i": [9]}))
    assert [9] == [row for row, _ in texts.answer(pylanceref.dataset(dataset.uri), "fox")]


@pytest.mark.parametrize("reader", [pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
def test_segments_over_lists_without_texts_are_read(tmp_path, reader):
    """The columns of a partition alone say that elements are the documents: an empty one does."""
    lists = pa.list_(pa.string())
    for values in ([], [[], None], [["a lazy dog"]], [None]):
        rows = pa.table({"l": pa.array(values, lists)})
        dataset = pylanceref.write_dataset(rows, tmp_path / "t", mode="append")
        if dataset.version == 1:
            per_element = pylanceref.query.DocumentGranularity.LIST_ELEMENT
            dataset.create_scalar_index("l", "INVERTED", document_granularity=per_element)
        dataset.optimize.optimize_indices(num_indices_to_merge=0)

    opened = importlib.import_module(reader).dataset(str(tmp_path / "t"))
    query = importlib.import_module(f"{reader}.query").MatchQuery("lazy", "l")
    assert [["a lazy dog"]] == opened.to_table(full_text_query=query)["l"].to_pylist()
