"""Subset: what `SUITE.json` holds where some cases of a suite were left out.

It keeps the hashes of every case of the suite, and adds under `subset` which cases are there, and
how many active cases the whole suite has in each profile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "SUITE.json"
KEY = "subset"


@dataclass(frozen=True, slots=True)
class Whole:
    """The suite that a folder of cases was taken from.

    `ids` has every case of it, `profiles` its number of active cases by profile; `num_cases` is how
    many active cases the folder has.
    """

    ids: tuple[str, ...]
    profiles: Mapping[str, int]
    num_cases: int


def document(
    suite: Mapping[str, Any], ids: Iterable[str], profiles: Mapping[str, int]
) -> dict[str, Any]:
    """Return `SUITE.json` of the cases `ids` of a suite, or of a subset of one.

    `profiles` counts the active cases of `suite`; of a subset, the counts of the whole are kept.
    """
    chosen = sorted(ids)
    whole = suite[KEY]["profiles"] if KEY in suite else dict(profiles)
    added = {"cases": len(chosen), "of": whole["all"], "profiles": whole, "ids": chosen}
    return {**suite, KEY: added}


def whole(root: Path) -> Whole | None:
    """Return the suite of which `root` holds a subset; None where it holds all, or no suite."""
    path = root / NAME
    if not path.is_file():
        return None
    stored = json.loads(path.read_text("utf-8"))
    if KEY not in stored:
        return None
    return Whole(tuple(stored["cases"]), stored[KEY]["profiles"], stored[KEY]["cases"])
