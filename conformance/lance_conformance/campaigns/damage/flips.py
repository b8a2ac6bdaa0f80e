"""Flips part: every byte of small fixtures flipped, with three masks.

Ten data files, a manifest and a deletion file of each kind are damaged one byte at a time, below
copies of their tables. What the reference makes of it keeps the rules of damaged files (`files`);
and rows of another number must be reported by `validate`, wherever the byte lies. Every n-th case
is also validated and explained.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from lance_conformance import places, stored
from lance_conformance.campaigns.damage.anatomy import Anatomy
from lance_conformance.campaigns.damage.files import Benches, Case, broken_rules, line
from lance_conformance.campaigns.damage.mutations import flip
from lance_conformance.campaigns.damage.readers import REFERENCE, Target
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged

FIXTURES = {
    "file/2.0/binary/string": "",
    "file/2.0/dictionary/automatic": "",
    "file/2.0/flat/int32": "",
    "file/2.0/list/int32": "",
    "file/2.1/fullzip/nullable": "",
    "file/2.1/levels/list": "",
    "file/2.1/miniblock/int32": "",
    "file/2.1/variable/string": "",
    "file/2.2/bitpack/32": "",
    "file/2.2/dictionary/string": "",
    "file/0.1/container/batches": "data/*.lance",
    "file/0.1/dictionary/strings": "data/*.lance",
    "file/0.1/list/of-structs": "data/*.lance",
    "file/0.1/plain/vectors-of-bools": "data/*.lance",
    "file/0.1/statistics/strings": "data/*.lance",
    "table/any/manifest/plain": "_versions/*.manifest",
    "table/any/deletions/arrow": "_deletions/*.arrow",
    "table/any/deletions/bitmap": "_deletions/*.bin",
}
"""Cases whose files are damaged; of a dataset the file of it."""

INSPECT_EVERY = 20
"""Every so many flips the file is also validated and explained."""

MASKS = (0x01, 0x80, 0xFF)
"""Lowest bit, highest bit, all bits."""


def targets(fixtures: Path, scratch: Path) -> Iterator[Target]:
    """Yield the files, copied below `scratch`."""
    for case_id, pattern in FIXTURES.items():
        copy, relative = scratch / case_id, ""
        copy.parent.mkdir(parents=True, exist_ok=True)
        if pattern:
            shutil.copytree(stored.materialised(fixtures / case_id / "dataset"), copy)
            relative = next(copy.glob(pattern)).relative_to(copy).as_posix()
        else:
            copy = copy.with_suffix(".lance")
            shutil.copyfile(stored.materialised(fixtures / case_id / "data.lance"), copy)
        yield Target(case_id, "fixture", copy, relative)


def cases(victims: list[Target], every: int) -> Iterator[tuple[str, Case]]:
    """Yield every `every`-th flip by its name, in a fixed order; some are also inspected."""
    found = [(one, Anatomy(one.victim.name, one.victim.read_bytes())) for one in victims]
    flips = (
        Case(target, anatomy, flip(anatomy.data, at, mask))
        for target, anatomy in found
        for at in range(len(anatomy.data))
        for mask in MASKS
    )
    for number, case in enumerate(islice(flips, 0, None, every)):
        yield f"{case.name}:read", case
        if number % INSPECT_EVERY == 0:
            yield f"{case.name}:inspect", case


def flips(plan: Plan) -> Iterator[Session]:
    """Open the part: as many flips as are planned, evenly spread over the files."""
    with tempfile.TemporaryDirectory() as folder:
        victims = list(targets(places.fixtures(), Path(folder, "fixtures")))
        flipped = len(MASKS) * sum(one.victim.stat().st_size for one in victims)
        chosen = dict(cases(victims, max(1, flipped // plan.count)))
        benches = Benches([REFERENCE], Path(folder))

        def run(name: str) -> Outcome:
            case, question = chosen[name], name.rpartition(":")[2]
            (found,) = benches.ask(case, inspect=question == "inspect").values()
            broken = [f"{rule} {line(case, found)}" for rule in broken_rules(case, found)]
            if found.kind == "silent-shape" and "rows" in found.detail and not found.clause:
                broken.append(f"R6 {line(case, found)}")
            return judged(broken, counts={f"{question}: {found.kind}": 1})

        yield Session(chosen, run)


PARTS = (Part("flips", 60_000, flips),)
