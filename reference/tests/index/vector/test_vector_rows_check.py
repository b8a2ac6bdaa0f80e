"""Segments are held against the vectors of the rows they cover."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lanceref
import numpy as np
import pylanceref
import pytest
from lance_conformance.stored import materialised
from lanceref.file.schema import project
from lanceref.index.indices import paths_of
from lanceref.index.training import Training
from lanceref.index.vector.pq_storage import COLUMN
from lanceref.index.vector.vector_check import check_rows

from .indexed import points, table, write

FROZEN = Path(__file__).parents[4] / "fixtures" / "index" / "any"


def clauses(root: Path) -> set[str]:
    """Return the clauses that `validate` finds broken."""
    return {one.clause for one in lanceref.validate(root, deep=True) if one.severity == "must"}


@pytest.mark.parametrize(
    ("case", "clause"),
    [
        ("ivf-flat/lint-plain-values", "L.index.vector.flat.values"),
        ("ivf-sq/lint-plain-code", "L.index.vector.sq.code"),
        ("ivf-pq/lint-plain-codes", "L.index.vector.pq.codes"),
        ("ivf-rq/lint-plain-sign", "L.index.vector.rq.signs"),
        ("ivf-flat/neg-plain-row-id", "L.index.vector.row-id"),
        ("ivf-sq/neg-plain-element", "L.index.vector.column-type"),
    ],
)
def test_what_is_not_of_the_row_is_found(case, clause):
    """A vector, a code, a sign or a row id that the table does not have."""
    assert clause in clauses(materialised(FROZEN / case / "dataset"))


@pytest.mark.parametrize("case", ["ivf-rq/moved", "ivf-sq/optimized", "ivf-flat/several"])
def test_rows_that_moved_and_rows_of_several_are_known(case):
    """Nothing is found where rows were written anew, came later, or have two vectors."""
    assert set() == clauses(materialised(FROZEN / case / "dataset"))


@pytest.mark.oracle
def test_codes_of_dot_are_those_of_either_rule(tmp_path):
    """The oracle encodes by the greatest product, what comes later by the least distance."""
    import lance

    path = str(tmp_path / "t")
    values = points(800)
    theirs = lance.write_dataset(table(values[:600]), path)
    theirs.create_index(
        "v", "IVF_PQ", metric="dot", num_partitions=2, num_sub_vectors=4, num_bits=8
    )
    theirs.insert(table(values[600:]))
    theirs.optimize.optimize_indices(num_indices_to_merge=1)
    assert set() == clauses(tmp_path / "t")
    dataset = pylanceref.dataset(path)
    (segment,) = dataset._snapshot.indices.segments
    codes = segment.file("auxiliary.idx").read(COLUMN).flatten().to_numpy()
    file = tmp_path / "t" / segment.folder / "auxiliary.idx"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(codes[:32].tobytes(), (255 - codes[:32]).tobytes(), 1))
    assert whole != file.read_bytes()
    assert {"L.index.vector.pq.codes"} == clauses(tmp_path / "t")


def test_advice_does_not_keep_codes_from_being_looked_at(tmp_path):
    """Lengths of edges that are off by the bounds are a SHOULD; codes that are off a MUST."""
    dataset = write(points(500), tmp_path)
    dataset.create_index("v", "IVF_HNSW_SQ", num_partitions=1)
    (file,) = Path(dataset.uri).glob("_indices/*/auxiliary.idx")
    whole = file.read_bytes()
    at = whole.index(b'end\\":') + 6
    assert whole[at : at + 1].isdigit()
    file.write_bytes(whole[:at] + b"9" + whole[at + 1 :])
    assert clauses(Path(dataset.uri)) == {"L.index.vector.sq.code"}


def test_a_row_that_is_not_there_is_found(tmp_path):
    """A segment that has the rows of one fragment does not cover two."""
    values = points(500)
    values[3] = np.nan
    dataset = write(values, tmp_path)
    part = dataset.create_index_uncommitted("v", "IVF_SQ", fragment_ids=[0], num_partitions=2)
    dataset.commit_existing_index_segments("v_idx", "v", [part])
    snapshot = pylanceref.dataset(dataset.uri)._snapshot
    (index,) = snapshot.indices.known
    schema = snapshot.manifest.schema
    (field,) = project(schema, [paths_of(schema)[index.field_id]])
    for count, found in ((1, []), (2, ["L.index.segment.complete"])):
        findings = []
        ctx = replace(index.segments[0].ctx, findings=findings)
        segment = replace(index.segments[0], ctx=ctx)
        check_rows(segment, Training(field, snapshot.fragments[:count]))
        assert found == [one.clause for one in findings]
