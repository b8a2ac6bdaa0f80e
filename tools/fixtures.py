"""Fixtures: verify the frozen cases.

    python tools/fixtures.py             every check
    python tools/fixtures.py --refresh   rewrite SUITE.json (after adding cases), then check
    python tools/fixtures.py --base REV  only: are ids, expectations and all bytes as they were?

For every case: the manifest is valid, canonical and names itself; hashes hold; a negative differs
from its parent by exactly the declared patch; the reference's verdict is the expected one; a
positive data file has an owner for every byte, and a stored hexmap is what the reference makes.
Over all: enough cases, enough negatives, no two alike, nothing of a machine inside the bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pylanceref
from findings import Finding, conclude
from lance_conformance.adapters.reference import adapter, hello, in_process
from lance_conformance.comparison.search_scores import align_scores
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.judging.checks import applicable_expectation
from lance_conformance.judging.scenario import run_scenario
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.input_copy import copy_input
from lance_conformance.protocol.output import read_output
from lance_conformance.protocol.session import Claims, RequestResult
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.build import read_files
from lance_conformance.recipes.cases import RECIPES
from lance_conformance.recipes.model import DATA, DATASET, Negative
from lance_conformance.specification import register
from lance_conformance.suite import case_storage, suite_file, violation_policy
from lance_conformance.suite.cases import load_case
from lance_conformance.suite.derived_requirements import derive
from lance_conformance.suite.hexmap import HEXMAP_SUFFIX, build_hexmap
from lanceref.core.errors import LanceError
from lanceref.inspection import explain_source, validate
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader
from sources import ROOT

FIXTURES = ROOT / "fixtures"
MINIMUM_CASES = 150
MINIMUM_NEGATIVE_SHARE = 0.4
MAX_CASE_BYTES = 256 * 1024
NEGATIVE_KINDS = ("negative-file", "negative-dataset", "lint")
MACHINE = re.compile(rb"/(?:home|root|tmp|work|Users|mnt)/[A-Za-z0-9_.]+")
"""A path of the machine a fixture was made on."""

Case = dict[str, Any]


def load(root: Path) -> dict[str, Case]:
    """Return every case manifest by the path of its folder."""
    return {
        path.parent.relative_to(root).as_posix(): json.loads(path.read_text("utf-8"))
        for path in sorted(root.rglob("case.json"))
    }


def _folder(case_id: str) -> Path:
    """Return the folder with every file of a case."""
    return case_storage.case_folder(FIXTURES / case_id)


def check_manifest(folder: str, case: Case, schema: Case) -> Iterator[str]:
    """Yield what is wrong with the manifest itself."""
    for error in jsonschema.Draft202012Validator(schema).iter_errors(case):
        yield f"manifest: {error.message[:120]}"
    if case["id"] != folder:
        yield f"the id {case['id']} is not the path"
    text = (FIXTURES / folder / "case.json").read_text("utf-8")
    if text != suite_file.canonical_text(case):
        yield "not in canonical form: run lance-conformance fmt"


def check_hashes(folder: str, case: Case) -> Iterator[str]:
    """Yield inputs and expectations whose hashes differ from the manifest."""
    case_input = case["input"]
    listed = {case_input["path"]: case_input["sha256"]} if "path" in case_input else {}
    listed |= {f"{DATASET}/{name}": digest for name, digest in case_input.get("files", {}).items()}
    for expected in case["expect"]:
        if "table" in expected:
            listed[expected["table"]["path"]] = expected["table"]["sha256"]
    total = 0
    for name, digest in listed.items():
        data = (_folder(folder) / name).read_bytes()
        total += len(data)
        if hashlib.sha256(data).hexdigest() != digest:
            yield f"{name}: not the bytes of the manifest"
        if MACHINE.search(data):
            yield f"{name}: holds a path of a machine"
    if total > MAX_CASE_BYTES:
        yield f"{total} bytes, more than {MAX_CASE_BYTES}"


def check_patch(folder: str, case: Case, cases: dict[str, Case]) -> Iterator[str]:
    """Yield differences between a negative and what its parent becomes by the declared patch."""
    parent_id = case["provenance"]["derived_from"]
    if parent_id not in cases:
        yield f"no parent {parent_id}"
        return
    parent = read_files(_folder(parent_id), cases[parent_id])
    files = read_files(_folder(folder), case)
    recipe = RECIPES.get(folder)
    if not isinstance(recipe, Negative):
        yield "no recipe of this name"
        return
    made, patch = apply(recipe.change, parent)
    if made != files:
        yield "the recipe makes other bytes"
    declared = case["patch"][0]
    if (patch.at, patch.was.hex(), patch.now.hex()) != (
        declared["at"],
        declared["was_hex"],
        declared["now_hex"],
    ):
        yield "the declared patch is not what the recipe does"
    changed = {name for name in parent.keys() | files.keys() if parent.get(name) != files.get(name)}
    if len(changed) != (2 if patch.field == "name" else 1):
        yield f"{len(changed)} files differ from the parent"


def check_verdict(folder: str, case: Case) -> Iterator[str]:
    """Yield what the reference answers otherwise than expected."""
    if "steps" in case["input"]:
        yield from check_steps(folder)
        return
    expected, kind = case["expect"][0], case["kind"]
    path = _folder(folder) / case["input"].get("path", DATASET)
    try:
        table, facts = read(path, case)
    except LanceError as error:
        if kind not in ("negative-file", "negative-dataset"):
            yield f"refused: {error}"
            return
        yield from _check_refusal(error, case)
        if "index" in case["requires"]:
            yield from _check_report(path, case)
        return
    if kind in ("negative-file", "negative-dataset"):
        yield "accepted, but it is to be refused"
        return
    if "table" in expected:
        order = expected["table"]["order"]
        expected_verdict = _expected(folder, expected)
        if "distance_rel" in expected.get("search", {}):
            table = align_scores(expected_verdict, table, expected["search"]["distance_rel"])
        difference = first_difference(expected_verdict, table, order=order)
        if difference:
            yield f"reads as another table: {difference}"
    if "search" in expected and not expected.get("facts", {}).items() <= facts.items():
        yield f"answers {facts}"
    findings = validate(path, deep=True)
    found = {finding.clause for finding in findings}
    broken = {finding.clause for finding in findings if finding.severity == "must"}
    if kind == "lint":
        if not set(expected["findings"]) <= found:
            yield f"validate reports {sorted(found)}, not {expected['findings']}"
        yield from _check_read(case, broken)
    elif broken:
        yield f"validate reports {sorted(broken)} on a positive"


def _check_read(case: Case, broken: set[str]) -> Iterator[str]:
    """Yield the clauses by which a reader may refuse a case that has to be read."""
    clauses = register.load()
    stated = {named["id"] for named in case["clauses"] if named["role"] == "negative"}
    if {clauses[one].violation for one in stated} != {violation_policy.READ}:
        return
    strict_policies = (violation_policy.REFUSE, violation_policy.EITHER)
    others = {one for one in broken - stated if clauses[one].violation in strict_policies}
    strict = sorted(one for one in others if not one.startswith("L.index."))  # reads need no index
    if strict:
        yield f"breaks {strict} too, for which a reader may refuse it"


_CLAIMS = Claims(hello()["implementation"], hello()["capabilities"], hello())


def check_steps(folder: str) -> Iterator[str]:
    """Take the steps of a case with the reference and yield what is not as expected."""
    case = load_case(FIXTURES / folder / "case.json", FIXTURES)
    with tempfile.TemporaryDirectory() as scratch:
        table_path = copy_input(case.input_root, Path(scratch))
        for acted in run_scenario(case, applicable_expectation(case, _CLAIMS), table_path, _ask):
            if acted.verdict.outcome != Outcome.PASS:
                yield f"{acted.name}: {acted.verdict.detail}"


def _ask(actor: str, op: str, fields: Mapping[str, object]) -> RequestResult:
    return RequestResult(in_process(op, fields))


def _check_refusal(error: LanceError, case: Case) -> Iterator[str]:
    stage = case["expect"][0]["reject"]["stage"]
    if stage not in ("any", error.stage):
        yield f"refused at stage {error.stage}, not {stage}"
    clause = getattr(error, "clause", "L.table.files.exist")  # NotFound: a file is missing
    if clause != case["clauses"][0]["id"]:
        yield f"refused under {clause}, not {case['clauses'][0]['id']}: {error}"


def _check_report(path: Path, case: Case) -> Iterator[str]:
    """Yield that `validate` does not find what an index is refused for."""
    clause = case["clauses"][0]["id"]
    found = {finding.clause for finding in validate(path, deep=True)}
    if clause not in found:
        yield f"validate reports {sorted(found)}, not {clause}"


def read(path: Path, case: Case) -> tuple[pa.Table, Case]:
    """Read a data file or dataset with the reference and the arguments of a case: rows, facts."""
    args = case["input"].get("args", {})
    place = "path" if "path" in case["input"] else "uri"
    if not args and place == "path":
        return LanceFileReader(path).read_all().to_table(), {}
    if not args:
        return pylanceref.dataset(path).to_table(blob_handling="all_binary"), {}
    with tempfile.TemporaryDirectory() as scratch:
        request = {place: str(path), "out": f"{scratch}/out.arrow", **args}
        facts = adapter().operations[case["requires"]["op"]](request)
        return read_output(Path(facts["out"])).combine_chunks(), facts


def _expected(folder: str, expected: Case) -> pa.Table:
    with pa.OSFile(str(_folder(folder) / expected["table"]["path"])) as source:
        return pa.ipc.open_file(source).read_all()


def check_coverage(folder: str, case: Case) -> Iterator[str]:
    """Yield byte ranges without an owner, and a hexmap that says something else.

    A file beside the data that the fault of a `lint` makes unreadable, or gives another name, has
    no owners, nor have files of blobs, which are nothing but values.
    """
    if case["kind"] in ("negative-file", "negative-dataset"):
        return
    for name, data in read_files(_folder(folder), case).items():
        broken = case["kind"] == "lint" and name != DATA and name in _patched(case["patch"][0])
        if name.endswith((".json", ".blob")) or broken:
            continue
        unowned = _unowned(data, name)
        if unowned:
            yield f"{name}: bytes without an owner: {unowned[:3]}"
        hexmap_path = _folder(folder) / f"{DATA}{HEXMAP_SUFFIX}"
        if (
            name == DATA
            and hexmap_path.exists()
            and hexmap_path.read_text("utf-8") != build_hexmap(data)
        ):
            yield "the hexmap differs from the reference"


def _patched(patch: Case) -> set[str]:
    """Return the file that a patch changes, under both names where it changes its name."""
    names = {patch["target"]}
    return names | {bytes.fromhex(patch["now_hex"]).decode()} if patch["field"] == "name" else names


@cache
def _unowned(data: bytes, name: str) -> list[tuple[int, int]]:
    """Return the byte ranges of a file without an owner; many cases share a file."""
    return list(explain_source(BytesSource(data, name)).unowned)


@cache
def _derived_requirements(folder: str, case_input: str) -> Case:
    """Return the requirements of the bytes of a case; `case_input` is its input as JSON."""
    return derive(_folder(folder), json.loads(case_input))


def required(folder: str, case: Case, cases: dict[str, Case]) -> Case:
    """Return the derived requirements of a case, for a damaged one those of its parent."""
    damaged = case["kind"] in ("negative-file", "negative-dataset")
    parent = case["provenance"]["derived_from"] if damaged else folder
    case_input = {**cases[parent]["input"], "args": case["input"].get("args", {})}
    derived = {"file_version", "types", "encodings", "features", "reader_flags"}
    stated = {key: value for key, value in case["requires"].items() if key not in derived}
    return {**stated, **_derived_requirements(parent, json.dumps(case_input))}


def check_requirements(folder: str, case: Case, cases: dict[str, Case]) -> Iterator[str]:
    """Yield the requirements of a case that differ from those of its bytes."""
    derived = required(folder, case, cases)
    if derived != case["requires"]:
        yield f"requires {case['requires']}, the bytes require {derived}"


def check_all(cases: dict[str, Case]) -> Iterator[Finding]:
    """Yield what is wrong with the set of cases."""
    active = [case for case in cases.values() if case.get("status", "active") == "active"]
    negative = sum(case["kind"] in NEGATIVE_KINDS for case in active)
    if len(active) < MINIMUM_CASES or negative < MINIMUM_NEGATIVE_SHARE * len(active):
        yield Finding("fixtures", 0, f"{len(active)} cases, {negative} of them negative")
    alike: dict[str, str] = {}
    for case in active:
        name = case["id"]
        clauses = sorted((clause["id"], clause["role"]) for clause in case["clauses"])
        written = case["expect"] if "steps" in case["input"] else []
        key = json.dumps([clauses, case["input"], case["requires"]["op"], written])
        if key in alike:
            yield Finding(f"fixtures/{name}", 0, f"tests the same as {alike[key]}")
        alike.setdefault(key, name)
    for problem in suite_file.suite_problems(FIXTURES):
        yield Finding("fixtures/SUITE.json", 0, problem)


def check_base(revision: str) -> Iterator[Finding]:
    """Yield the cases of a commit that are gone, or whose files, put together, are others.

    The hash of a case covers its manifest, with id and expectation, and every file.
    """
    command = ["git", "-C", str(ROOT), "show", f"{revision}:fixtures/{suite_file.SUITE}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, now = json.loads(text)["cases"], suite_file.suite_document(FIXTURES)["cases"]
    for name, digest in before.items():
        if now.get(name) != digest:
            yield Finding(f"fixtures/{name}", 0, f"not as in {revision}")
    print(f"{len(before)} cases of {revision}, {len(now)} now")


def main() -> int:
    """Run every check and print what is wrong."""
    if "--base" in sys.argv[1:]:
        return conclude("fixtures", list(check_base(sys.argv[-1])))
    cases = load(FIXTURES)
    if "--refresh" in sys.argv[1:]:
        suite_file.write_suite(FIXTURES)
    schema = suite_file.case_schema()
    findings = list(check_all(cases))
    for folder, case in cases.items():
        problems = [
            *check_manifest(folder, case, schema),
            *check_hashes(folder, case),
            *check_requirements(folder, case, cases),
        ]
        counts = case.get("status", "active") == "active"
        if counts:
            problems += [*check_verdict(folder, case), *check_coverage(folder, case)]
        if counts and case["kind"] in NEGATIVE_KINDS:
            problems += check_patch(folder, case, cases)
        findings += [Finding(f"fixtures/{folder}", 0, problem) for problem in problems]
    kinds = Counter(case["kind"] for case in cases.values())
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    return conclude("fixtures", findings)


if __name__ == "__main__":
    sys.exit(main())
