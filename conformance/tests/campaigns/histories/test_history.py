"""Histories in lockstep."""

from random import Random

import pytest
from lance_conformance.campaigns.histories.__main__ import report, run
from lance_conformance.campaigns.histories.history import Outcome, replay, run_history, shortest
from lance_conformance.campaigns.histories.lockstep import Line, Step

MADE = Line("lance.write_dataset(pa.table({'k': range(5)}), root + '/t')")


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(6))
def test_a_history_agrees_at_every_step(seed):
    """Contents, schema, versions, ids, fragments, indices, settings, references."""
    outcome = run_history(seed, 15)

    assert [] == outcome.differences
    assert 15 == outcome.steps


@pytest.mark.oracle
def test_a_difference_is_found_and_made_short():
    """Only the line that the two do not follow alike is left, with what it needs."""
    lines = [
        MADE,
        Line("lance.dataset(root + '/t').delete('k = 1')"),
        Line("lance.dataset(root + '/t').update({'k': '7'}, where='k = 2')", crossed=True),
        Line("lance.dataset(root + '/t').delete('k = 3' if lance.__name__ == 'lance' else 'k=4')"),
    ]
    last = replay(lines)

    assert last is not None and any("column k" in told for told in last.differences)
    assert [lines[0], lines[3]] == shortest(lines, last)[0]


@pytest.mark.oracle
def test_a_line_that_one_of_them_refuses_is_a_difference():
    """What both refuse is none."""
    both = Line("lance.dataset(root + '/t').delete('nothing = 1')")
    one = Line("lance.dataset(root + '/t' if lance.__name__ == 'lance' else 'nowhere').version")

    assert replay([MADE, both]) is None
    assert replay([MADE, one]).differences[0].startswith("refused by the reference: NotFound")


@pytest.mark.oracle
def test_a_campaign_goes_on_where_it_stopped(tmp_path):
    """Outcomes in the progress file are not run again."""
    out = tmp_path / "progress"
    first = run(range(1), 2, out)
    lines = out.read_text()

    assert first == run(range(1), 2, out)
    assert lines == out.read_text()


def test_the_report_counts_and_fails(capsys):
    """Operations by name; a history that differs is shown with its lines."""
    good = Outcome(0, 2, {"create": 1, "delete": 1}, {})
    bad = Outcome(1, 1, {}, {"delete": 1}, [("lance.x()", True)], ["t: here"])

    assert 0 == report([good])
    assert 1 == report([good, bad])
    told = capsys.readouterr().out
    assert "delete                        1 done,     1 refused by both" in told
    assert "crossed: lance.x()" in told
    assert "2 histories, 3 steps, 1 with differences" in told
    assert ("", "") == Step(MADE).refused


def test_conditions_are_drawn_for_tables_without_a_key(tmp_path):
    """Of 0.1 no column that may be null is asked for."""
    import pyarrow as pa
    import pylanceref
    from lance_conformance.campaigns.histories.predicates import predicate
    from lance_conformance.campaigns.histories.view import views

    schema = pa.schema([pa.field("b", pa.bool_()), pa.field("i", pa.int32(), False)])
    rows = pa.table([[True], [1]], schema=schema)
    pylanceref.write_dataset(rows, str(tmp_path / "t"), data_storage_version="0.1")
    (view,) = views(tmp_path)
    drawn = {predicate(Random(seed), view) for seed in range(60)}

    assert not any(text.split()[-1] == "b" or text.startswith("b") for text in drawn)
    assert any("i" in text.split() for text in drawn)
