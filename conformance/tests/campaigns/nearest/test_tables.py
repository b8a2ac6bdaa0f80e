"""Tables that are drawn."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pylanceref
import pytest
from lance_conformance.campaigns.nearest.cases import Case, cases
from lance_conformance.campaigns.nearest.tables import DTYPES, STEPS, Maker, Shape, shape

CASE = Case("IVF_FLAT", "l2", "f32", "2.1", "plain", "reference")

SHAPE = Shape(60, 8, 3, 25, False, {"num_partitions": 2}, ())


def test_shapes_are_of_every_kind():
    """The same for a seed; what codes need is kept."""
    drawn = [shape(one, Random(one.name)) for one in cases()]
    assert drawn == [shape(one, Random(one.name)) for one in cases()]
    assert {1, 3, 8, 16, 24, 128} == {one.width for one in drawn}
    assert min(one.rows for one in drawn) < 16
    assert max(one.rows for one in drawn) > 500
    assert set(STEPS) == {step for one in drawn for step in one.steps}
    for one, case in zip(drawn, cases(), strict=True):
        assert one.width % int(one.index.get("num_sub_vectors", 1)) == 0
        assert "RQ" not in case.type or one.width % 8 == 0
        assert (case.life == "changed") == bool(one.steps)


@pytest.mark.parametrize("element", DTYPES)
def test_vectors_are_written_and_remembered(element, tmp_path):
    """Of every type of numbers; three rows share one."""
    case = replace(CASE, element=element, metric="hamming" if element == "u8" else "l2")
    maker = Maker(case, SHAPE, 1)
    if element == "bf16":
        with pytest.raises(TypeError, match="floating value type"):
            maker.make(pylanceref, str(tmp_path))
    else:
        maker.make(pylanceref, str(tmp_path))
    dataset = pylanceref.dataset(tmp_path)
    assert (60, 3) == (dataset.count_rows(), len(dataset.get_fragments()))
    assert (element != "bf16") == len(dataset.describe_indices())
    assert (60, 8) == maker.vectors.shape
    assert DTYPES[element] == maker.vectors.dtype
    assert 20 == len(np.unique(maker.vectors.astype(np.float64), axis=0))


def test_gaps_have_nulls_and_odd_numbers(tmp_path):
    """Some of each."""
    maker = Maker(replace(CASE, life="gaps"), replace(SHAPE, rows=600, repeated=1), 1)
    maker.make(pylanceref, str(tmp_path))
    column = pylanceref.dataset(tmp_path).to_table()["v"]
    assert 600 > column.null_count > 0
    assert np.isnan(maker.vectors).any()
    assert np.isinf(maker.vectors).any()
    assert (~maker.vectors.any(1)).any()


def test_rows_have_several_vectors(tmp_path):
    """From none to four."""
    case = replace(CASE, life="several", metric="cosine")
    Maker(case, SHAPE, 1).make(pylanceref, str(tmp_path))
    sizes = {len(one) for one in pylanceref.dataset(tmp_path).to_table()["v"].to_pylist()}
    assert {0, 1, 2, 3, 4} == sizes


def test_every_step_can_be_done(tmp_path):
    """Numbers of new rows go on."""
    maker = Maker(replace(CASE, life="changed"), replace(SHAPE, stable_ids=True), 1)
    maker.make(pylanceref, str(tmp_path))
    for step in ("delete", "insert", "delta", "delete", "insert", "optimize", "delete", "compact"):
        before = pylanceref.dataset(tmp_path)
        maker.change(pylanceref, str(tmp_path), step)
        assert pylanceref.dataset(tmp_path).version > before.version
    numbers = pylanceref.dataset(tmp_path).to_table()["i"].to_pylist()
    assert len(set(numbers)) == len(numbers) < len(maker.vectors)
    assert max(numbers) < len(maker.vectors)
