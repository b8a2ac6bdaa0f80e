"""What an actor does for those who ask."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lance_conformance.campaigns.matrix.histories import all_histories
from lance_conformance.matrix.actor import Actor, load, save

ROWS = pa.table({"id": range(6), "c": list("abcdef")})


@pytest.fixture
def actor():
    return Actor("pylanceref")


def _build(actor, folder, *steps, **options):
    save(ROWS, str(folder / "rows"))
    steps = [["create", "rows", 4], *steps]
    uri = str(folder / "t")
    return actor.build(uri=uri, folder=str(folder), options=options, steps=steps)


def test_what_is_saved_is_loaded(tmp_path):
    """Dictionaries that differ by chunk included."""
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
    table = pa.table({"d": pa.chunked_array(chunks)})
    save(table, str(tmp_path / "d"))

    assert table == load(str(tmp_path), "d")


def test_the_formats_are_those_it_can_write(actor, tmp_path):
    """Tried, not told."""
    about = actor.about(str(tmp_path))

    assert ["legacy", "2.0", "2.1", "2.2", "2.3"] == about["formats"]


def test_a_refused_step_does_not_end_the_others(actor, tmp_path):
    """It is reported, and the next one is taken."""
    told = _build(actor, tmp_path, ["drop", ["none"]], ["delete", "id = 1"], format="2.1")

    assert [True, False, True] == [one is None for one in told]


def test_without_a_table_nothing_follows(actor, tmp_path):
    """An option that the writer does not have refuses the first step."""
    told = _build(actor, tmp_path, ["delete", "id = 1"], no_such_option=1)

    assert ["NotOffered: write_dataset has no ['no_such_option']"] == told


def test_every_version_is_read_in_every_way(actor, tmp_path):
    """Two versions, six readings each; the second without the deleted row."""
    _build(actor, tmp_path, ["delete", "id = 1"])
    read = actor.read(str(tmp_path / "t"), str(tmp_path), ["id > 3"])

    ways = ["rows", "counts", "take", "ids", "slice", "filter 0"]
    assert [f"{version} {way}" for version in (1, 2) for way in ways] == list(read)
    assert {None} == set(read.values())
    assert [0, 2, 3, 4, 5] == load(str(tmp_path), "2 rows.arrow")["id"].to_pylist()
    assert [4, 5] == load(str(tmp_path), "2 filter 0.arrow")["id"].to_pylist()
    latest = actor.read(str(tmp_path / "t"), str(tmp_path), [], latest=True)
    assert [f"2 {way}" for way in ways[:-1]] == list(latest)


def test_a_table_that_does_not_open_has_one_answer(actor, tmp_path):
    """Under the name `open`."""
    assert ["open"] == list(actor.read(str(tmp_path / "none"), str(tmp_path), []))


def test_every_step_of_the_histories_is_known(actor):
    """Otherwise it would pass as refused by everyone."""
    steps = {step[0] for one in all_histories() for step in (*one.steps, *one.after)}

    assert [] == [name for name in sorted(steps) if not hasattr(actor, f"_step_{name}")]
