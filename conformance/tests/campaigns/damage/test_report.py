"""Report: the tables side by side, the refusals, and the exit code."""

import io
from dataclasses import replace

from lance_conformance.campaigns.damage.outcomes import Outcome
from lance_conformance.campaigns.damage.readers import Judged
from lance_conformance.campaigns.damage.report import report
from rich.console import Console

OURS = Outcome(
    case="file/x:byte flip@7^01",
    side="reference",
    group="file 2.1",
    damage="byte flip",
    region="footer",
    leaf="magic",
    undetectable=False,
    size=1000,
    judged=Judged("err", "L.file.footer.magic", "", "text", 0.01, 2**20),
)

THEIRS = replace(OURS, side="oracle", judged=Judged("ok", "", "", "", 0.01, 2**20))


def _told(*outcomes: Outcome) -> tuple[int, list[str]]:
    out = io.StringIO()
    code = report(outcomes, 7, Console(file=out, soft_wrap=True, width=300))
    return code, [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_both_readers_stand_in_neighbouring_lines():
    """By target, damage, region and all: n, then the nine classes."""
    code, lines = _told(THEIRS, OURS)

    assert 0 == code
    for name in ("file 2.1", "byte flip", "footer", "all"):
        first = lines.index(f"{name} reference 1 0 1 0 0 0 0 0 0 0")
        assert f"{name} oracle 1 1 0 0 0 0 0 0 0 0" == lines[first + 1]


def test_what_only_we_refuse_is_counted_by_clause():
    """A clause nobody can look up fails the campaign."""
    strange = replace(OURS, judged=replace(OURS.judged, clause="L.no.such"))
    _, lines = _told(OURS, THEIRS)
    code, told = _told(strange, THEIRS)

    assert "refused, though the oracle reads it right: 1 of 1" in lines
    assert "1 L.file.footer.magic" in lines
    assert (1, True) == (code, "1 L.no.such NOT IN THE REGISTER" in told)


def test_a_broken_rule_is_told_with_the_command_that_repeats_it():
    """And the exit code is 1."""
    code, lines = _told(replace(OURS, judged=replace(OURS.judged, kind="panic")))
    command = "python -m lance_conformance.campaigns.damage --seed 7 --only"

    assert 1 == code
    assert f"{command} 'file/x:byte flip@7^01'" in lines
    assert "rules: R1 broken 1, R2 kept, R3 kept" in " ".join(lines)


def test_wrong_answers_are_counted_by_why_they_are_allowed():
    """Values without a checksum, and what validate reports."""
    hidden = replace(OURS, undetectable=True, judged=replace(OURS.judged, kind="silent", clause=""))
    reported = replace(OURS, judged=replace(OURS.judged, kind="silent"))
    _, lines = _told(hidden, hidden, reported)

    assert any(
        line.startswith(
            "wrong answers: 3; not detectable, no checksum: 2; reported by validate: 1;"
        )
        for line in lines
    )
