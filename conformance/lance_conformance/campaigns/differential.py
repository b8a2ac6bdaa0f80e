"""Differential campaign: what the oracle wrote, the reference reads equal.

Random tables (`lanceref_testing`) are written by the oracle in each file version and read back by
the reference: whole, projected, as a range and as random rows; every fourth also as a dataset. The
end is a census of what came up: types, nesting, null patterns, page layouts, encodings. Something
that never came up is a gap and fails the run as a difference does.

Run as `python -m lance_conformance.campaigns.differential`; progress is kept in a file and resumed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.core.file_versions import V0_1, V2_0, V2_1, V2_2, V2_3
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource
from lanceref_testing import Sample, random_sample
from lanceref_testing.types import nesting

from lance_conformance.campaigns.census import encodings_of, missing, print_census
from lance_conformance.campaigns.legacy import legacy_differences
from lance_conformance.campaigns.readings import dataset_differences, file_differences
from lance_conformance.campaigns.settled import settled
from lance_conformance.oracle import lance, lance_file

VERSIONS = {str(version): version for version in (V0_1, V2_0, V2_1, V2_2, V2_3)}
"""Versions a campaign can run over, by name."""


@dataclass(slots=True)
class Outcome:
    """What became of one table. `refused` is the oracle's reason not to write it."""

    seed: int
    version: str
    columns: list[str]
    refused: str | None = None
    differences: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


def run_table(seed: int, version: str, directory: Path) -> Outcome:
    """Draw the table of a seed, let the oracle write it and read it back in every way."""
    sample = random_sample(seed, VERSIONS[version])
    columns = [f"{f.name}: {f.type} {f.metadata or ''}" for f in sample.table.schema]
    outcome = Outcome(seed, version, columns)
    path = directory / f"{version}.lance"
    if sample.version == V0_1:
        outcome.refused, outcome.differences = legacy_differences(sample, path, seed)
        outcome.labels = sorted(sample.labels) if outcome.refused is None else []
        shutil.rmtree(path, ignore_errors=True)
        return outcome
    outcome.refused = write(sample, path)
    if outcome.refused is None:
        try:
            outcome.differences = list(file_differences(path, sample.table, Random(seed)))
            file = open_file(LocalSource(str(path)), Context(path.name))
            outcome.labels = sorted(sample.labels | encodings_of(file))
            if seed % 4 == 0 and sample.table.num_rows:
                label, differences = _as_dataset(sample, directory / str(seed), seed)
                outcome.differences += differences
                outcome.labels.append(label)
        except LanceError as error:
            outcome.differences.append(f"{type(error).__name__}: {error}")
    return outcome


def _as_dataset(sample: Sample, path: Path, seed: int) -> tuple[str, list[str]]:
    """Let the oracle write a sample as a dataset of three fragments, and read it back."""
    refused = refusal_of(
        lambda: lance().write_dataset(
            settled(sample.table),
            str(path),
            data_storage_version=str(sample.version),
            max_rows_per_file=-(-sample.table.num_rows // 3),
        )
    )
    if refused is not None:
        return "dataset the oracle would not write", []
    told = list(dataset_differences(path, sample.table, Random(seed)))
    shutil.rmtree(path)
    return "dataset of several fragments", told


def write(sample: Sample, path: Path) -> str | None:
    """Let the oracle write a sample; return why it did not."""
    options = {} if sample.cache_bytes is None else {"data_cache_bytes": sample.cache_bytes}

    def write_batches() -> None:
        with lance_file().LanceFileWriter(
            str(path), sample.table.schema, version=str(sample.version), **options
        ) as writer:
            for batch in batches(sample):
                writer.write_batch(batch)

    return refusal_of(write_batches)


def refusal_of(writes: Callable[[], object]) -> str | None:
    """Return why the oracle did not write."""
    try:
        writes()
    except (OSError, ValueError, RuntimeError) as error:
        return str(error)[:200]
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the oracle's own class cannot be imported
            raise
        return f"panic: {str(error)[:200]}"
    return None


def batches(sample: Sample) -> Iterable[pa.RecordBatch]:
    """Cut the table; every other sample is written from slices where the oracle can."""
    sliceable = sample.batch_rows % 2 and all(nesting(f.type) < 1 for f in sample.table.schema)
    for batch in sample.table.to_batches(max_chunksize=sample.batch_rows):
        yield from [batch] if sliceable else settled(pa.table(batch)).to_batches()


def run(seeds: Iterable[int], versions: list[str], out: Path | None) -> list[Outcome]:
    """Run every seed in every version; outcomes already in `out` are kept."""
    done = _kept(out)
    with tempfile.TemporaryDirectory() as directory:
        for seed in seeds:
            for version in versions:
                if (seed, version) in done:
                    continue
                outcome = run_table(seed, version, Path(directory))
                done[seed, version] = outcome
                if out is not None:
                    with out.open("a") as log:
                        log.write(json.dumps(asdict(outcome)) + "\n")
                if sys.stderr.isatty():
                    print(f"\r{len(done)} tables", end="", file=sys.stderr)
    return [done[seed, version] for seed in seeds for version in versions]


def _kept(out: Path | None) -> dict[tuple[int, str], Outcome]:
    if out is None or not out.exists():
        return {}
    kept = [Outcome(**json.loads(line)) for line in out.read_text().splitlines()]
    return {(outcome.seed, outcome.version): outcome for outcome in kept}


def report(outcomes: list[Outcome], versions: list[str]) -> int:
    """Print differences, refusals and the census; return the exit code."""
    counts = {version: Counter[str]() for version in versions}
    for outcome in outcomes:
        counts[outcome.version].update(outcome.labels)
    print_census(counts)
    refused = Counter(o.refused for o in outcomes if o.refused is not None)
    print(f"{len(outcomes)} tables, {refused.total()} not written by the oracle")
    for reason, count in refused.most_common():
        print(f"  {count} x {reason}")
    failed = [outcome for outcome in outcomes if outcome.differences]
    for outcome in failed:
        print(f"DIFFERENCE seed {outcome.seed}, {outcome.version}: {'; '.join(outcome.columns)}")
        for told in outcome.differences:
            print(f"  {told}")
    gaps = missing(counts)
    for gap in gaps:
        print(f"NEVER CAME UP {gap}")
    print(f"{len(failed)} tables with differences, {len(gaps)} gaps")
    return 1 if failed or gaps else 0


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=1200, help="tables, over all versions")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--versions", default="2.0,2.1,2.2", help="2.3 is unstable")
    parser.add_argument("--out", type=Path, help="progress file (JSON lines), resumed")
    options = parser.parse_args()
    versions = options.versions.split(",")
    seeds = range(options.seed, options.seed + -(-options.tables // len(versions)))
    return report(run(seeds, versions, options.out), versions)


if __name__ == "__main__":
    sys.exit(main())
