"""Report of a campaign: verdicts and counts per part, gaps, and what differs with its command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from lance_conformance.campaigns.runner import Campaign, Options, Outcome, Part, Results, Verdict

VERDICTS: tuple[Verdict, ...] = ("agreed", "known", "refused", "differed")

MOST_CASES = 60
"""Differing cases of a part that are printed one by one."""

MOST_LINES = 8
"""Details of a case that are printed."""


def report(campaign: Campaign, options: Options, results: Results) -> tuple[str, int]:
    """Return the report as text, and the exit code: 1 where a case differs or a gap is left."""
    lines, failed = [f"{'part':16}" + "".join(f"{word:>10}" for word in VERDICTS)], False
    for part in campaign.parts:
        outcomes = results.get(part.name)
        if outcomes is None:
            continue
        verdicts = Counter(one.verdict for one in outcomes.values())
        lines.append(f"{part.name:16}" + "".join(f"{verdicts[word]:10}" for word in VERDICTS))
        wrong = [*_differences(campaign, options, outcomes), *part.conclude(outcomes)]
        gaps = list(_gaps(part, options, outcomes))
        lines += [*_known(outcomes), *_counts(outcomes), *part.summary(outcomes), *gaps, *wrong]
        is_full = (options.count or part.count) >= part.count and options.only in ("*", part.name)
        failed = failed or bool(wrong) or (is_full and bool(gaps))
    return "\n".join(lines), int(failed)


def _differences(
    campaign: Campaign, options: Options, outcomes: Mapping[str, Outcome]
) -> Iterator[str]:
    differing = [case for case, one in outcomes.items() if one.verdict == "differed"]
    for case in differing[:MOST_CASES]:
        yield f"  DIFFERED {case}"
        yield from (f"      {line}" for line in outcomes[case].details[:MOST_LINES])
        yield f"      {campaign.command(options, case)}"
    if len(differing) > MOST_CASES:
        yield f"  and {len(differing) - MOST_CASES} more cases that differ"


def _known(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield how many cases each known divergence explains, and each reason to refuse."""
    for verdict in ("known", "refused"):
        chosen = (one for one in outcomes.values() if one.verdict == verdict)
        counts = Counter(one.details[0][:160] if one.details else "" for one in chosen)
        yield from (f"  {verdict} {count} x {text}" for text, count in counts.most_common(20))


def _counts(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the sums of the counts, one column for each first word of the case names."""
    sums: dict[str, Counter[str]] = {}
    for case, one in outcomes.items():
        sums.setdefault(_head(case), Counter()).update(one.counts)
    labels = sorted(set().union(*sums.values()))
    if labels:
        yield f"  {'count':46}" + "".join(f"{head[:11]:>12}" for head in sums)
    for label in labels:
        cells = "".join(f"{column[label]:12.10g}" for column in sums.values())
        yield f"  {label:46}{cells}"


def _gaps(part: Part, options: Options, outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield what had to come up and never did."""
    for head, labels in part.required.items():
        own = [one for case, one in outcomes.items() if _head(case) == head]
        seen = {label for one in own for label, count in one.counts.items() if count}
        if own:
            yield from (f"  NEVER CAME UP {head}: {name}" for name in labels if name not in seen)


def _head(case: str) -> str:
    """Return the first word of a case after its part."""
    return case.split("/")[1] if case.count("/") > 1 else ""
