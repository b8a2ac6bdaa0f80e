"""Words of the suite: vocabulary, requirements, register, divergences and places."""

import json
import tomllib
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance import oracle, resources, schemas
from lance_conformance.adapters.server import write_table
from lance_conformance.commands import executors
from lance_conformance.specification import divergences, register
from lance_conformance.suite.derived_requirements import derive
from lance_conformance.suite.vocabulary import ENCODINGS, FEATURES, INDICES, TYPES, type_words
from lanceref.core.errors import ExtraMissing
from lanceref.transactions.manifest_builder import WRITER


def test_the_schema_of_cases_lists_every_word():
    """An implementer needs no Python to find the words."""
    requires = schemas.load("case")["properties"]["requires"]["properties"]

    assert sorted(TYPES) == requires["types"]["items"]["enum"]
    assert sorted(ENCODINGS) == requires["encodings"]["items"]["enum"]
    assert sorted(FEATURES) == requires["features"]["items"]["enum"]
    assert sorted(INDICES) == requires["index"]["enum"]


@pytest.mark.parametrize(
    ("logical_type", "words"),
    [
        ("int32", {"int32"}),
        ("halffloat", {"float16"}),
        ("list.struct", {"list"}),
        ("fixed_size_list:fixed_size_list:int8:2:2", {"fixed_size_list", "int8"}),
        ("fixed_size_list:lance.bfloat16:2", {"fixed_size_list", "bfloat16"}),
        ("dict:string:int8:false", {"dictionary", "string", "int8"}),
        ("timestamp:us:-", {"timestamp:us"}),
        ("timestamp:ns:+05:30", {"timestamp:ns", "timezone"}),
        ("decimal:256:40:0", {"decimal256"}),
        ("date32:day", {"date32"}),
        ("fixed_size_binary:16", {"fixed_size_binary"}),
    ],
)
def test_a_logical_type_has_words_of_the_vocabulary(logical_type, words):
    """Children that have fields of their own have words of their own."""
    assert words == type_words(logical_type)
    assert words <= TYPES.keys()


ROWS = pa.table({"a": pa.array([1, None, 3], pa.int32()), "s": pa.array(["x", "y", "z"])})


@pytest.mark.parametrize(
    ("version", "encodings"),
    [
        ("2.0", ["binary", "flat", "nullable", "some_nulls"]),
        ("2.1", ["flat", "mini_block", "variable"]),
    ],
)
def test_a_file_names_its_version_types_and_encodings(tmp_path, version, encodings):
    """The words are those of the footer, the schema and the messages of the pages."""
    lanceref.write_file(tmp_path / "data.lance", ROWS, version)

    assert {
        "file_version": version,
        "types": ["int32", "string"],
        "encodings": encodings,
    } == derive(tmp_path, {"path": "data.lance"})


def test_a_table_names_the_features_of_the_version_that_is_read(tmp_path):
    """Deleted rows and stable row ids show from the version on that has them."""
    table = pylanceref.write_dataset(
        ROWS, tmp_path / "t", data_storage_version="2.1", enable_stable_row_ids=True
    )
    table.delete("a = 1")
    first = derive(tmp_path, {"uri": "t", "args": {"version": "1"}})
    latest = derive(tmp_path, {"uri": "t", "args": {"with": ["_rowid"]}})

    assert (["stable-row-ids", "version"], "2") == (first["features"], first["reader_flags"])
    assert ["deletion-files", "row-id", "stable-row-ids"] == latest["features"]
    assert ("3", "2.1") == (latest["reader_flags"], latest["file_version"])


def test_a_table_that_is_yet_to_be_created_has_the_version_asked_for(tmp_path):
    """Nothing else is known of it."""
    (tmp_path / "t").mkdir()
    step = {"op": "write.dataset", "args": {"mode": "create", "version": "2.0"}}

    assert {"file_version": "2.0"} == derive(tmp_path, {"uri": "t", "steps": [step]})


def test_what_is_written_asks_for_its_types(tmp_path):
    """A writer that lacks a type is not asked to write it."""
    (tmp_path / "t").mkdir()
    write_table(str(tmp_path / "input.arrow"), ROWS)
    step = {
        "op": "write.dataset",
        "args": {"mode": "create", "version": "2.1", "input": "input.arrow"},
    }

    assert ["int32", "string"] == derive(tmp_path, {"uri": "t", "steps": [step]})["types"]


def test_clauses_by_id(tmp_path):
    """Clauses are found by id; only MUST and MUST NOT leave no choice."""
    entries = [
        {"id": f"L.a.{n}", "level": level, "text": "t", "chapter": "c", "audience": ["reader"]}
        for n, level in enumerate(("MUST", "MUST NOT", "SHOULD", "MAY"))
    ]
    path = tmp_path / "register.json"
    path.write_text(json.dumps({"clauses": entries}))
    clauses = register.load(path)

    assert [True, True, False, False] == [clause.is_must for clause in clauses.values()]
    assert ("reader",) == clauses["L.a.0"].audience


def test_every_entry_has_a_kind():
    """The page of this repository, and the divergences that clauses name."""
    entries = divergences.load()

    assert {entry.kind for entry in entries.values()} <= set(divergences.KINDS)
    named = {one for clause in register.load().values() for one in clause.divergences}
    assert named <= set(entries)


def test_checkout_around_the_working_directory_wins(tmp_path, monkeypatch):
    """From a folder deep in a checkout its fixtures and register are found."""
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "spec").mkdir()
    (tmp_path / "fixtures/SUITE.json").write_text("{}")
    (tmp_path / "spec/register.json").write_text("{}")
    deep = tmp_path / "a/b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)

    assert tmp_path / "fixtures" == resources.fixtures()
    assert tmp_path / "spec/register.json" == resources.register()


ROOT = Path(__file__).parents[2]


def test_the_pinned_release_is_the_oracle():
    """Package of the extra, writer that manifests state, known failures, page of results."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = ROOT / "conformance/lance_conformance/adapters/known"

    assert [f"pylance=={oracle.RELEASE}"] == project["optional-dependencies"]["oracle"]
    assert oracle.RELEASE == WRITER.version
    assert (known / f"pylance-{oracle.RELEASE}.toml").exists()
    assert (ROOT / f"conformance/results/pylance-{oracle.RELEASE}.md").exists()


@pytest.mark.parametrize(
    ("missing", "message"), [("pyspark", r"lance-conformance\[spark\]"), ("java", "openjdk-17")]
)
def test_what_spark_misses_is_named(monkeypatch, missing, message):
    """A master means Spark; without PySpark or Java the error says how to get it."""
    present = {"pyspark": None if missing == "pyspark" else object()}
    monkeypatch.setattr(executors, "find_spec", present.get)
    monkeypatch.setattr(executors.shutil, "which", lambda name: None)
    with pytest.raises(ExtraMissing, match=message):
        executors.create_executor(None, "local[2]", "")
