"""Odd campaign: files that no writer makes, read by the reference and by the oracle.

Every oddity that `lanceref_testing.oddities` knows is put by itself into files of random tables,
then all of them together. The reference must read each file equal, find nothing in it that binds
readers and own all of its bytes. What the oracle gets wrong is counted; it is known by the id of a
divergence, and then left out of the files that are odd in every way.

Run as `python -m lance_conformance.campaigns.odd`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.core.file_versions import version_named
from lanceref.data_file.lance_file import LanceFileReader
from lanceref.explain import explain
from lanceref_testing import random_sample
from lanceref_testing.odd_files import odd_file
from lanceref_testing.oddities import ALL, Chance, with_needs

from lance_conformance.campaigns.oracle_child import OracleChild
from lance_conformance.campaigns.settled import settled
from lance_conformance.compare import first_difference

KNOWN = {
    "compressed bitmaps": "D.array.compressed-bitmaps",
    "nulls said in two places": "D.array.nulls-in-two-places",
    "own dictionary of any strings": "D.array.own-dictionary-types",
    "strings of one width as values": "D.array.equal-strings-as-values",
    "symbol tables of large strings": "D.array.fsst-large-strings",
    "buffers of packed fields": "D.array.packed-field-buffers",
    "compressed deltas": "D.codec.deltas",
    "deltas of deltas": "D.codec.deltas",
    "pages cut anywhere inside structs of lists": "D.page.struct-nulls-after-list-nulls",
}
"""Oddities that the oracle cannot read, each with its divergence."""

TOGETHER = "all together"
"""Name of the row of files that are odd in every way that the oracle can read."""

WRITERS_ONLY = frozenset(
    {
        "L.file.padding.value",
        "L.file.columns.order",
        "L.file.buffers.overlap",
        "L.file.alignment.buffers",
        "L.file.footer.gbo-start",
        "L.array.binary.null-adjustment-value",
        "L.array.binary.bytes-end",
        "L.array.list.null-adjustment-value",
        "L.page.miniblock.padding",
    }
)
"""Clauses that sloppy oddities break: no reader minds."""

MAX_ROWS = 1200
"""Rows of the tables."""

SEEDS = 1000
"""Seeds that are tried until enough files have an oddity."""


@dataclass(slots=True)
class Row:
    """What became of the files of one version with one oddity; `told` are first faults."""

    version: str
    oddity: str
    files: int = 0
    ours: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)

    @property
    def is_surprise(self) -> bool:
        """Whether the reference failed, or the oracle where it is not known to."""
        return bool(self.ours) or (bool(self.theirs) and self.oddity not in KNOWN)


def run_oddity(
    version: str, oddity: str, num_files: int, directory: Path, oracle: OracleChild
) -> Row:
    """Make files with one oddity, or with all that the oracle reads; let both readers read them."""
    row = Row(version, oddity)
    allowed: Collection[str] = with_needs(oddity)
    if oddity == TOGETHER:
        allowed = ALL - KNOWN.keys()
    for seed in range(SEEDS):
        if row.files == num_files or (seed > SEEDS // 4 and not row.files):
            break
        table = random_sample(seed, version_named(version)).table.slice(0, MAX_ROWS)
        path, chance = directory / "odd", Chance(seed, allowed)
        odd_file(path, table, version_named(version), chance)
        if oddity != TOGETHER and not chance.seen[oddity]:
            continue
        row.files += 1
        row.ours += [f"seed {seed}: {fault}" for fault in our_faults(path, table)][:1]
        theirs = oracle.difference(path, table) if table.num_rows else None
        row.theirs += [f"seed {seed}: {theirs}"] if theirs is not None else []
    return row


def our_faults(path: Path, table: pa.Table) -> Iterator[str]:
    """Yield what the reference makes of an odd file that it should not."""
    try:
        found = LanceFileReader(path).read_all(batch_size=1 << 20).to_table()
    except LanceError as error:
        yield f"{type(error).__name__}: {error}"
        return
    difference = first_difference(settled(table), settled(found))
    if difference is not None:
        yield difference
    told = explain(path)
    for finding in told.findings:
        if finding.severity != "note" and finding.clause not in WRITERS_ONLY:
            yield finding.message
    for start, end in told.unowned:
        yield f"bytes {start} to {end} are not owned"


def print_row(row: Row) -> None:
    """Print the counts of a row and what failed, as soon as they are known."""
    known = KNOWN.get(row.oddity, "") if row.theirs else ""
    print(
        f"{row.version}  {row.oddity:34} {row.files:4} files, "
        f"reference {len(row.ours)} wrong, oracle {len(row.theirs)} wrong  {known}",
        flush=True,
    )
    for told in [*row.ours[:2], *(row.theirs[:2] if row.is_surprise else [])]:
        print(f"      {told[:300]}", flush=True)


def conclude(rows: list[Row]) -> int:
    """Print the totals; return the exit code."""
    surprises = [row for row in rows if row.is_surprise]
    print(f"{sum(row.files for row in rows)} files, {len(surprises)} rows that surprise")
    return 1 if surprises else 0


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=20, help="files for each oddity and version")
    parser.add_argument("--versions", default="2.0,2.1,2.2,2.3")
    parser.add_argument("--oddities", default="", help="only those with this in their name")
    options = parser.parse_args()
    names = [name for name in (*sorted(ALL), TOGETHER) if options.oddities in name]
    rows, oracle = [], OracleChild()
    with tempfile.TemporaryDirectory() as directory:
        for version in options.versions.split(","):
            for name in names:
                row = run_oddity(version, name, options.files, Path(directory), oracle)
                if row.files:
                    print_row(row)
                    rows.append(row)
    oracle.close()
    return conclude(rows)


if __name__ == "__main__":
    sys.exit(main())
