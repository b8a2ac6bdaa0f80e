"""Rules: each is broken once, and kept otherwise."""

from dataclasses import replace

import pytest
from lance_conformance.campaigns.damage.outcomes import Outcome
from lance_conformance.campaigns.damage.readers import Judged
from lance_conformance.campaigns.damage.rules import broken_rules, structural_shapes

GOOD = Outcome(
    case="file/x:byte flip@7^01",
    side="reference",
    group="file",
    damage="byte flip",
    region="footer",
    leaf="magic",
    undetectable=False,
    size=1000,
    judged=Judged("err", "L.a", "", "text", 0.01, 2**20),
)


def _with(kind="err", **changed) -> Outcome:
    of_judged = {name: changed.pop(name) for name in Judged.__slots__ if name in changed}
    return replace(GOOD, **changed, judged=replace(GOOD.judged, kind=kind, **of_judged))


def _rules(*outcomes: Outcome) -> list[str]:
    return [rule for rule, _ in broken_rules(outcomes, sum_cases=1)]


def test_a_full_refusal_breaks_nothing():
    """Nor does right data, nor a wrong value nobody can see, nor one that validate reports."""
    assert [] == _rules(GOOD, _with("ok"), _with("silent", undetectable=True, clause=""))
    assert [] == _rules(_with("silent"), _with("silent-shape"))


@pytest.mark.parametrize(
    ("outcome", "rule"),
    [
        (_with("panic"), "R1"),
        (_with("oom"), "R1"),
        (_with("abort"), "R1"),
        (_with("hang"), "R1"),
        (_with(missing="offset"), "R2"),
        (_with(peak_bytes=64 * 2**20 + 16 * 1000 + 1), "R3"),
        (_with(seconds=2.5), "R4"),
        (_with(region="padding"), "R5"),
        (_with("silent-shape", clause=""), "R6"),
        (_with("silent", clause=""), "R7"),
    ],
)
def test_a_case_can_break_each_rule(outcome, rule):
    """Of the reference; the oracle is only the measure."""
    assert [rule] == _rules(outcome)
    assert [] == _rules(replace(outcome, side="oracle"))


def test_an_explained_wrong_answer_breaks_nothing():
    """Where the list has the leaf, for the group it names."""
    listed = _with("silent", clause="", group="manifest", leaf="fields")

    assert [] == _rules(listed)
    assert [] == _rules(listed, replace(listed, side="oracle"))
    assert ["R7"] == _rules(replace(listed, group="file 2.1"))
    assert ["R7"] == _rules(replace(listed, leaf="version"))


def test_wrong_shapes_are_held_against_a_quarter_of_the_oracles():
    """Reported ones count too; those nobody can see do not."""
    ours, theirs = _with("silent-shape"), _with("silent-shape", side="oracle")

    assert [] == _rules(ours, *4 * [theirs])
    assert ["R6"] == _rules(ours, *3 * [theirs])
    assert 1 == structural_shapes([ours, replace(ours, undetectable=True)])


def test_wrong_values_are_held_against_the_oracles_target_by_target():
    """More of one target cannot be made good by another."""
    ours = _with("silent", undetectable=True)
    theirs = replace(ours, side="oracle")
    elsewhere = replace(theirs, case="file/y:byte flip@7^01")

    assert [] == _rules(ours, theirs)
    assert ["R7"] == _rules(ours, ours, theirs, elsewhere)
    listed = replace(ours, group="manifest", leaf="fields")
    assert ["R7"] == _rules(ours, listed, theirs)


def test_foreign_files_need_clauses_of_their_own():
    """No bytes, another magic, another version: three clauses in each group."""
    empty = _with(case="file/x:truncation@0", clause="L.size")
    magic = _with(case="file/x:wrong magic@50415231", clause="L.magic")
    version = _with(case="file/x:wrong version@3.0", clause="L.version")

    assert [] == _rules(empty, magic, version)
    assert ["R8"] == _rules(empty, magic, replace(version, judged=magic.judged))
    known = replace(version, case="file/x:wrong version@2.1", judged=magic.judged)
    assert [] == _rules(empty, magic, known)


def test_sums_of_few_cases_are_not_compared():
    """Whether either side has one wrong value more is chance there."""
    wrong = [_with("silent", undetectable=True), replace(_with("ok"), side="oracle")]

    assert [] == broken_rules(wrong)
    assert ["R7"] == [rule for rule, _ in broken_rules(wrong, sum_cases=1)]
