"""Recall of vector indices."""

import json
import sys

import pylanceref
import pytest
from lance_conformance.campaigns import vector_recall
from lance_conformance.campaigns.recall_data import Data, places
from lance_conformance.campaigns.vector_recall import ask, built, main, model_of, stored


def test_without_an_index_everything_is_found(tmp_path):
    """The nearest rows that recall is counted by are those of a scan."""
    data = places(400, 8, 0)
    path = stored(data, str(tmp_path / "t"))
    assert ask(pylanceref, path, data, 1, None) == 1
    wrong = Data(data.vectors, data.queries, [frozenset(range(10))] * len(data.queries))
    assert ask(pylanceref, path, wrong, 1, None) < 0.2


@pytest.mark.parametrize("name", ["IVF_PQ 4", "IVF_RQ 5"])
def test_an_index_can_be_built_with_what_another_has_learnt(tmp_path, name, monkeypatch):
    """Its model is the same."""
    monkeypatch.setitem(vector_recall.TYPES, "IVF_PQ 4", {"num_sub_vectors": 2, "num_bits": 4})
    data = places(300, 8, 0)
    one, other = (stored(data, str(tmp_path / which)) for which in ("one", "other"))
    built(pylanceref, one, name, {"num_partitions": 2})
    built(pylanceref, other, name, model_of(one))
    first, second = model_of(one), model_of(other)
    said = first.pop("rabitq_model", "{}"), second.pop("rabitq_model", "{}")
    signs = [json.loads(text).get("fast_rotation_signs") for text in said]
    assert signs[0] == signs[1]
    assert {key: str(value) for key, value in first.items()} == {
        key: str(value) for key, value in second.items()
    }


@pytest.mark.oracle
def test_a_type_is_measured_once(tmp_path, capsys, monkeypatch):
    """Both build and both ask; a second run only prints what was kept."""
    kept = tmp_path / "kept.jsonl"
    asked = [str(kept), "IVF_SQ", "--rows", "600", "--partitions", "2"]
    monkeypatch.setattr(sys, "argv", ["vector_recall", *asked])
    main()
    measured, *shown = capsys.readouterr().out.splitlines()
    main()
    assert capsys.readouterr().out.splitlines() == shown
    assert (measured, len(kept.read_text("utf-8").splitlines())) == ("places IVF_SQ 0", 1)
    recalls = [one for line in shown[2:] for one in line.split()[2:8]]
    assert all(0.3 < float(one) <= 1 for one in recalls)
