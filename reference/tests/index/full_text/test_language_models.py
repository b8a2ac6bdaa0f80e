"""Language models."""

from __future__ import annotations

import json

import pytest
from lanceref.core.errors import ModelMissing
from lanceref.index.full_text.tokenizers import HOME, folder_of, model

WORDS = "我们 98740 r\n都 202780 d\n有 423765 v\n光明 1219 n\n的 318825 uj\n前途 1263 n\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a dictionary `jieba/default` and one of a user's."""
    monkeypatch.setenv(HOME, str(tmp_path))
    for name, file, text in (
        ("default", "dict.txt", WORDS),
        ("mine", "user.txt", "光明的前途 318825 n\n"),
        ("mine", "config.json", json.dumps({"main": "../default/dict.txt", "users": ["user.txt"]})),
        ("bad", "config.json", json.dumps({"main": "none.txt"})),
    ):
        path = tmp_path / "jieba" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "lindera" / "x").mkdir(parents=True)
    return tmp_path


def test_worked_text(home):
    """Words of the dictionary, and short words within a long one, at their first characters."""
    pytest.importorskip("jieba")
    assert (["我们", "都", "有", "光明", "的", "前途"], [0, 2, 3, 4, 6, 7]) == model("jieba")(
        "我们都有光明的前途"
    )
    found = model("jieba/mine")("都有光明的前途")
    assert (["都", "有", "光明", "前途", "光明的前途"], [0, 1, 2, 5, 2]) == found


def test_missing_models_are_refused(home):
    """As a wrong argument, and as a file that cannot be read."""
    with pytest.raises(ModelMissing, match="Invalid directory path"):
        folder_of("jieba/none")
    with pytest.raises(ModelMissing, match="lindera"):
        model("lindera/x")
    pytest.importorskip("jieba")
    with pytest.raises(OSError, match=r"none\.txt"):
        model("jieba/bad")
