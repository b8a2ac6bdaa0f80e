"""Indices over members of JSON documents and over geometries, worked by hand."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import OperationRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.index.scalar.json import extract
from lanceref.index.scalar.rtree import Level, curve_numbers, hilbert_numbers, levels_of
from lanceref.index.training import Run, Training
from lanceref.json import jsonb as jsontext
from pylanceref.indices import IndexConfig

from .tables import asked, ids, write


def rows_of(*texts: str | None) -> Training:
    """Return rows of documents that are in no table, one per run."""
    keys = np.zeros(1, np.uint64)
    runs = [Run(0, stored(text), keys, keys.astype(np.int64)) for text in texts]
    (field,) = schema_of(pa.schema([pa.field("documents", pa.large_binary())])).fields
    return Training(field, (), computed=runs)


def stored(text: str | None) -> pa.Array:
    """Return a document as a column holds it."""
    return pa.array([None if text is None else jsontext.document(text)], pa.large_binary())


def member(*texts: str | None, path: str = "a", type_: pa.DataType | None = None) -> pa.Array:
    """Return the values of one path."""
    rows = extract(rows_of(*texts), path, type_)
    values = pa.concat_arrays([run.values for run in rows.runs()])
    assert values.type == rows.type
    return values


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (['{"a":1}', '{"a":null}', "{}", None, "[1]", "7"], pa.array([1, *[None] * 5], pa.int64())),
        (['{"a":1.5}', '{"a":2}'], pa.array([1.5, 2.0])),
        (['{"a":18446744073709551615}', '{"a":1}'], pa.array([2.0**64, 1.0])),
        (['{"a":null}', '{"a":"é"}'], pa.array([None, "é"])),
        (['{"a":true}', '{"a":false}'], pa.array([True, False])),
        (["{}"], pa.array([None], pa.utf8())),
    ],
)
def test_the_first_value_says_the_type(texts, values):
    """Nothing but nulls is text."""
    assert member(*texts).equals(values)


@pytest.mark.parametrize(
    "texts",
    [
        ['{"a":1}', '{"a":2.5}'],
        ['{"a":"x"}', '{"a":1}'],
        ['{"a":true}', '{"a":0}'],
        ['{"a":[1]}'],
        ['{"a":{}}'],
        ['{"a":1}', '{"a":9223372036854775808}'],
    ],
)
def test_values_of_two_types_are_refused(texts):
    """Lists and objects are no values at all."""
    with pytest.raises(OperationRefused, match="JSON path 'a'"):
        member(*texts)


def test_a_known_type_is_kept():
    """Also where another would be found."""
    assert member('{"a":1}', type_=pa.float64()).equals(pa.array([1.0]))
    with pytest.raises(OperationRefused):
        member('{"a":1}', type_=pa.utf8())


def table(texts) -> pa.Table:
    """Return a table of documents."""
    return pa.table({"j": pa.array(texts, pa.json_())})


def config(target: str, path: str = "a", **parameters: object) -> IndexConfig:
    """Return what is asked for."""
    return IndexConfig("json", {"target_index_type": target, "path": path, **parameters})


def test_values_of_a_new_type_are_refused(tmp_path):
    """The index that is there stays."""
    dataset = write(table(['{"a":1}']), tmp_path)
    dataset.create_scalar_index("j", config("BTREE"))
    dataset.insert(table(['{"a":"x"}']))
    with pytest.raises(OperationRefused, match="of int64 and of string"):
        dataset.optimize.optimize_indices()
    assert ids(dataset, "json_get_string(j, 'a') = 'x'") == [1 << 32]


@pytest.mark.parametrize("target", ["RTREE", "INVERTED", "no type"])
def test_a_target_that_holds_no_values_of_documents_is_refused(tmp_path, target):
    """Whether there is an index of that type or not."""
    dataset = write(table(['{"a":1}']), tmp_path)
    with pytest.raises(OperationRefused, match=f"no index of type '{target}'"):
        dataset.create_scalar_index("j", config(target))


def test_only_members_are_asked_for(tmp_path):
    """A path that leads to one has many spellings; a name is not a path."""
    texts = ['{"a":{"b":1}}', '{"a.b":1}', '{"a":[{"b":1}]}', '{"$.a":{"b":1}}']
    dataset = write(table(texts), tmp_path)
    nested = "json_get_int(json_get(j, 'a'), 'b') = 1"
    for path in ("a.b", "$.a.b", '$["a"].b', ' a."b" '):
        dataset.create_scalar_index("j", config("BTREE", path))
        assert asked(dataset, nested)
        assert ids(dataset, nested) == ids(dataset, nested, use_scalar_index=False) == [0]
        for other in ("json_get_int(j, 'a.b') = 1", f"json_get_int(j, '{path}') = 1"):
            assert not asked(dataset, other), other
    dataset.create_scalar_index("j", config("BTREE", "a[0].b"))
    assert not asked(dataset, nested)


def test_the_curve_of_two_by_two():
    """It opens to the right: up, to the right, down."""
    x, y = (np.array(one, np.uint32) << 15 for one in ([0, 0, 1, 1], [0, 1, 1, 0]))
    assert (curve_numbers(x, y) >> 30).tolist() == [0, 1, 2, 3]


def test_neighbours_on_the_curve_are_neighbours():
    """Each step leads to a point beside the last."""
    x, y = (one.ravel().astype(np.uint32) for one in np.meshgrid(range(32), range(32)))
    order = np.argsort(curve_numbers(x, y))
    steps = abs(np.diff(x[order].astype(int))) + abs(np.diff(y[order].astype(int)))
    assert (steps == 1).all()


def test_centres_are_cut_down_to_the_grid():
    """The last lies on the highest line."""
    boxes = np.array([[0, 0, 0, 0], [2, 0, 2, 0], [0.99, 0, 1, 0]], np.float64)
    x = np.array([0, 65535, int(0.995 / 2 * 65535)], np.uint32)
    assert np.array_equal(hilbert_numbers(boxes), curve_numbers(x, np.zeros(3, np.uint32)))


def test_worked_levels():
    """698 boxes in pages of 8: 88, 11, 2 and 1 pages, 799 rows."""
    levels = levels_of(698, 8)
    assert levels == [Level(0, 698, 0), Level(698, 88, 88), Level(786, 11, 99), Level(797, 2, 101)]
    assert sum(level.rows for level in levels) == 799
    assert levels_of(0, 8) == []
    assert levels_of(8, 8) == [Level(0, 8, 0)]
