"""INVERTED: files of both, queries of both, the life of an index."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pylanceref.query
import pytest
from lanceref.core.errors import FormatError, LanceError
from lanceref.index.full_text.inverted import Inverted

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


@pytest.mark.oracle
@pytest.mark.parametrize(
    "parameters", [{}, {"format_version": 1}, {"block_size": 256}], ids=["v2", "v1", "256"]
)
@pytest.mark.parametrize("stable", [False, True])
def test_both_find_the_same_through_the_life_of_an_index(tmp_path, parameters, stable):
    """Over the files of either: rows deleted, rows added, rows updated, several segments."""
    import lance
    import lance.query

    for writer in (lance, pylanceref):
        path = str(tmp_path / writer.__name__)
        lance.write_dataset(
            texts.table(300), path, max_rows_per_file=120, enable_stable_row_ids=stable
        )
        for column in "st":
            dataset = writer.dataset(path)
            dataset.create_scalar_index(column, "INVERTED", with_position=True, **parameters)
        for step in range(3):
            if step == 1:
                lance.dataset(path).delete("i % 7 = 3")
                lance.dataset(path).insert(texts.table(60, seed=5))
            if step == 2:
                lance.dataset(path).optimize.optimize_indices(num_indices_to_merge=0)
                lance.dataset(path).insert(texts.table(20, seed=6))
            pairs = zip(
                texts.queries(lance.query, step)[:60],
                texts.queries(pylanceref.query, step)[:60],
                strict=True,
            )
            theirs, ours = lance.dataset(path), pylanceref.dataset(path)
            for number, (query, own) in enumerate(pairs):
                wanted = texts.answer(theirs, query)
                texts.assert_equal(wanted, texts.answer(ours, own), (step, number))


def test_segments_are_merged(tmp_path):
    """Segments built apart become one with one partition, which finds the same as one build."""
    dataset = write(texts.table(200), tmp_path, max_rows_per_file=70)
    parts = [
        dataset.create_index_uncommitted("s", "INVERTED", with_position=True, fragment_ids=[one])
        for one in range(3)
    ]
    merged = dataset.merge_existing_index_segments(parts)
    dataset.commit_existing_index_segments("s_idx", "s", [merged])
    own = pylanceref.dataset(dataset.uri)
    (index,) = [Inverted(one) for one in own._snapshot.indices.segments]
    assert 1 == len(index.partitions)
    wanted = write(texts.table(200), tmp_path / "once")
    wanted.create_scalar_index("s", "INVERTED", with_position=True)
    (other,) = [Inverted(one) for one in wanted._snapshot.indices.segments]
    assert list(other.partitions[0].items()) == list(index.partitions[0].items())
    for query in ("fox dog", "running", pylanceref.query.PhraseQuery("fox dog", "s")):
        texts.assert_equal(texts.answer(wanted, query), texts.answer(own, query), query)


def test_an_index_without_documents(tmp_path):
    """It has no partition and finds nothing."""
    dataset = write(pa.table({"s": ["", None, "the"], "i": range(3)}), tmp_path)
    dataset.create_scalar_index("s", "INVERTED")
    (index,) = [Inverted(one) for one in dataset._snapshot.indices.segments]
    assert () == index.partitions
    assert {"num_tokens": 0, "num_docs": 0} == {
        name: value for name, value in index.statistics().items() if name != "params"
    }
    assert [] == texts.answer(dataset, "fox")
    dataset.insert(pa.table({"s": ["fox"], "i": [9]}))
    assert [9] == [row for row, _ in texts.answer(pylanceref.dataset(dataset.uri), "fox")]


@pytest.mark.parametrize(
    ("key", "value", "clause"),
    [
        ("partitions", "7", "partitions"),
        ("partitions", "[true]", "partitions"),
        ("token_set_format", "trie", "token-set-format"),
    ],
)
def test_damaged_metadata_is_refused(tmp_path, monkeypatch, key, value, clause):
    """Each of the conditions."""
    dataset = write(pa.table({"s": ["fox"], "i": [0]}), tmp_path)
    dataset.create_scalar_index("s", "INVERTED")
    (segment,) = dataset._snapshot.indices.segments
    metadata = {**segment.file("metadata.lance").metadata, key: value}
    file = type(segment.file("metadata.lance"))
    monkeypatch.setattr(file, "metadata", property(lambda _: metadata))
    with pytest.raises((FormatError, LanceError), match=rf"L\.index\.fts\.{clause}"):
        assert Inverted(segment).partitions


def test_missing_partitions_are_an_error(tmp_path):
    """No row is lost in silence when a file of the index is gone."""
    dataset = write(pa.table({"s": ["fox"], "i": [0]}), tmp_path)
    dataset.create_scalar_index("s", "INVERTED")
    (file,) = (tmp_path / "t" / "_indices").glob("*/part_0_docs.lance")
    file.unlink()
    with pytest.raises(FormatError, match=r"L\.index\.segment\.files"):
        texts.answer(pylanceref.dataset(dataset.uri), "fox")


@pytest.mark.parametrize("maker", [pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
def test_moved_rows_without_text_leave_a_partition_of_nothing(tmp_path, maker):
    """Of fragment 1 the rows with text are deleted, the others moved."""
    maker, uri = importlib.import_module(maker), str(tmp_path)
    rows = pa.table({"k": range(6), "s": ["x y", "y", "w", "x", None, None]})
    made = maker.write_dataset(rows, uri, max_rows_per_file=3)
    built = [
        made.create_index_uncommitted("s", "INVERTED", fragment_ids=[one], replace=True)
        for one in (0, 1)
    ]
    made.commit_existing_index_segments("s_idx", "s", built)
    maker.dataset(uri).delete("k = 3")
    maker.dataset(uri).optimize.compact_files()

    made = pylanceref.dataset(uri)
    entries = made._snapshot.manifest.indices
    assert [4, 4] == [len(entry.files) for entry in entries]
    assert {0, 1} == {*made.to_table(full_text_query="y")["k"].to_pylist()}
    assert [] == made.to_table(full_text_query="z")["k"].to_pylist()
    assert not lanceref.validate(uri)
