"""Floors: the oldest release that reads a feature, and where the outcome of a case changes.

Releases are ordered from the oldest. A feature is the area, version and topic of an id, as in
`file/2.1/levels`. Only cases with valid bytes count for a feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lance_conformance.matrix.report_data import ReportData
from lance_conformance.outcomes import Outcome
from lance_conformance.suite.cases import Case

NOT_RUN = "not run"
"""Outcome of a case that a report does not have."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A feature: its number of cases, and the release from which all of them pass, or None.

    `held_by` are the failing cases of the newest release in which not all pass.
    """

    feature: str
    cases: int
    since: str | None
    held_by: tuple[str, ...] = ()


def feature(case_id: str) -> str:
    """Return the feature of a case."""
    return "/".join(case_id.split("/")[:3])


def shows_feature(case: Case) -> bool:
    """Whether a case passes if and only if a feature is supported."""
    return not case.is_negative and case.kind not in ("lint", "robust")


def floors(cases: Sequence[Case], releases: Sequence[ReportData]) -> list[Floor]:
    """Return the floor of each feature, in the order of names."""
    by_feature: dict[str, list[str]] = {}
    for case in cases:
        if shows_feature(case):
            by_feature.setdefault(feature(case.id), []).append(case.id)
    return [_floor(name, by_feature[name], releases) for name in sorted(by_feature)]


def _floor(name: str, ids: Sequence[str], releases: Sequence[ReportData]) -> Floor:
    since: str | None = None
    for release in reversed(releases):
        failed = [one for one in ids if release.outcomes.get(one, NOT_RUN) != Outcome.PASS]
        if failed:
            return Floor(name, len(ids), since, tuple(failed))
        since = release.version
    return Floor(name, len(ids), since)


def newest_differing(outcomes: Mapping[str, str], releases: Sequence[str]) -> str | None:
    """Return the newest release with another outcome than the newest of all, or None."""
    latest = outcomes[releases[-1]]
    return next((name for name in reversed(releases) if outcomes[name] != latest), None)
