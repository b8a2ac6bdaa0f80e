"""Compaction of a dataset."""

import lanceref
import pyarrow as pa
import pytest
from lanceref.operation import LanceOperation
from lanceref.optimize import CompactionMetrics

from tests.edit.tables import column, table


def test_small_fragments_are_joined(tmp_path):
    """By two versions: ids are reserved, then used; the rows are the same."""
    made = table(tmp_path, stable=True)
    before = made.to_table(with_row_id=True)

    assert CompactionMetrics(2, 1, 3, 1) == made.optimize.compact_files()
    assert before.equals(made.to_table(with_row_id=True))
    assert [(2, 9)] == [(one.fragment_id, one.physical_rows) for one in made.get_fragments()]
    kinds = [type(one.operation) for one in made.get_transactions(2)]
    assert [LanceOperation.Rewrite, LanceOperation.ReserveFragments] == kinds


def test_nothing_to_do_is_no_version(tmp_path):
    """A second time."""
    made = table(tmp_path)
    made.optimize.compact_files()

    assert CompactionMetrics(0, 0, 0, 0) == made.optimize.compact_files()
    assert 4 == made.version


def test_an_append_meanwhile_stays(tmp_path):
    """Its fragment has another id than the reserved ones."""
    made, other = table(tmp_path), lanceref.dataset(tmp_path)
    rows = made.to_table().slice(0, 1)
    other.insert(rows)
    made.optimize.compact_files(target_rows_per_fragment=100)

    assert [0, 0, 2, 3, 4, 5, 6, 7, 8, 9] == sorted(column(made, "a"))
    assert 2 == len(made.get_fragments())


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("options", [{}, {"target_rows_per_fragment": 3}])
def test_the_oracle_compacts_alike(tmp_path, stable, options):
    """The same numbers, rows and sequences."""
    import lance

    found = []
    for module, path in ((lance, tmp_path / "o"), (lanceref, tmp_path / "l")):
        made = table(path, stable=stable)
        made.update({"b": "0"}, where="a > 7")
        made.insert(pa.table(made.to_table().slice(0, 2)))
        metrics = module.dataset(str(path)).optimize.compact_files(**options)
        after = lance.dataset(str(path))
        after.validate()
        counts = (metrics.fragments_removed, metrics.fragments_added, metrics.files_removed)
        columns = ["a", "b", "_row_created_at_version", "_row_last_updated_at_version"]
        rows = after.to_table(columns if stable else None, with_row_id=True)
        listed = [one.metadata for one in after.get_fragments()]
        sequences = [(one.id, one.to_json()["row_id_meta"]) for one in listed]
        found.append((counts, rows.to_pydict(), sequences))

    assert found[0] == found[1]
