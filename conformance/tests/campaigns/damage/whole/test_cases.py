"""Cases: chosen by seed and number, kept in a file, not asked for twice."""

from lance_conformance.campaigns.damage.whole.attacks import ATTACKS
from lance_conformance.campaigns.damage.whole.cases import Case, Log, Outcome, ask_all, cases_named
from lance_conformance.campaigns.damage.whole.trial import Step


def test_kinds_go_round():
    """As many cases of each, and their names are their own."""
    cases = cases_named(1, 3 * len(ATTACKS), "")

    assert list(ATTACKS) * 3 == [case.kind for case in cases]
    assert len(cases) == len({case.name for case in cases})
    assert all(case.base in ATTACKS[case.kind].bases for case in cases)


def test_a_kind_or_one_case_can_be_chosen():
    """One case also beyond the count."""
    number = list(ATTACKS).index("fifo")

    assert ["fifo"] * 2 == [case.kind for case in cases_named(1, 2 * len(ATTACKS), "fifo")]
    far = number + 99 * len(ATTACKS)
    assert [Case(1, far)] == cases_named(1, 10, f"fifo:{far}")
    assert [] == cases_named(1, 10, f"socket:{far}")


def test_outcomes_are_kept_and_not_asked_for_again(tmp_path):
    """A case that the log has needs no base."""
    log = Log(tmp_path / "log")
    case = Case(1, 0)
    outcome = Outcome(case.name, case.kind, "early", "told", [Step("open", "err", "x", 0.1, 2, 3)])
    log.add(outcome)

    assert [outcome] == list(ask_all([case], tmp_path / "nothing", Log(tmp_path / "log")))
    assert not (tmp_path / "nothing").exists()
