"""Recipes: built folders, messages that are edited, pages by hand, and scores."""

import json
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest
from lance_conformance.recipes.build import build, clauses_shown, read_files
from lance_conformance.recipes.model import DATA, Input, Negative, Positive, SpanPatch
from lance_conformance.recipes.oracle_files import column, file
from lance_conformance.suite import hexmap, suite_file
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

FIXTURES = Path(__file__).parents[3] / "fixtures"
BYTES = (FIXTURES / "file/2.1/miniblock/int32/data.lance").read_bytes()
TABLE = pa.table({"c": pa.array([0, 1, 2], pa.int32())})

GOOD = Positive(
    id="file/2.1/toy/good",
    title="a toy",
    clauses=("L.toy.one",),
    make=lambda: Input({DATA: BYTES}, TABLE, "hand"),
)

BAD = Negative(
    id="file/2.1/toy/neg-magic",
    title="a broken toy",
    clause="L.toy.two",
    parent=GOOD.id,
    change=SpanPatch(("footer", "magic"), b"LANX"),
    meaning="the magic is LANX",
    stage="open",
)

ODD = Negative(
    id="file/2.1/toy/lint-padding",
    title="an odd toy",
    clause="L.toy.one",
    parent=GOOD.id,
    change=SpanPatch(("padding",), b"Z"),
    meaning="a letter Z in the padding",
    kind="lint",
)

RECIPES = [BAD, ODD, GOOD]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The three toys, built from recipes that name the parent last."""
    build(RECIPES, clauses_shown(RECIPES), tmp_path)
    return tmp_path


def _case(root: Path, case_id: str) -> dict:
    return json.loads((root / case_id / "case.json").read_text("utf-8"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.id)
def test_manifests_are_valid_and_canonical(built, recipe):
    """What is written needs no formatting."""
    case = _case(built, recipe.id)

    jsonschema.validate(case, suite_file.case_schema())
    assert suite_file.canonical_text(case) == (built / recipe.id / "case.json").read_text("utf-8")


def test_a_negative_declares_its_patch_and_parent(built):
    """The patch is the difference between the two inputs."""
    case = _case(built, BAD.id)
    patch = case["patch"][0]

    assert GOOD.id == case["provenance"]["derived_from"]
    assert (len(BYTES) - 4, "4c414e43", "4c414e58") == (
        patch["at"],
        patch["was_hex"],
        patch["now_hex"],
    )
    assert {DATA: BYTES[:-4] + b"LANX"} == read_files(built / BAD.id, case)
    assert case["requires"] == _case(built, GOOD.id)["requires"]


def test_requirements_are_what_is_in_the_bytes(built):
    """Version, types and encodings are those that the file names, and nothing that is typed."""
    requires = _case(built, GOOD.id)["requires"]

    assert {
        "op": "file.read",
        "file_version": "2.1",
        "types": ["int32"],
        "encodings": ["flat", "mini_block"],
    } == requires


def test_a_lint_expects_its_parents_table_and_a_finding(built):
    """It reads well, and validate reports the clause."""
    expect = _case(built, ODD.id)["expect"][0]

    assert ["L.toy.one"] == expect["findings"]
    assert (built / GOOD.id / "expect.arrow").read_bytes() == (
        built / ODD.id / "expect.arrow"
    ).read_bytes()


def test_what_exists_is_kept(built):
    """Fixtures are frozen: a second build writes only what is missing."""
    (built / BAD.id / "case.json").unlink()
    (built / BAD.id / "data.lance").unlink()
    (built / BAD.id / "data.lance.hexmap").unlink()
    (built / BAD.id).rmdir()
    (built / GOOD.id / "data.lance").write_bytes(BYTES + b"!")

    assert [BAD.id] == build(RECIPES, clauses_shown(RECIPES), built)
    assert BYTES + b"!" == (built / GOOD.id / "data.lance").read_bytes()


def test_a_hexmap_names_every_byte():
    """Ranges meet each other from the first byte to the last."""
    rows = [line.split(" ", 4) for line in hexmap.build_hexmap(BYTES).splitlines()]
    ends = [int(row[1]) for row in rows]

    assert [0, *ends[:-1]] == [int(row[0]) for row in rows]
    assert len(BYTES) == ends[-1]
    assert "magic" == rows[-1][4]


COLUMN = pa.array([0, 1, None, 2**31 - 1], pa.int32())


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("version", "pair"), [("2.0", (0, 3)), ("2.1", (2, 1)), ("2.2", (2, 2)), ("2.3", (2, 3))]
)
def test_a_file_holds_its_table_in_its_version(version, pair):
    """The reader returns the version of the footer, and the given table."""
    made = file(column(COLUMN), version, batches=2)()
    reader = LanceFileReader(DATA, source=BytesSource(made.files[DATA], DATA))
    metadata = reader.metadata()

    assert made.table == reader.read_all().to_table()
    assert pair == (metadata.major_version, metadata.minor_version)
