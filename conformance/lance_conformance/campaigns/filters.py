"""Filters campaign: random filters, the oracle's rows beside the reference's.

Two families. `grammar` draws expressions of DataFusion's types and functions over one table of all
types. `indexed` draws conditions on columns with an index of each scalar type and asks them with
the indices and without.

Run as `python -m lance_conformance.campaigns.filters`; what was answered is kept below `--resume`
and not asked again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from random import Random

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.filter_divergences import FRAGMENT_ROWS, divergence_of
from lance_conformance.campaigns.filter_grammar import TABLE, Grammar
from lance_conformance.campaigns.filter_tables import INDEXED, condition, write_indexed
from lance_conformance.oracle import lance

REFUSALS = (ValueError, TypeError, OSError, RuntimeError, NotImplementedError, pa.ArrowException)
"""What the oracle raises for a filter that it refuses."""

OURS = (LanceError,)
"""What the reference raises; anything else ends the campaign."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one filter: `verdict` is equal, refused, known or differs."""

    family: str
    number: int
    text: str
    verdict: str
    wanted: str = ""
    found: str = ""


def rows_of(
    dataset: object,
    text: str,
    refusals: tuple[type[Exception], ...] = REFUSALS,
    **scan: bool,
) -> list[int] | str:
    """Return the addresses of the rows that pass a filter, or why it is refused."""
    try:
        rows = dataset.to_table(columns=[], filter=text, with_row_address=True, **scan)  # type: ignore[attr-defined]
    except refusals as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the oracle's own class cannot be imported
            raise
        return f"panic: {str(error)[:300]}"
    return sorted(rows["_rowaddr"].to_pylist())


def judge(family: str, number: int, text: str, wanted: object, found: object) -> Outcome:
    """Compare two answers."""
    if isinstance(wanted, str) and isinstance(found, str):
        return Outcome(family, number, text, "refused", wanted, found)
    if wanted == found:
        return Outcome(family, number, text, "equal")
    known = divergence_of(text, wanted, found)
    return Outcome(family, number, text, known or "differs", str(wanted)[:400], str(found)[:400])


def run_grammar(root: Path, seed: int, numbers: range) -> Iterator[Outcome]:
    """Yield the outcomes of filters over the table of all types."""
    uri = str(root / "grammar.lance")
    lance().write_dataset(TABLE, uri, data_storage_version="2.1", max_rows_per_file=FRAGMENT_ROWS)
    theirs, ours = lance().dataset(uri), pylanceref.dataset(uri)
    for number in numbers:
        text = Grammar(Random(f"{seed}/{number}")).filter()
        yield judge("grammar", number, text, rows_of(theirs, text), rows_of(ours, text, OURS))


def run_indexed(root: Path, seed: int, numbers: range) -> Iterator[Outcome]:
    """Yield the outcomes of conditions, each with the indices and without.

    The oracle is asked without its indices: what it finds by them is what the answers of the
    reference by the same files are held to.
    """
    uri = str(root / "indexed.lance")
    write_indexed(uri)
    theirs, ours = lance().dataset(uri), pylanceref.dataset(uri)
    for number in numbers:
        text = condition(Random(f"{seed}/{number}"), [*INDEXED][number % len(INDEXED)])
        wanted = rows_of(theirs, text, use_scalar_index=False)
        for use_index in (True, False):
            found = rows_of(ours, text, OURS, use_scalar_index=use_index)
            outcome = judge("indexed", number, text, wanted, found)
            if outcome.verdict == "differs":
                break
        yield outcome


FAMILIES = {"grammar": (run_grammar, 10_000), "indexed": (run_indexed, 2_100)}
"""Families, and how many filters each asks unless told."""


def speed(root: Path, num_rows: int = 100_000) -> dict[str, float]:
    """Return how many filters a second the reference answers over so many rows, by filter."""
    uri, repeats = str(root / "speed.lance"), 5
    parts = [TABLE] * (num_rows // TABLE.num_rows + 1)
    pylanceref.write_dataset(pa.concat_tables(parts).slice(0, num_rows), uri)
    dataset, rates = pylanceref.dataset(uri), {}
    for text in SPEED:
        dataset.count_rows(filter=text)
        begin = time.perf_counter()
        for _ in range(repeats):
            dataset.count_rows(filter=text)
        rates[text] = repeats / (time.perf_counter() - begin)
    return rates


SPEED = (
    "i64 > 1",
    "i64 > 1 and f64 < 0.5",
    "i32 in (1, 7, 100) or s = 'ab'",
    "s like 'a%'",
    "upper(s) = 'AB'",
    "date_part('year', ts) = 2020",
    "array_has(li, 9)",
    "case when flag then i64 else i32 end between 1 and 10",
)
"""Filters whose speed is printed."""


def main() -> int:
    """Run the families asked for; the exit code is 1 where an answer differs."""
    parser = argparse.ArgumentParser(description="Random filters beside the oracle.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="filters a family")
    parser.add_argument("--only", default="*", help="families, as a glob")
    parser.add_argument("--resume", type=Path, help="folder of what was answered before")
    parser.add_argument("--speed", action="store_true", help="print filters a second instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if options.speed:
            for text, rate in speed(Path(scratch)).items():
                print(f"{rate:8.1f} /s  {text}")
            return 0
        verdicts: Counter[str] = Counter()
        for family, (run, count) in FAMILIES.items():
            if not fnmatch(family, options.only):
                continue
            log = None if options.resume is None else options.resume / f"{family}.jsonl"
            past = [] if log is None or not log.exists() else log.read_text().splitlines()
            verdicts.update(f"{family}: {json.loads(line)['verdict']}" for line in past)
            for outcome in run(
                Path(scratch), options.seed, range(len(past), options.count or count)
            ):
                verdicts[f"{family}: {outcome.verdict}"] += 1
                if outcome.verdict == "differs":
                    print(f"{outcome.text}\n  oracle {outcome.wanted}\n  ours   {outcome.found}")
                if log is not None:
                    log.parent.mkdir(parents=True, exist_ok=True)
                    with log.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(asdict(outcome)) + "\n")
        for verdict, number in sorted(verdicts.items()):
            print(f"{number:7,} {verdict}")
    return int(any(verdict.endswith("differs") for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
