"""Cases."""

from __future__ import annotations

from lance_conformance.campaigns.nearest.cases import LIVES, PAIRS, SIDES, TYPES, VERSIONS, cases


def test_every_type_has_every_metric_and_number():
    """In every version, life and by either side; names tell them apart."""
    every = list(cases())
    assert len(TYPES) * len(PAIRS) * len(VERSIONS) * len(LIVES) * len(SIDES) == len(every)
    assert len({one.name for one in every}) == len(every)
    assert "IVF_FLAT/l2/f16/2.0/plain/oracle" == every[0].name


def test_what_no_index_can_be():
    """Hamming is for bytes, bytes are not coded, several vectors have directions."""
    legal = {(one.type, one.metric, one.element) for one in cases() if one.legal}
    assert ("IVF_FLAT", "hamming", "u8") in legal
    assert ("IVF_HNSW_PQ", "dot", "f16") in legal
    none = {("IVF_PQ", "hamming", "u8"), ("IVF_FLAT", "l2", "u8"), ("IVF_FLAT", "hamming", "f32")}
    assert not (none | {("IVF_SQ", "l2", "bf16")}) & legal
    assert {"cosine"} == {one.metric for one in cases() if one.legal and one.life == "several"}
    assert {"IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"} == {
        one.type for one in cases() if one.graphs
    }
