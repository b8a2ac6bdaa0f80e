"""The damage campaign, on a sample; in a process of its own, which forks without any thread."""

import subprocess
import sys

import pytest
from lance_conformance.campaigns.damage.whole.attacks import ATTACKS


def _lines(*options: str) -> list[str]:
    """Return what the campaign prints; every rule must be kept."""
    command = [sys.executable, "-W", "ignore", "-m", "lance_conformance.campaigns.damage"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr), done.stdout
    return done.stdout.splitlines()


def _run(*options: str) -> dict[str, int]:
    """Return how many cases each reader had."""
    lines = _lines("--family", "files", *options)

    assert "rules: " + ", ".join(f"R{n} kept" for n in range(1, 9)) == lines[-1]
    sums = [line.split() for line in lines if line.startswith("all  ")][1:]
    return {words[1]: int(words[2]) for words in sums}


def test_the_reference_keeps_every_rule_on_1500_damaged_files():
    """Whoever wrote the files: the oracle where it is installed, else the reference."""
    counts = _run("--sample", "1500", "--without-oracle")

    assert ["reference"] == list(counts)
    assert 1500 <= counts["reference"] < 1600


@pytest.mark.oracle
def test_the_oracle_stands_beside_it():
    """Both readers get the same damaged files."""
    counts = _run("--sample", "140")

    assert 140 <= counts["reference"] == counts["oracle"]


def test_one_hostile_table_is_made_again():
    """By its kind and its number."""
    lines = _lines("--family", "whole-tables", "--only", "missing:39")

    assert "missing" == lines[1].split()[0]
    assert "whole tables: 1 cases, every rule kept" == lines[-1]


def test_hostile_tables_keep_every_rule():
    """Every kind of attack once."""
    lines = _lines("--family", "whole-tables", "--sample", str(len(ATTACKS)), "--seed", "3")

    assert f"whole tables: {len(ATTACKS)} cases, every rule kept" == lines[-1]
