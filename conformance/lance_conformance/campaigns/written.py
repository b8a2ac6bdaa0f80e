"""Writing campaign: what the reference wrote, both read equal, and whose bytes it has.

The random tables of the differential campaign, written by the reference and by the oracle. Both
readers read ours back; the oracle's bytes are compared with ours. A table that only one side
refuses to write is a difference too, unless it is a listed defect of the oracle.

Run as `python -m lance_conformance.campaigns.written`; progress is kept in a file and resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource
from lanceref_testing import Sample, random_sample
from pylanceref.file import LanceFileWriter

from lance_conformance.campaigns import differential
from lance_conformance.campaigns.identity import IDENTICAL, TRAINED, verdict
from lance_conformance.campaigns.oracle_child import OracleChild
from lance_conformance.campaigns.readings import file_differences

ORACLE_DEFECTS = (
    "Incorrect number of nulls for StructArray",
    "Not yet supported FSL",
    "Structural sibling fields have incompatible validity metadata",
    "panic",
    "died",
)
"""What the oracle says of files that it cannot read when it wrote them itself."""


@dataclass(slots=True)
class Written:
    """What became of one table; `bytes` is a verdict of `identity`, None where a side refused.

    `pages` are those of the column that has most.
    """

    seed: int
    version: str
    columns: list[str]
    bytes: str | None = None
    pages: int = 0
    refused: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)


def run_table(seed: int, version: str, directory: Path, child: OracleChild) -> Written:
    """Write the table of a seed with both writers, and read ours with both readers."""
    sample = random_sample(seed, differential.VERSIONS[version])
    columns = [f"{f.name}: {f.type} {f.metadata or ''}" for f in sample.table.schema]
    written = Written(seed, version, columns)
    ours, theirs = directory / f"{version}.ours", directory / f"{version}.theirs"
    refusals = (write(sample, ours), differential.write(sample, theirs))
    written.refused = [f"{who}: {why}" for who, why in zip(("ours", "oracle"), refusals) if why]
    if refusals[0] is not None:
        if refusals[1] is None:
            written.differences.append(f"refused by the reference alone: {refusals[0]}")
        return written
    if refusals[1] is None:
        written.bytes = verdict(ours, theirs)
        opened = open_file(LocalSource(str(ours)), Context(ours.name))
        written.pages = max((len(column.pages) for column in opened.columns), default=0)
    try:
        written.differences = list(file_differences(ours, sample.table, Random(seed)))
    except LanceError as error:
        written.differences.append(f"{type(error).__name__}: {error}")
    told = child.difference(ours, sample.table)
    if told is not None and not is_a_defect(told, theirs, sample, child):
        written.differences.append(f"oracle: {told}")
    return written


def is_a_defect(told: str, theirs: Path, sample: Sample, child: OracleChild) -> bool:
    """Whether the oracle cannot read its own file of these rows either."""
    if not any(defect in told for defect in ORACLE_DEFECTS):
        return False
    return theirs.exists() and child.difference(theirs, sample.table) is not None


def write(sample: Sample, path: Path) -> str | None:
    """Let the reference write a sample; return why it did not."""
    try:
        with LanceFileWriter(
            path,
            sample.table.schema,
            version=str(sample.version),
            data_cache_bytes=sample.cache_bytes,
        ) as writer:
            for batch in differential.batches(sample):
                writer.write_batch(batch)
    except (LanceError, ValueError) as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def run(seeds: Iterable[int], versions: list[str], out: Path | None) -> list[Written]:
    """Run every seed in every version; outcomes already in `out` are kept."""
    done: dict[tuple[int, str], Written] = {}
    if out is not None and out.exists():
        kept = [Written(**json.loads(line)) for line in out.read_text().splitlines()]
        done = {(one.seed, one.version): one for one in kept}
    with tempfile.TemporaryDirectory() as directory, closing(OracleChild()) as child:
        for seed in seeds:
            for version in versions:
                if (seed, version) in done:
                    continue
                done[seed, version] = run_table(seed, version, Path(directory), child)
                if out is not None:
                    with out.open("a") as log:
                        log.write(json.dumps(asdict(done[seed, version])) + "\n")
    return [done[seed, version] for seed in seeds for version in versions]


def report(outcomes: list[Written], versions: list[str]) -> int:
    """Print the share of identical files per version, what differs, and differences."""
    for version in versions:
        here = [one for one in outcomes if one.version == version]
        verdicts = Counter(one.bytes for one in here)
        refused = verdicts.pop(None, 0)
        trained = verdicts.pop(TRAINED, 0)
        same, compared = verdicts.pop(IDENTICAL, 0), len(here) - refused - trained
        share = f"{same / compared:.1%}" if compared else "none"
        print(
            f"{version}: {len(here)} tables, {refused} refused, {trained} with FSST, "
            f"{same} of {compared} others identical ({share})"
        )
        single = [one for one in here if one.bytes not in (None, TRAINED) and one.pages <= 1]
        alike = sum(one.bytes == IDENTICAL for one in single)
        print(f"  of one page per column: {alike} of {len(single)} identical")
        for told, count in Counter(_kind(one) for one in verdicts.elements() if one).most_common():
            print(f"  {count} x {told}")
    failed = [one for one in outcomes if one.differences]
    for one in failed:
        print(f"DIFFERENCE seed {one.seed}, {one.version}: {'; '.join(one.columns)}")
        for told in one.differences:
            print(f"  {told}")
    print(f"{len(failed)} tables with differences")
    return 1 if failed else 0


def _kind(told: str) -> str:
    """Return what differs, without the column and page."""
    return told.rpartition(": ")[2].lstrip("0123456789 ").partition(" for ")[0]


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=1200, help="tables, over all versions")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--versions", default="2.0,2.1,2.2,2.3")
    parser.add_argument("--out", type=Path, help="progress file (JSON lines), resumed")
    options = parser.parse_args()
    versions = options.versions.split(",")
    seeds = range(options.seed, options.seed + -(-options.tables // len(versions)))
    return report(run(seeds, versions, options.out), versions)


if __name__ == "__main__":
    sys.exit(main())
