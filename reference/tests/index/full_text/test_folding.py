"""ASCII folding."""

from __future__ import annotations

from lanceref.index.full_text.analyzer import folded


def test_worked_characters():
    """Marks go, ligatures and letters of their own become letters; what has no ASCII part stays."""
    assert "ete strasse fi AE 14" == folded("été straße ﬁ Æ ¼")
    assert "中\u0307ж" == folded("中\u0307ж")
    assert "a b" == folded("a\u00a0b")
