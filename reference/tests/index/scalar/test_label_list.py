"""LABEL_LIST: of every label the rows whose list holds it."""

from __future__ import annotations

import random

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError
from lanceref.index.scalar.bitmap import LabelList, null_lists

from ..tables import asked, assert_same, ids, scanned, write

SOURCE = random.Random(3)


def lists(items, rows=300):
    """Return lists of some items, null ones among them."""
    return [
        None if SOURCE.random() < 0.1 else SOURCE.choices([*items, None], k=SOURCE.randint(0, 4))
        for _ in range(rows)
    ]


TABLE = pa.table(
    {
        "l": pa.array(lists(["a", "b", "c"]), pa.list_(pa.utf8())),
        "n": pa.array(lists([1, 2, 3]), pa.large_list(pa.int64())),
    }
)
CONDITIONS = [
    "array_has(l, 'a')",
    "array_contains(l, 'zz')",
    "not array_has(l, 'a')",
    "array_has_any(l, ['a', 'b'])",
    "array_has_all(l, ['a', 'b'])",
    "not array_has_all(l, ['a', 'b'])",
    "array_has(l, 'a') and not array_has(l, 'b')",
    "array_has(n, 3)",
    "array_has_all(n, [1, 2])",
    "array_has_any(n, [1, 9])",
]


def test_a_worked_example(tmp_path):
    """A label counts once in a row; null is a label too; a list that is null is apart."""
    rows = pa.array([["a", "a", "b"], None, [], [None], ["b"]], pa.list_(pa.utf8()))
    dataset = write(pa.table({"l": rows}), tmp_path)
    dataset.create_scalar_index("l", "LABEL_LIST")
    (segment,) = dataset._snapshot.indices.segments
    assert segment.file("bitmap_page_lookup.lance").read("keys").to_pylist() == [None, "a", "b"]
    assert null_lists(segment).keys.tolist() == [1]
    assert LabelList(segment).statistics() == {"num_bitmaps": 3}
    assert ids(dataset, "array_has(l, 'b')") == [0, 4]
    assert ids(dataset, "not array_has(l, 'b')") == ids(
        dataset, "not array_has(l, 'b')", use_scalar_index=False
    )


def test_what_is_found_is_what_a_scan_finds(tmp_path):
    """With rows deleted and rows added afterwards."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=120)
    dataset.create_scalar_index("l", "LABEL_LIST")
    dataset.create_scalar_index("n", "LABEL_LIST")
    dataset.delete("_rowoffset in (3, 77, 150)")
    dataset.insert(TABLE.slice(0, 20))
    assert_same(dataset, CONDITIONS)


@pytest.mark.oracle
def test_both_answer_from_the_files_of_the_other(tmp_path):
    """Both directions."""
    import lance

    for writer, reader in ((lance, pylanceref), (pylanceref, lance)):
        path = str(tmp_path / writer.__name__)
        lance.write_dataset(TABLE, path, max_rows_per_file=120)
        written = writer.dataset(path)
        for name in TABLE.column_names:
            written.create_scalar_index(name, "LABEL_LIST")
        read, theirs = reader.dataset(path), lance.dataset(path)
        for condition, found in zip(CONDITIONS, scanned(theirs, CONDITIONS), strict=True):
            assert reader is lance or asked(read, condition), condition
            assert sorted(ids(read, condition)) == found, condition


def test_version_1_must_name_its_nulls(tmp_path):
    """Without them NOT would find rows it must not."""
    dataset = write(TABLE, tmp_path)
    dataset.create_scalar_index("l", "LABEL_LIST")
    (segment,) = dataset._snapshot.indices.segments
    del segment.file("bitmap_page_lookup.lance").metadata["lance:label_list_nulls"]
    with pytest.raises(FormatError) as caught:
        null_lists(segment)
    assert caught.value.clause == "L.index.files.metadata"


def test_only_lists_have_labels(tmp_path):
    """A column of text has none."""
    dataset = write(pa.table({"s": ["a"]}), tmp_path)
    with pytest.raises(TypeError):
        dataset.create_scalar_index("s", "LABEL_LIST")
