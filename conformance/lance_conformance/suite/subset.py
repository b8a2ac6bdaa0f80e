"""Subsets: `SUITE.json` of a folder with some of the cases of a suite.

It has the hashes of every case of the suite, and under `subset` the cases of the folder and the
number of active cases of the whole suite in each profile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUITE_FILE = "SUITE.json"
SUBSET_KEY = "subset"


@dataclass(frozen=True, slots=True)
class FullSuite:
    """The full suite of a folder with a subset.

    `ids` are all its cases, `profiles` its numbers of active cases by profile; `num_cases` is the
    number of active cases in the folder.
    """

    ids: tuple[str, ...]
    profiles: Mapping[str, int]
    num_cases: int


def subset_document(
    suite: Mapping[str, Any], ids: Iterable[str], profiles: Mapping[str, int]
) -> dict[str, Any]:
    """Return `SUITE.json` of the cases `ids` of a suite, or of a subset of one.

    `profiles` counts the active cases of `suite`; for a subset, those of the full suite are kept.
    """
    chosen = sorted(ids)
    whole = suite[SUBSET_KEY]["profiles"] if SUBSET_KEY in suite else dict(profiles)
    added = {"cases": len(chosen), "of": whole["all"], "profiles": whole, "ids": chosen}
    return {**suite, SUBSET_KEY: added}


def full_suite(root: Path) -> FullSuite | None:
    """Return the full suite if `root` has a subset; None where it has all cases, or no suite."""
    path = root / SUITE_FILE
    if not path.is_file():
        return None
    stored = json.loads(path.read_text("utf-8"))
    if SUBSET_KEY not in stored:
        return None
    return FullSuite(
        tuple(stored["cases"]), stored[SUBSET_KEY]["profiles"], stored[SUBSET_KEY]["cases"]
    )
