"""The flip campaign, on a small fixed sample and on answers made to escape."""

import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.campaigns.flips import Outcome, cases, report, run
from lance_conformance.campaigns.victims import Answer, Victim, answer, ask_reader, find_victims
from lanceref.core.errors import BadMagic, NotFound, Place
from rich.console import Console

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> list[Victim]:
    """The files the campaign damages."""
    return find_victims(FIXTURES, tmp_path_factory.mktemp("victims"))


def _told(outcomes: list[Outcome]) -> tuple[int, str]:
    out = io.StringIO()
    return report(outcomes, Console(file=out, width=200)), out.getvalue()


def test_every_577th_flip_is_answered_as_allowed():
    """No flip of the sample escapes; a process of its own forks without the oracle's threads."""
    module = "lance_conformance.campaigns.flips"
    sample = ["--fixtures", str(FIXTURES), "--every", "577", "--inspect-every", "4"]
    command = [sys.executable, "-m", module, *sample]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert "ESCAPE" not in done.stdout
    assert "(100.00 %)" in done.stdout
    assert (0, "") == (done.returncode, done.stderr)


def test_ten_data_files_and_three_of_datasets_are_damaged(victims):
    """A manifest and a deletion file of each kind are among the victims."""
    assert 10 == sum(1 for victim in victims if victim.dataset is None)
    assert [".manifest", ".arrow", ".bin"] == [
        suffix
        for suffix in (".manifest", ".arrow", ".bin")
        if any(victim.name.endswith(suffix) for victim in victims)
    ]


def test_a_campaign_goes_on_where_it_stopped(victims, tmp_path):
    """Outcomes in the progress file are not asked for again."""
    chosen = list(cases(victims[:1], every=97, inspect_every=2))
    first = run(chosen, tmp_path / "progress")
    lines = (tmp_path / "progress").read_text()

    assert first == run(chosen, tmp_path / "progress")
    assert lines == (tmp_path / "progress").read_text()


def test_three_masks_for_each_byte(victims):
    """A file of n bytes has 3n flips, and every 20th is inspected too."""
    chosen = list(cases(victims[:1], every=1, inspect_every=20))
    flips = 3 * len(victims[0].data)

    assert flips == sum(1 for case in chosen if case.question == "read")
    assert -(-flips // 20) == sum(1 for case in chosen if case.question == "inspect")


def test_an_escape_fails_the_campaign_and_is_named():
    """The exit code is 1 and the case is printed."""
    good = Outcome("a:0:01:read", "refused", "", "magic", 1)
    bad = Outcome("a:1:01:read", "changed silently", "u64 size", "u64", 1)

    assert 0 == _told([good])[0]
    code, told = _told([good, bad])
    assert 1 == code
    assert "ESCAPE a:1:01:read: changed silently, u64 size" in told
    assert "allowed answers: 1 of 2 (50.00 %)" in told


def _raise(error: BaseException) -> Answer:
    raise error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BadMagic("L.a", Place("f", 0), found="x", wanted="LANC"), "refused"),
        (BadMagic("L.a", Place("f", 0), found="", wanted="LANC"), "incomplete error"),
        (BadMagic("L.a", Place("", 0), found="x", wanted="LANC"), "incomplete error"),
        (NotFound("no such file"), "incomplete error"),
        (IndexError("7"), "escaped"),
        (MemoryError(), "escaped"),
    ],
)
def test_only_complete_errors_are_refusals(error, kind):
    """An error without clause, file, found or wanted is an escape, as any other exception is."""
    assert kind == answer(lambda: _raise(error)).kind


def test_a_silent_change_outside_value_bytes_is_an_escape(victims, monkeypatch):
    """A reader that returns another table for a flipped footer is caught."""
    victim = next(v for v in victims if v.id == "file/2.1/miniblock/int32")
    assert victim.wanted.num_rows == 6
    other = pa.table({"c": pa.array([9, 9, 9, 9, 9, 9], pa.int32())})
    monkeypatch.setattr(Victim, "read", lambda _self, _data: other)
    footer, values = len(victim.data) - 1, 88

    assert "changed silently" == ask_reader(victim, victim.data, footer).kind
    assert "changed value" == ask_reader(victim, victim.data, values).kind
