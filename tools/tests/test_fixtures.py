"""Fixtures: each check finds a damaged case; packing, wheel, files of a release, defects."""

import ast
import hashlib
import json
import shutil
import sys
import tarfile
from pathlib import Path

import defects
import pytest
import release
from hatchling.builders.wheel import WheelBuilder
from lance_conformance import __version__, resources
from lance_conformance.suite import case_storage, suite_file
from sources import ROOT
from wheel_fixtures import TARGET, Fixtures, write_archive

import fixtures

PARENT = "file/2.1/fullzip/list-vectors"
NEGATIVE = "file/2.1/fullzip/neg-list-vectors-control-bits"
LINT = "file/2.1/fullzip/lint-list-vectors-visible"
IDS = (PARENT, NEGATIVE, LINT)


@pytest.fixture
def few(tmp_path, monkeypatch) -> Path:
    """A suite of three cases, which the checks take for the real one."""
    for case_id in IDS:
        shutil.copytree(case_storage.case_folder(ROOT / "fixtures" / case_id), tmp_path / case_id)
        manifest = tmp_path / case_id / "case.json"
        manifest.write_text(suite_file.canonical_text(json.loads(manifest.read_bytes())), "utf-8")
    suite_file.write_suite(tmp_path)
    monkeypatch.setattr(fixtures, "FIXTURES", tmp_path)
    monkeypatch.setattr(fixtures, "MINIMUM_CASES", 3)
    return tmp_path


def _problems(root: Path, case_id: str, **changed: object) -> list[str]:
    cases = fixtures.load(root)
    case = cases[case_id] = {**cases[case_id], **changed}
    found = [
        *fixtures.check_manifest(case_id, case, suite_file.case_schema()),
        *fixtures.check_hashes(case_id, case),
        *fixtures.check_verdict(case_id, case),
        *fixtures.check_coverage(case_id, case),
    ]
    if case["kind"] in fixtures.NEGATIVE_KINDS:
        found += fixtures.check_patch(case_id, case, cases)
    return found


def _only(problems: list[str], part: str) -> bool:
    """Whether a problem says `part`."""
    return any(part in problem for problem in problems)


@pytest.mark.parametrize("case_id", IDS)
def test_real_cases_have_no_problem(few, case_id):
    """A positive, a negative and a lint case pass every check."""
    assert [] == _problems(few, case_id)
    assert [] == list(fixtures.check_all(fixtures.load(few)))


def test_a_manifest_must_fit_the_schema_and_its_place(few):
    """Unknown kinds, another id and another order of keys are found."""
    case = json.loads((few / PARENT / "case.json").read_text("utf-8"))
    (few / PARENT / "case.json").write_text(json.dumps(case), "utf-8")

    assert _only(_problems(few, PARENT), "not in canonical form")
    schema = suite_file.case_schema()
    assert _only(list(fixtures.check_manifest(PARENT, {**case, "kind": "x"}, schema)), "manifest:")
    assert _only(list(fixtures.check_manifest(PARENT, {**case, "id": "x"}, schema)), "not the path")


def test_bytes_must_be_those_of_the_manifest(few):
    """One more byte, a path of a machine and too many bytes are found."""
    data = few / NEGATIVE / "data.lance"
    data.write_bytes(data.read_bytes() + b"/ho" + b"me/somebody" + bytes(fixtures.MAX_CASE_BYTES))
    found = list(fixtures.check_hashes(NEGATIVE, fixtures.load(few)[NEGATIVE]))

    assert _only(found, "not the bytes of the manifest")
    assert _only(found, "holds a path of a machine")
    assert _only(found, f"more than {fixtures.MAX_CASE_BYTES}")


def test_a_negative_is_its_parent_with_the_declared_patch(few):
    """Another offset, another parent and other bytes are found."""
    patch = fixtures.load(few)[NEGATIVE]["patch"][0]
    lost = {"derived_from": "file/2.1/none"}

    cases = fixtures.load(few)
    case = {**cases[NEGATIVE], "patch": [{**patch, "at": patch["at"] + 1}]}
    moved = list(fixtures.check_patch(NEGATIVE, case, cases))
    assert ["the declared patch is not what the recipe does"] == moved
    assert _only(_problems(few, NEGATIVE, provenance=lost), "no parent")
    data = few / NEGATIVE / "data.lance"
    data.write_bytes(data.read_bytes()[:-1] + b"X")
    assert _only(_problems(few, NEGATIVE), "the recipe makes other bytes")


def test_the_reference_must_judge_as_expected(few):
    """A negative that is accepted, a positive that is refused, another clause or stage."""
    case = fixtures.load(few)[NEGATIVE]
    reject = {"reject": {"stage": "commit", "before_output": False}}
    other = [{"id": "L.file.footer.magic", "role": "negative"}]

    assert _only(_problems(few, NEGATIVE, expect=[reject]), "refused at stage")
    assert _only(_problems(few, NEGATIVE, clauses=other), "not L.file.footer.magic")
    positive = {**fixtures.load(few)[PARENT], "kind": "negative-file", "expect": case["expect"]}
    assert _only(list(fixtures.check_verdict(PARENT, positive)), "accepted")
    assert _only(_problems(few, NEGATIVE, kind="read-file"), "refused: ")


def test_findings_must_be_those_expected(few):
    """A lint whose clause is not reported, or that may be refused, and a positive with findings."""
    case, other = fixtures.load(few)[LINT], {"id": "L.page.miniblock.padding", "role": "negative"}
    expect = [{**case["expect"][0], "findings": ["L.file.footer.magic"]}]
    assert _only(_problems(few, LINT, expect=expect), "validate reports")
    assert _only(_problems(few, LINT, clauses=[other]), "breaks ['L.page.fullzip.num-visible'] too")
    assert _only(_problems(few, LINT, kind="read-file"), "on a positive")


def test_a_hexmap_must_say_what_the_reference_says(few):
    """A hexmap with a line more than the reference gives is found."""
    hexmap = few / PARENT / "data.lance.hexmap"
    hexmap.write_text("346 347 u8 - more\n", "utf-8")

    assert ["the hexmap differs from the reference"] == _problems(few, PARENT)


def test_no_two_cases_are_alike(few):
    """A copy under another name, too few cases and a stale SUITE.json are found."""
    shutil.copytree(few / PARENT, few / "file/2.1/miniblock/copy")
    found = [finding.message for finding in fixtures.check_all(fixtures.load(few))]

    assert _only(found, "tests the same as")
    assert _only(found, "SUITE.json does not match the files")


MAX_BYTES = 3_000_000


def test_an_archive_of_the_fixtures_is_small(tmp_path):
    """One archive below the package; nothing when editable."""
    hook = Fixtures(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    data = {"force_include": {}}
    hook.initialize("editable", data)
    assert {} == data["force_include"]
    hook.initialize("standard", data)
    ((path, inside),) = data["force_include"].items()

    assert inside == TARGET
    assert Path(path).stat().st_size < MAX_BYTES


def _imported(path: Path) -> set[str]:
    """Return the packages that a module imports, wherever in it."""
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


def test_the_wheel_does_without_the_test_data():
    """`lanceref_testing` is not in the wheel, and no module of the wheel imports it."""
    builder = WheelBuilder(str(ROOT))
    files = {one.distribution_path: Path(one.path) for one in builder.recurse_included_files()}
    modules = {name: path for name, path in files.items() if name.endswith(".py")}

    assert {"lanceref/__init__.py", "lance_conformance/random_files/corpus.py"} <= modules.keys()
    assert [] == [name for name in files if name.startswith("lanceref_testing")]
    assert [] == [name for name, path in modules.items() if "lanceref_testing" in _imported(path)]


def test_cases_out_of_the_archive_are_those_of_the_checkout(tmp_path, monkeypatch):
    """Every file of a table; the archive is unpacked once, and not again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    case = ROOT / "fixtures/table/any/deletions/arrow"
    fixtures = tmp_path / "fixtures"
    kept = fixtures / case.relative_to(ROOT / "fixtures")
    kept.mkdir(parents=True)
    for path in case.iterdir():
        (kept / path.name).write_bytes(path.read_bytes())
    suite_file.write_suite(fixtures)
    write_archive(fixtures, tmp_path / "fixtures.tar.xz")
    found = resources.unpack_archive(tmp_path / "fixtures.tar.xz")

    unpacked = found / kept.relative_to(fixtures)
    assert case_storage.read_case(case) == case_storage.read_case(unpacked)
    assert [] == suite_file.suite_problems(found)
    assert found == resources.unpack_archive(tmp_path / "fixtures.tar.xz")


SCRIPT = '"""D.a.one: a sum is wrong."""\n\nactual = 1 + 1\n'
THERE = 'print(f"expected 3, actual {actual}")\nraise SystemExit(int(actual != 3))\n'


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (THERE, defects.PRESENT),
        (THERE.replace("!=", "=="), defects.MENDED),
        *(
            (f"{end}\n", defects.NOT_OFFERED)
            for end in ("raise ValueError(actual)", "actual.there")
        ),
        ("raise SystemExit(7)\n", defects.NOT_OFFERED),
        ("print('module has no attribute x')\nraise SystemExit(1)\n", defects.NOT_OFFERED),
    ],
)
def test_the_exit_code_is_the_outcome(tmp_path, end, outcome):
    """But for scripts that fail, or ask for what is not there."""
    path = tmp_path / "one.py"
    path.write_text(SCRIPT + end)

    assert outcome == defects.run(sys.executable, path)[0]


CASES = "file/2.1/levels/l*"


def test_the_tarball_has_cases_schemas_and_protocol(tmp_path):
    """Plain files below a folder with the version in its name, as SUITE.json fixes them."""
    path = release.write_tarball(tmp_path, [CASES])
    with tarfile.open(path) as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / f"lance-conformance-suite-{__version__}"
    case = folder / "file/2.1/levels/list"
    files = {name.name for name in case.iterdir()}

    assert f"{folder.name}.tar.gz" == path.name
    assert {"case.json", "data.lance", "data.lance.hexmap", "expect.arrow", "expect.json"} == files
    assert "stored" not in json.loads((case / "case.json").read_text())
    assert (case / "data.lance").read_bytes() == case_storage.read_case(
        ROOT / "fixtures/file/2.1/levels/list"
    )["data.lance"]
    assert {"PROTOCOL.md", "README.md", "LICENSE", "register.json", "SUITE.json", "schemas"} <= {
        one.name for one in folder.iterdir()
    }
    assert {"case.schema.json", "protocol.schema.json", "report.schema.json"} == {
        one.name for one in (folder / "schemas").iterdir()
    }
    assert [] == suite_file.suite_problems(folder)


def test_the_same_files_make_the_same_tarball(tmp_path):
    """Nothing of the machine or the hour is in it, and the checksums say so."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = (release.write_tarball(tmp_path / name, [CASES]) for name in "ab")
    digest = hashlib.sha256(one.read_bytes()).hexdigest()

    assert one.read_bytes() == other.read_bytes()
    assert f"{digest}  {one.name}\n" == release.write_checksums(tmp_path / "a").read_text()
