"""FM: rows by parts of their text."""

from __future__ import annotations

import random

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError
from lanceref.index.fm import fm
from pylanceref.indices import IndexConfig

from ..tables import asked, assert_same, ids, index_reads, scanned, write
from .texts import CONDITIONS, TEXTS, make, partitions


def test_worked_statistics(tmp_path):
    """Texts that are not null, and their bytes with those that end them."""
    dataset = make(["banana", "", None, "ana"], tmp_path)
    expected = {"type": "Fm", "num_partitions": 1, "total_bwt_len": 13, "total_docs": 3}
    assert dataset.index_statistics("s_idx")["indices"] == [expected]
    (entry,) = dataset._snapshot.manifest.indices
    assert (entry.index_details.type_url, entry.index_version) == (
        "/lance.index.pb.FMIndexDetails",
        10,
    )


def test_what_is_found_is_what_a_scan_finds(tmp_path):
    """With rows deleted, added, taken in and moved."""
    table = pa.table({"s": TEXTS})
    dataset = make(TEXTS, tmp_path, max_rows_per_file=150)
    assert_same(dataset, CONDITIONS)
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(table.slice(0, 20))
    assert_same(dataset, CONDITIONS[::4])
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert len(dataset.list_indices()) == 2
    assert_same(dataset, CONDITIONS[1::4])
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    assert len(dataset.list_indices()) == 1
    assert_same(dataset, CONDITIONS[2::4])
    dataset.optimize.compact_files()
    assert_same(dataset, CONDITIONS[3::4])


def test_texts_of_other_kinds(tmp_path):
    """Large texts, rows with stable ids."""
    for number, options in enumerate(({}, {"enable_stable_row_ids": True})):
        dataset = make(TEXTS, tmp_path / f"{number}", pa.large_string(), **options)
        dataset.delete("_rowoffset < 20")
        assert_same(dataset, CONDITIONS[:20])


def test_rows_with_a_blank_are_looked_at(tmp_path):
    """A byte 00 is stored as a blank: who looks for one does not find the other."""
    dataset = make(["a b", "a\x00b", None, "a  b"], tmp_path)
    for condition, expected in (
        ("contains(s, 'a b')", [0]),
        ("contains(s, ' ')", [0, 3]),
        ("contains(s, '\x00')", [1]),
        ("not contains(s, 'a b')", [1, 3]),
        ("contains(s, '')", [0, 1, 3]),
        ("not contains(s, 'c')", [0, 1, 3]),
    ):
        assert ids(dataset, condition) == expected, condition
    assert asked(dataset, "contains(s, ' ')")
    assert not asked(dataset, "not contains(s, ' ')")


def test_partitions_end_with_their_last_row(tmp_path, monkeypatch):
    """By texts, or by bytes with one for each text."""
    texts = ["ab", "cd", "e", "", "fghijk", "l", "", None, "mn", "opq", "r"]
    monkeypatch.setattr(fm, "PARTITION_BYTES", 4)
    found = [one.row_ids.tolist() for one in partitions(make(texts, tmp_path / "b"))]
    assert found == [[0, 1], [2, 3, 4], [5, 6, 8], [9], [10]]
    monkeypatch.undo()
    monkeypatch.setattr(fm, "PARTITION_ROWS", 3)
    dataset = make(texts, tmp_path / "r")
    found = [one.row_ids.tolist() for one in partitions(dataset)]
    assert found == [[0, 1, 2], [3, 4, 5], [6, 8, 9], [10]]
    assert ids(dataset, "contains(s, 'r') or contains(s, 'd')") == [1, 10]


def test_other_columns_are_refused(tmp_path):
    """As pylance refuses them; the name is only known with parameters."""
    dataset = write(pa.table({"n": [1], "s": ["a"]}), tmp_path)
    with pytest.raises(ValueError, match="FM cannot index n"):
        dataset.create_scalar_index("n", IndexConfig("fm"))
    with pytest.raises(NotImplementedError):
        dataset.create_scalar_index("s", "FM")


def test_an_index_without_a_partition_is_refused(tmp_path):
    """There is one even without rows."""
    dataset = make(["a"], tmp_path)
    (segment,) = dataset._snapshot.indices.segments
    segment.entry.ClearField("files")
    with pytest.raises(FormatError) as caught:
        fm.FmIndex(segment)
    assert caught.value.clause == "L.index.fm.partition"


def test_only_what_a_search_needs_is_read(tmp_path):
    """A rare text costs a part of the data, and one that is nowhere next to nothing."""
    source = random.Random(2)
    texts = ["".join(source.choices("abcdefghijklmnop   ", k=300)) for _ in range(20_000)]
    dataset = write(pa.table({"s": texts}), tmp_path)
    everything = index_reads(dataset, "contains(s, 'zzz')")
    dataset.create_scalar_index("s", IndexConfig("fm"))
    assert index_reads(dataset, "contains(s, 'zzz')") * 5 < everything
    there = f"contains(s, '{texts[777][40:60]}')"
    assert ids(dataset, there) == [777]
    assert index_reads(dataset, there) < everything


@pytest.mark.oracle
def test_fewer_requests_than_the_oracle(tmp_path):
    """For a text that is nowhere, one that is here and there, and one of many rows."""
    import lance

    texts = [f"user {number * 2_654_435_761 % 2**32:x} of item" for number in range(3000)]
    path = write(pa.table({"s": texts}), tmp_path).uri
    pylanceref.dataset(path).create_scalar_index("s", IndexConfig("fm"))
    for text in ("zz", texts[77][5:], "9 of"):
        costs = []
        for library in (pylanceref, lance):
            opened = library.dataset(path)
            opened.io_stats_incremental()
            opened.to_table(filter=f"contains(s, '{text}')", columns=[], with_row_id=True)
            costs.append(opened.io_stats_incremental().read_iops)
        assert costs[0] <= costs[1], text


@pytest.mark.oracle
def test_the_oracle_writes_the_same_and_finds_the_same(tmp_path):
    """Columns and metadata are equal; rows of both libraries from the files of both."""
    import lance
    import lance.indices

    made = {}
    configs = {lance: lance.indices.IndexConfig("fm", {}), pylanceref: IndexConfig("fm")}
    for library, config in configs.items():
        path = str(tmp_path / library.__name__)
        lance.write_dataset(pa.table({"s": TEXTS}), path, max_rows_per_file=150)
        library.dataset(path).create_scalar_index("s", config)
        made[library] = path
    ((theirs,), (own,)) = (partitions(pylanceref.dataset(path)) for path in made.values())
    assert dict(theirs.file.metadata) == dict(own.file.metadata)
    for name in theirs.file.names:
        assert theirs.file.read(name) == own.file.read(name)
    expected = scanned(lance.dataset(made[lance]), CONDITIONS)
    for path in made.values():
        ours, other = pylanceref.dataset(path), lance.dataset(path)
        for condition, found in zip(CONDITIONS, expected, strict=True):
            assert ids(ours, condition) == found, condition
            if "not" not in condition and "''" not in condition:
                assert sorted(ids(other, condition)) == found, condition


@pytest.mark.oracle
def test_what_the_oracle_denies(tmp_path):
    """D.index.fm-not-contains, D.index.fm-blank, D.index.fm-empty-text: its rows are others."""
    import lance

    dataset = make(["ana", None, "b", "a\x00b", "a b"], tmp_path)
    theirs = lance.dataset(dataset.uri)
    for condition, expected, found in (
        ("not contains(s, 'ana')", [2, 3, 4], [1, 2, 3, 4]),
        ("contains(s, 'a b')", [4], [3, 4]),
        ("contains(s, '\x00b')", [3], []),
        ("contains(s, '')", [0, 2, 3, 4], []),
    ):
        assert ids(dataset, condition) == expected, condition
        assert ids(theirs, condition, use_scalar_index=False) == expected, condition
        assert sorted(ids(theirs, condition)) == found, condition
