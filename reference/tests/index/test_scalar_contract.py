"""What holds of every scalar index type: it answers what a scan answers, whatever happened."""

import random
from collections.abc import Iterator
from dataclasses import replace

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.index import entries
from lanceref.index.row_set import SHIFT, RowSet
from lanceref.index.scalar import btree
from lanceref.index.training import Training
from pylanceref.indices import IndexConfig

from .subjects import KEPT_WORDS, SUBJECTS, Subject, documents, geometries
from .tables import QUESTIONS, asked, assert_found, ids, index_reads, scanned, write

PARTS = max(5, 900 // QUESTIONS)
"""Each step of the life of an index asks one in so many of the conditions."""


def built(subject: Subject, root, **options) -> pylanceref.LanceDataset:
    """Write the table of a subject in fragments of 50 rows, and an index over each column."""
    dataset = write(subject.table, root, max_rows_per_file=50, **options)
    for name in subject.table.column_names:
        dataset.create_scalar_index(name, subject.config())
    return dataset


def steps(dataset: pylanceref.LanceDataset, table: pa.Table) -> Iterator[int]:
    """Yield after the build and after each operation on it."""
    yield 1
    dataset.delete("_rowoffset in (3, 77, 100)")
    dataset.insert(table.slice(0, 20))
    yield 1
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    yield 2
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    yield 1
    dataset.optimize.compact_files()
    yield 1


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("name", SUBJECTS)
def test_an_index_answers_what_a_scan_answers(tmp_path, name, stable):
    """Built, beside new rows, in two segments, merged, and after a compaction; it stays sound."""
    subject = SUBJECTS[name].half(stable)
    if stable and not subject.stable_ids:
        with pytest.raises(OperationRefused, match="stable ids"):
            built(subject, tmp_path, enable_stable_row_ids=True)
        return
    dataset = built(subject, tmp_path, enable_stable_row_ids=stable)
    if name == "JSON of BLOOMFILTER":
        dataset.insert(subject.table.slice(0, 20))
        dataset.optimize.optimize_indices(num_indices_to_merge=0)
        assert_found(dataset, subject.questions(0, PARTS))
        dataset.insert(subject.table.slice(0, 20))
        with pytest.raises(OperationRefused, match="does not say the type of its JSON values"):
            dataset.optimize.optimize_indices(num_indices_to_merge=2)
        return
    for number, segments in enumerate(steps(dataset, subject.table)):
        assert_found(dataset, subject.questions(number, PARTS))
        held = dataset._snapshot.indices.known
        assert {segments} == {len(index.segments) for index in held}
    assert lanceref.validate(dataset.uri, deep=True) == []


@pytest.mark.parametrize("name", SUBJECTS)
def test_its_conditions_ask_an_index(tmp_path, name):
    """Each by itself; types that only rule out zones are asked about null at least."""
    subject = SUBJECTS[name]
    dataset = built(subject, tmp_path)
    for conditions in subject.conditions.values():
        for condition in conditions[: 9 if subject.always_asked else 1]:
            assert asked(dataset, condition), condition


@pytest.mark.parametrize("name", SUBJECTS)
def test_segments_that_are_built_apart_are_merged(tmp_path, name):
    """Segments of single fragments answer together, those that became one too."""
    subject = SUBJECTS[name]
    column = subject.table.column_names[0]
    dataset = write(subject.table.select([column]), tmp_path, max_rows_per_file=50)
    parts = [
        dataset.create_index_uncommitted(column, subject.config(), fragment_ids=[number])
        for number in range(3)
    ]
    merged = dataset.merge_existing_index_segments(parts[:2])
    dataset.commit_existing_index_segments("x", column, [merged, parts[2]])
    (index,) = dataset._snapshot.indices.known
    assert [[0, 1], [2]] == [list(one.covers) for one in index.segments]
    assert_found(dataset, subject.conditions[column])


@pytest.mark.parametrize("column", ["n", "f", "s"])
def test_every_share_of_a_btree_is_compared_with_its_rows(tmp_path, column, monkeypatch):
    """One value that differs is found in any fragment; deleted rows and foreign entries are not."""
    numbers = [*range(40), *[7] * 20, *[None] * 4]
    columns = {"n": pa.array(numbers), "f": pa.array(numbers, pa.float32())}
    columns["s"] = pa.array(numbers).cast(pa.string())
    dataset = write(pa.table(columns), tmp_path, max_rows_per_file=16)
    dataset.create_scalar_index(column, IndexConfig("btree", {"zone_size": 3}))
    dataset.delete("n = 7 or n between 30 and 33")
    monkeypatch.setattr(btree, "RUN_ROWS", 6)
    monkeypatch.setattr(entries, "SHARE_ROWS", 16)
    assert [] == lanceref.validate(dataset.uri, deep=True)
    (segment,) = dataset._snapshot.indices.segments
    assert 64 == len(btree.BTree(segment).entries().keys)
    runs = Training.runs

    def changed(training):
        for run in runs(training):
            values = run.values.to_pylist()
            if run.fragment_id == 3:
                values[-1] = "x" if column == "s" else 1
            yield replace(run, values=pa.array(values, run.values.type))

    monkeypatch.setattr(Training, "runs", changed)
    (found,) = lanceref.validate(dataset.uri, deep=True)
    assert "L.index.segment.complete" == found.clause


@pytest.mark.oracle
@pytest.mark.parametrize("name", SUBJECTS)
def test_both_answer_from_the_files_of_the_other(tmp_path, name):
    """Files have the same columns up to the order of equal values; both find the same rows."""
    import lance
    from lance.indices import IndexConfig as Config

    subject, segments = SUBJECTS[name], []
    for writer, config in ((lance, Config), (pylanceref, IndexConfig)):
        path = str(tmp_path / writer.__name__)
        lance.write_dataset(subject.table, path, max_rows_per_file=50)
        for column in subject.table.column_names:
            writer.dataset(path).create_scalar_index(column, subject.config(config), name=column)
        ours, theirs = pylanceref.dataset(path), lance.dataset(path)
        segments.append(ours._snapshot.indices.segments)
        assert lanceref.validate(path, deep=True) == []
        asking = [one for one in subject.questions(0, PARTS // 2) if not _differs(name, one)]
        for condition, found in zip(asking, scanned(theirs, asking), strict=True):
            for reader in (ours, theirs):
                assert found == sorted(ids(reader, condition)), condition
    for theirs, ours in zip(*segments, strict=True):
        assert theirs.entry.index_details == ours.entry.index_details
        for path in [one.path for one in ours.entry.files] if name != "INVERTED" else ():
            first, second = theirs.file(path), ours.file(path)
            assert dict(first.metadata) == dict(second.metadata)
            for column in first.names:
                held = (sorted(map(repr, one.read(column).to_pylist())) for one in (first, second))
                assert next(held) == next(held), (path, column)


def _differs(name: str, condition: str) -> bool:
    """Return whether the oracle finds other rows, or refuses lists.

    D.index.fm-not-contains, D.index.zonemap-float16-nan.
    """
    other = {"FM": "not", "ZONEMAP": "float16", "NGRAM": "(regexp_match"}.get(name)
    return other is not None and other in condition


WIDE = [f"{n:05d} the quick brown fox {n}" * 5 for n in range(20_000)]
LONG = [f"word{n} the quick brown fox {n}" * 30 for n in range(10_000)]
LETTERS = ["".join(random.Random(n).choices("abcdefghijklmnop   ", k=300)) for n in range(5000)]
READS = {
    "BTREE": (range(100_000), "{} = 5", {}, 4),
    "BITMAP": ([f"{n % 1000:050d}" for n in range(100_000)], "{} = '" + f"{5:050d}'", {}, 4),
    "ZONEMAP": (range(200_000), "{} = 5", {}, 4),
    "BLOOMFILTER": ([f"{n:0200d}" for n in range(50_000)], "{} = '" + f"{5:0200d}'", {}, 3),
    "NGRAM": (WIDE, "contains({}, '17171')", {}, 3),
    "FM": (LETTERS, "contains({}, 'zzz')", {}, 4),
    "INVERTED": (LONG, "contains_tokens({}, 'word17171')", KEPT_WORDS, 3),
}


@pytest.mark.parametrize("name", READS)
def test_an_index_reads_less_than_a_scan(tmp_path, name):
    """Of a value or text that is rare it reads a part of what the column has."""
    values, condition, parameters, share = READS[name]
    dataset = write(pa.table({"c": pa.array(values)}), tmp_path)
    everything = index_reads(dataset, condition.format("c"))
    dataset.create_scalar_index("c", IndexConfig(name.lower(), parameters))
    assert index_reads(dataset, condition.format("c")) * share < everything


WRONG = [
    ("l", "BTREE", {}, TypeError),
    ("i", "BTREE", {"zone_size": 0}, OperationRefused),
    ("i", "ZONEMAP", {"rows_per_zone": 0}, OperationRefused),
    ("i", "BLOOMFILTER", {"number_of_items": 0}, OperationRefused),
    ("i", "BLOOMFILTER", {"probability": 2.0}, OperationRefused),
    ("b", "BLOOMFILTER", {}, OperationRefused),
    ("s", "LABEL_LIST", {}, TypeError),
    ("i", "FM", {}, ValueError),
    ("i", "MINHASHLSH", {}, ValueError),
    ("i", "RTREE", {}, OperationRefused),
    ("p", "RTREE", {}, OperationRefused),
    ("point", "RTREE", {"page_size": 1}, OperationRefused),
    ("j", "JSON", {"path": "a"}, IndexRefused),
    ("j", "JSON", {"target_index_type": "btree"}, IndexRefused),
    ("j", "JSON", {"target_index_type": "inverted", "path": "a"}, OperationRefused),
    ("j", "JSON", {"target_index_type": "json", "path": "a"}, OperationRefused),
    ("j", "JSON", {"target_index_type": "btree", "path": "..a"}, OperationRefused),
    ("s", "JSON", {"target_index_type": "btree", "path": "a"}, OperationRefused),
]


@pytest.mark.parametrize(("column", "kind", "parameters", "error"), WRONG)
def test_what_cannot_be_built_is_refused(tmp_path, column, kind, parameters, error):
    """Columns that a type has nothing of, and parameters that are none."""
    rows = {"i": [1], "l": [[1]], "b": [True], "s": ["a"], "p": [{"x": 1.0, "y": 2.0}]}
    table = pa.table({**rows, "j": documents("int")[:1]})
    point = geometries(["point"], 1)
    table = table.append_column(point.schema[0], point["point"])
    with pytest.raises(error):
        write(table, tmp_path).create_scalar_index(column, IndexConfig(kind.lower(), parameters))


def test_an_index_without_training_covers_nothing(tmp_path):
    """Every row is scanned, whatever the type."""
    for number, (kind, subject) in enumerate(SUBJECTS.items()):
        dataset = write(subject.table, tmp_path / str(number))
        column = subject.table.column_names[0]
        dataset.create_scalar_index(column, subject.config(), train=False, name="x")
        assert dataset.index_statistics("x")["num_unindexed_rows"] == dataset.count_rows(), kind
        assert_found(dataset, subject.conditions[column][:3])


ENCODE = RowSet.encode


def _with_wholes(rows: RowSet) -> bytes:
    """Return a set as bytes, a fragment of which it has all 50 rows as a whole."""
    fragments, counts = np.unique(rows.keys >> SHIFT, return_counts=True)
    whole = fragments[counts == 50]
    return ENCODE(RowSet(rows.keys[~np.isin(rows.keys >> SHIFT, whole)], frozenset(whole)))


WHOLES = {
    "BITMAP": (pa.array([*"a" * 50, *"ab" * 25, *"b" * 50, *"ba" * 25]), ("c = 'a'", "c = 'b'")),
    "LABEL_LIST": (
        pa.array([*[["a", "b"]] * 50, *[["a"], ["b"]] * 25, *[None] * 50, *[["b"], None] * 25]),
        ("array_has(c, 'a')", "array_has(c, 'b')", "c is null"),
    ),
}


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("kind", WHOLES)
def test_whole_fragments_keep_their_rows_when_they_move(tmp_path, monkeypatch, kind, deferred):
    """A set that has a fragment as a whole has its rows also after a compaction and a merge."""
    values, conditions = WHOLES[kind]
    dataset = write(pa.table({"c": values}), tmp_path, max_rows_per_file=50)
    with monkeypatch.context() as patch:
        patch.setattr(RowSet, "encode", _with_wholes)
        dataset.create_scalar_index("c", kind)
    assert_found(dataset, conditions)
    dataset.delete("_rowoffset in (3, 77, 101)")
    for step in (
        lambda: dataset.optimize.compact_files(
            target_rows_per_fragment=50, defer_index_remap=deferred
        ),
        lambda: dataset.insert(pa.table({"c": values.slice(0, 20)})),
        lambda: dataset.optimize.optimize_indices(num_indices_to_merge=1),
    ):
        step()
        assert_found(dataset, conditions)
    assert lanceref.validate(dataset.uri, deep=True) == []
