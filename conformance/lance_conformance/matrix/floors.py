"""Floors: from which release on a feature is read, and where a case first fares otherwise.

Releases are given oldest first. A feature is the area, version and topic of an id, as in
`file/2.1/levels`. Only cases of bytes that are right say whether a feature is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lance_conformance.cases import Case
from lance_conformance.matrix.judged import Judged
from lance_conformance.outcomes import Outcome

NOT_RUN = "not run"
"""Stands for a case that a report does not have."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A feature: its cases, the first release from which on all pass (None: there is none).

    `held_by` are the cases that fail in the last release that lacks something.
    """

    feature: str
    cases: int
    since: str | None
    held_by: tuple[str, ...] = ()


def feature(case_id: str) -> str:
    """Return the feature that a case is about."""
    return "/".join(case_id.split("/")[:3])


def shows_feature(case: Case) -> bool:
    """Whether a case passes where, and only where, a feature is there."""
    return not case.is_negative and case.kind not in ("lint", "robust")


def floors(cases: Sequence[Case], releases: Sequence[Judged]) -> list[Floor]:
    """Return the floor of each feature that reports know, in the order of names."""
    by_feature: dict[str, list[str]] = {}
    for case in cases:
        if shows_feature(case):
            by_feature.setdefault(feature(case.id), []).append(case.id)
    return [_floor(name, by_feature[name], releases) for name in sorted(by_feature)]


def _floor(name: str, ids: Sequence[str], releases: Sequence[Judged]) -> Floor:
    since: str | None = None
    for release in reversed(releases):
        failed = [one for one in ids if release.outcomes.get(one, NOT_RUN) != Outcome.PASS]
        if failed:
            return Floor(name, len(ids), since, tuple(failed))
        since = release.version
    return Floor(name, len(ids), since)


def first_that_differs(outcomes: Mapping[str, str], releases: Sequence[str]) -> str | None:
    """Return the newest release whose outcome is not that of the newest of all, None without."""
    latest = outcomes[releases[-1]]
    return next((name for name in reversed(releases) if outcomes[name] != latest), None)
