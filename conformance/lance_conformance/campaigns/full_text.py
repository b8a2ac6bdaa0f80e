"""Full-text campaign: the oracle and the reference find the same documents, with the same scores.

Random tables get indices from one of the two and live on: rows are deleted, added and updated,
indices brought up to date, fragments compacted, by either. At every step both are asked the same
random questions. Rows must be the same, scores equal to 1e-5, and fall from row to row; where they
are not, it must be a published divergence.

Run as `python -m lance_conformance.campaigns.full_text`; progress is kept in a file and resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType

import pyarrow as pa
from lanceref.core.errors import NotYet
from pylanceref.query import FullTextQuery

from lance_conformance.campaigns import texts
from lance_conformance.campaigns.text_divergences import (
    Found,
    History,
    Question,
    Scan,
    equal,
    published,
)
from lance_conformance.oracle import lance

STEPS: dict[str, Callable[[ModuleType, str, Random, str], object]] = {
    "delete": lambda m, path, rng, _: m.dataset(path).delete(f"i % 7 = {rng.randint(0, 6)}"),
    "insert": lambda m, path, rng, family: m.dataset(path).insert(
        texts.rows(family, rng.choice([1, 20, 60]), rng, rng.randint(1, 9) * 1000)
    ),
    "update": lambda m, path, rng, _: m.dataset(path).update(
        {"s": f"'{texts.REPLACEMENT}'"}, f"i % 11 = {rng.randint(0, 10)}"
    ),
    "optimize": lambda m, path, rng, _: m.dataset(path).optimize.optimize_indices(),
    "delta": lambda m, path, rng, _: m.dataset(path).optimize.optimize_indices(
        num_indices_to_merge=rng.choice([0, 0, 2, 10])
    ),
    "compact": lambda m, path, rng, _: m.dataset(path).optimize.compact_files(),
}
"""What is done to a table between questions."""


@dataclass(slots=True)
class Outcome:
    """What became of one table."""

    seed: int
    family: str
    asked: int = 0
    found: int = 0
    refused: int = 0
    unknown: int = 0
    published: dict[str, int] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


def run_table(seed: int, family: str, folder: Path, questions: int) -> Outcome:
    """Let a table live, and ask so many questions at each of its four steps."""
    outcome, rng = Outcome(seed, family), Random(f"{seed} {family}")
    both = (lance(), import_module("pylanceref"))
    path = str(folder / f"{family}_{seed}")
    first = rng.choice(both)
    first.write_dataset(
        texts.rows(family, rng.choice([40, 150, 300]), rng, 0),
        path,
        max_rows_per_file=rng.choice([30, 1000]),
        enable_stable_row_ids=rng.random() < 0.3,
    )
    given = texts.parameters(family, rng)
    _index(rng.choice(both), path, given, rng)
    outcome.steps.append(f"{first.__name__} {given}")
    for number in range(4):
        if number:
            step = rng.choice(list(STEPS))
            writer = rng.choice(both)
            STEPS[step](writer, path, rng, family)
            outcome.steps.append(f"{writer.__name__} {step}")
        for _ in range(questions):
            _ask(outcome, path, rng.randrange(1 << 30))
    return outcome


def _index(writer: ModuleType, path: str, given: dict[str, object], rng: Random) -> None:
    """Build the indices of a table."""
    per_element = rng.random() < 0.3
    for column in "stlj":
        own = dict(given)
        if column == "l" and per_element:
            granularity = import_module(f"{writer.__name__}.query").DocumentGranularity
            own["document_granularity"] = granularity.LIST_ELEMENT
        writer.dataset(path).create_scalar_index(column, "INVERTED", **own)


def _ask(outcome: Outcome, path: str, seed: int) -> None:
    """Ask both a question."""
    scan = _scan(Random(seed))
    names = import_module("pylanceref.query")
    query = texts.question(outcome.family, names, Random(seed))
    assert isinstance(query, FullTextQuery)

    def ask(scan: Scan) -> tuple[Found, Found]:
        theirs, ours = (_answer(one, path, outcome.family, seed, scan) for one in _both())
        return theirs, ours

    wanted, found = ask(scan)
    outcome.asked += 1
    if isinstance(found, str) and found.startswith(NotYet.__name__):
        outcome.unknown += 1
    elif isinstance(wanted, str) and isinstance(found, str):
        outcome.refused += 1
    elif not equal(wanted, found, limited="limit" in scan):
        question = Question(query, scan, outcome.family == "raw", ask)
        known = published(question, wanted, found, _history(path, outcome.steps))
        if known is not None:
            outcome.published[known] = outcome.published.get(known, 0) + 1
            return
        outcome.differences.append(
            f"step {len(outcome.steps)}: {texts.told(query)} {scan}\n"
            f"    oracle    {str(wanted)[:300]}\n    reference {str(found)[:300]}"
        )
    else:
        outcome.found += bool(found)


def _history(path: str, steps: list[str]) -> History:
    """Return what became of a table."""
    dataset = lance().dataset(path)
    columns = [one["name"] for one in dataset.list_indices()]
    rows = dataset.to_table(columns=["i"], filter=f"s = '{texts.REPLACEMENT}'")
    return History(
        stable_ids=dataset.has_stable_row_ids,
        compacted=any(step.endswith(" compact") for step in steps),
        several_segments=len(set(columns)) < len(columns),
        replaced=frozenset(rows["i"].to_pylist()),
    )


def _both() -> tuple[ModuleType, ModuleType]:
    return lance(), import_module("pylanceref")


def _scan(rng: Random) -> Scan:
    """Return further arguments of a question."""
    return rng.choice(
        [
            {},
            {},
            {},
            {"limit": rng.choice([1, 5, 20])},
            {"filter": "i % 3 = 1", "prefilter": True},
            {"filter": "i % 3 = 1"},
            {"filter": "i % 3 = 1", "prefilter": True, "limit": 4},
            {"fast_search": True},
        ]
    )


def _answer(module: ModuleType, path: str, family: str, seed: int, scan: Scan) -> Found:
    """Return what one of the two finds."""
    names = import_module(f"{module.__name__}.query")
    try:
        query = texts.question(family, names, Random(seed))
        table: pa.Table = module.dataset(path).to_table(
            full_text_query=query, columns=["i", "_score"], **scan
        )
    except (OSError, ValueError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"
    scores = table["_score"].to_pylist()
    if sorted(scores, reverse=True) != scores:
        return f"scores do not fall: {scores}"
    elements = table["_doc_index"].to_pylist() if "_doc_index" in table.schema.names else None
    places = [0] * len(scores) if elements is None else [str(one) for one in elements]
    rows = zip(table["i"].to_pylist(), places, scores, strict=True)
    return sorted(rows, key=lambda row: (row[0], str(row[1])))


def run(
    seeds: Iterable[int], families: Iterable[str], questions: int, out: Path | None
) -> list[Outcome]:
    """Run every seed in every family; outcomes already in `out` are kept."""
    kept = [] if out is None or not out.exists() else out.read_text("utf-8").splitlines()
    done = {(one["seed"], one["family"]): Outcome(**one) for one in map(json.loads, kept)}
    found = []
    for seed in seeds:
        for family in families:
            outcome = done.get((seed, family))
            if outcome is None:
                with tempfile.TemporaryDirectory() as folder:
                    outcome = run_table(seed, family, Path(folder), questions)
                if out is not None:
                    with out.open("a", encoding="utf-8") as log:
                        log.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")
            found.append(outcome)
    return found


def report(outcomes: list[Outcome]) -> int:
    """Print counts and differences; return the exit code."""
    counts: dict[str, Counter[str]] = {}
    known: Counter[str] = Counter()
    for one in outcomes:
        own = counts.setdefault(one.family, Counter())
        own.update(asked=one.asked, found=one.found, refused=one.refused, unknown=one.unknown)
        own["published"] += sum(one.published.values())
        own["different"] += len(one.differences)
        known.update(one.published)
        for difference in one.differences:
            print(
                f"DIFFERENCE seed {one.seed}, {one.family}: {'; '.join(one.steps)}\n  {difference}"
            )
    for family, own in counts.items():
        print(f"{family:12} " + "  ".join(f"{name} {count}" for name, count in own.items()))
    for divergence, count in sorted(known.items()):
        print(f"{divergence} {count}")
    return 1 if any(one.differences for one in outcomes) else 0


def main() -> int:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=8, help="tables of each family")
    parser.add_argument("--questions", type=int, default=10, help="questions at each step")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--families", default=",".join(texts.FAMILIES))
    parser.add_argument("--out", type=Path, help="progress file (JSON lines), resumed")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.tables)
    families = options.families.split(",")
    return report(run(seeds, families, options.questions, options.out))


if __name__ == "__main__":
    sys.exit(main())
