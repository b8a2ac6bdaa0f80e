"""Where the rows of a segment are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.full_text import inverted
from lanceref.search.row_locator import locator
from pyroaring import BitMap

NONE = np.empty(0, np.uint32)
KEYS = np.array([1, 2, 1 << 32, 1 << 32 | 2, 5 << 32], np.uint64)


def fragments(root, **options):
    """Return the fragments of two times three rows, the second of which is deleted."""
    rows = pa.table({"i": range(6)})
    dataset = pylanceref.write_dataset(rows, root / "t", max_rows_per_file=3, **options)
    dataset.delete("i = 1")
    return pylanceref.dataset(dataset.uri)._snapshot.fragments


def test_addresses_lead_to_live_rows(tmp_path):
    """Row 1 of fragment 0 is deleted, there is no fragment 5; where 0 is not covered it is gone."""
    both = fragments(tmp_path)

    assert [-1, 1, 2, 4, -3] == locator(both, None, NONE, True)(KEYS).tolist()
    assert [-3, -3, 2, 4, -3] == locator(both[1:], None, NONE, True)(KEYS).tolist()


def test_ids_lead_to_rows_wherever_they_are(tmp_path):
    """Six rows have the ids 0 to 5."""
    both = fragments(tmp_path, enable_stable_row_ids=True)

    assert [3, -3, 0, -3] == locator(both, None, NONE, False)(
        np.array([4, 1, 0, 1 << 32], np.uint64)
    ).tolist()


def test_keys_of_fragments_that_are_left_out_are_not_found(tmp_path):
    """Whether keys are addresses or ids: their upper half decides."""
    out = np.array([0], np.uint32)

    assert [-3, -3, 2, 4, -3] == locator(fragments(tmp_path), None, out, True)(KEYS).tolist()
    by_id = locator(fragments(tmp_path / "s", enable_stable_row_ids=True), None, out, False)
    assert [-3] == by_id(KEYS[1:2]).tolist()


def written(root, monkeypatch, stable: bool) -> str:
    """Write an index over four fragments that leaves out fragment 1, for ids all there are."""
    texts = [f"{word} w{number}" for number, word in enumerate(["fox", "cow"] * 10)]
    dataset = pylanceref.write_dataset(
        pa.table({"i": range(20), "s": texts}),
        root / "t",
        max_rows_per_file=5,
        enable_stable_row_ids=stable,
    )
    left_out = SimpleNamespace(BitMap=lambda: BitMap([0 if stable else 1]))
    monkeypatch.setattr(inverted, "bitmaps", left_out)
    dataset.create_scalar_index("s", "INVERTED", with_position=True)
    return dataset.uri


def found(module, path: str, query: str, phrase: bool) -> list[int]:
    """Return the rows that a word or a phrase finds."""
    asked = module.query.PhraseQuery(query, "s") if phrase else query
    table = module.dataset(path).to_table(full_text_query=asked, columns=["i", "_score"])
    return sorted(table["i"].to_pylist())


@pytest.mark.parametrize(("stable", "foxes"), [(False, [0, 2, 4, 10, 12, 14, 16, 18]), (True, [])])
def test_full_text_leaves_out_what_the_index_does(stable, foxes, tmp_path, monkeypatch):
    """Its files still have the documents."""
    path = written(tmp_path, monkeypatch, stable)

    assert foxes == found(pylanceref, path, "fox", False)
    assert ([] if stable else [12]) == found(pylanceref, path, "fox w12", True)
    assert [] == found(pylanceref, path, "fox w6", True)


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
def test_the_oracle_leaves_out_the_same(stable, tmp_path, monkeypatch):
    """Words and phrases, by addresses and by ids."""
    import lance

    path = written(tmp_path, monkeypatch, stable)
    for query, phrase in (("fox", False), ("cow", False), ("fox w6", True), ("fox w12", True)):
        assert found(lance, path, query, phrase) == found(pylanceref, path, query, phrase)
