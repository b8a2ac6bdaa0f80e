"""Known differences: what no change of the reference should remove, by name and with the reason.

`python -m lance_conformance.campaigns.matrix --release R --format F --only HISTORY` shows each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Known:
    """A difference: patterns of `release format history`, of the direction and of the message."""

    name: str
    reason: str
    where: str
    direction: str
    told: str


KNOWN = (
    Known(
        "update-by-legacy-index",
        "the oracle fails to update rows of 0.1 that it finds by an index: it is a version behind",
        "* [dl]e[fg]a* indices",
        "reference continues release",
        "*",
    ),
    Known(
        "update-by-chance",
        "the release at times fails alike, in the oracle's tables too",
        "1.0.4 legacy indices",
        "release continues reference",
        "step update: expected taken, found *integers are ordered up to *",
    ),
    *(
        Known(
            "unfinished-2.2",
            "2.2 was not finished: today's readers refuse its pages, the oracle where it reads one",
            f"{release} 2.2 *",
            "reference reads release",
            "*[[]L.page.miniblock.large-chunk[]]",
        )
        for release in ("0.39.0", "1.0.4")
    ),
    Known(
        "unfinished-blobs",
        "2.1 was not finished: today's readers refuse such blobs, the reference the whole file",
        "0.33.0 2.1 type:blob",
        "re*",
        "*",
    ),
    Known(
        "unfinished-2.1",
        "2.1 was not finished: the release cannot read most of what it writes",
        "0.20.0 2.1 *",
        "release *",
        "*",
    ),
    Known(
        "null-by-statistics",
        "D.table.filter-null-batch-0-1: `is null` finds rows that are not null",
        "* type:nothing",
        "*",
        "*filter 1: rows: *",
    ),
    *(
        Known(
            "empty-by-statistics",
            "D.table.filter-null-batch-0-1: `is null` does not find empty texts that read as null",
            f"{where} type:{kind}",
            "*",
            "*filter 1: rows: *",
        )
        for where in ("* legacy", "0.[145]* default")
        for kind in ("zstd", "lz4", "full-zip")
    ),
    *(
        Known(
            "empty-in-required-dictionary",
            "D.legacy.empty-is-null: the oracle reads a null among values that cannot be null",
            "* type:dictionary-required",
            "*",
            told,
        )
        for told in (
            "step append: expected OSError: *",
            "step compact: expected OSError: *",
            "* rows differ) expected None found *",
        )
    ),
    Known(
        "early-lists-of-booleans",
        "a filter of other columns loses all rows, and ends the oracle in a panic",
        "0.[45].* type:fsl-bool",
        "*",
        "* filter 0: rows: expected 0, *",
    ),
    Known(
        "unfinished-2.0",
        "2.0 was not finished: the release takes other bytes for values, and cannot always read",
        "0.10.18 2.0 *",
        "reference reads release",
        "*",
    ),
    Known(
        "nulls-in-early-indices",
        "D.legacy.nulls-lost: an index in files of 0.1 takes nulls for values, and loses them",
        "0.20.0 * index:btree:*",
        "reference *",
        "* filter ?: *",
    ),
    Known(
        "nulls-by-chance",
        "the release finds nulls of 0.1 by an index or ends in a panic, in the oracle's tables too",
        "0.20.0 legacy index:btree:*",
        "release reads reference",
        "* filter 2: expected rows, found *no concept of row groups*",
    ),
    Known(
        "unfinished-stable-ids",
        "stable row ids were not finished: after an update the release mistakes one for another",
        "0.20.0 * stable",
        "release continues reference",
        "* filter ?: *",
    ),
)
"""Every known difference."""


def known(release: str, direction: str, format_: str, history: str, told: str) -> Known | None:
    """Return the entry that a difference falls under."""
    where = f"{release} {format_} {history}"
    for one in KNOWN:
        if (
            fnmatchcase(where, one.where)
            and fnmatchcase(direction, one.direction)
            and fnmatchcase(told, one.told)
        ):
            return one
    return None
