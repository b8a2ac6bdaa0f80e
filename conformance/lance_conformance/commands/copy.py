"""`lance-conformance copy DIR`: the cases as plain files, for use without our runner."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from lance_conformance import resources, schemas
from lance_conformance.commands import options
from lance_conformance.runs.suite_run import RunOptions
from lance_conformance.suite import cases, json_tables, profiles, subset, suite_file
from lance_conformance.suite.cases import Case


class Tables(StrEnum):
    """Forms of expected tables."""

    ARROW = "arrow"
    JSON = "json"


README_NAME = "README.md"
"""Name of the page that describes the folder."""

STOP_WORDS = "index/full_text/stop_words.txt"
"""The lists that chapter 64 names: full-text indices cannot be searched or built without them."""


def copy(
    target: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder, or a file name that ends in .tar.gz.")
    ],
    profile: options.Profile = "all",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    level: options.Level = None,
    kind: options.Kind = None,
    exclude: options.Exclude = None,
    fixtures: options.Fixtures = None,
    expect: Annotated[
        Tables, typer.Option(help="`json`: expected tables also as JSON, next to the Arrow files.")
    ] = Tables.ARROW,
) -> None:
    """Copy the folders of the selected cases to DIR, with their documentation.

    PROTOCOL.md, the JSON Schemas, the register of clauses and the lists of stop words are added. A
    name that ends in .tar.gz gives a tarball of a folder `fixtures`, which is reproducible except
    for the date in its header.
    """
    source = fixtures or resources.fixtures()
    selected = options.selection(profile, only, clause, level=level, kind=kind, exclude=exclude)
    settings = RunOptions(selection=selected, fixtures=fixtures)
    chosen = options.selected_cases(settings)
    loaded = cases.load(fixtures)
    folders = [(case.source_folder, case.id) for case in chosen]
    if target.name.endswith(".tar.gz"):
        with tempfile.TemporaryDirectory() as name:
            _write_copy(source, folders, loaded, Path(name), expect)
            target.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(target, "w:gz") as tar:
                tar.add(name, "fixtures", filter=_without_owner)
    else:
        _write_copy(source, folders, loaded, target, expect)
    typer.echo(f"copied {len(chosen)} cases to {target}")


def _write_copy(
    source: Path, folders: list[tuple[Path, str]], every: list[Case], target: Path, expect: Tables
) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for folder, case_id in folders:
        for name, data in suite_file.case_files(folder).items():
            path = target / case_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if expect == Tables.JSON:
            for name in suite_file.TABLES_AS_JSON:
                _make_json(target / case_id / name)
    shutil.copy(resources.protocol(), target / "PROTOCOL.md")
    shutil.copy(resources.register(), target / "register.json")
    shutil.copy(resources.reference_sources() / STOP_WORDS, target)
    (target / "schemas").mkdir(exist_ok=True)
    for schema in schemas.files():
        shutil.copy(schema, target / "schemas" / schema.name)
    if (source / README_NAME).exists():
        shutil.copy(source / README_NAME, target / README_NAME)
    if (source / suite_file.SUITE).exists():
        text = _suite(source, target, [case_id for _, case_id in folders], every)
        (target / suite_file.SUITE).write_text(text, encoding="utf-8")


def _make_json(path: Path) -> None:
    """Write the table of an Arrow file next to it as JSON, if the file exists."""
    arrow = path.with_suffix(".arrow")
    if arrow.exists():
        with pa.OSFile(str(arrow)) as file:
            path.write_text(json_tables.to_json(pa.ipc.open_file(file).read_all()), "utf-8")


def _suite(source: Path, target: Path, chosen: list[str], every: list[Case]) -> str:
    """Return the `SUITE.json` of the copy, which describes a subset unless all cases are copied."""
    document = json.loads((source / suite_file.SUITE).read_text("utf-8"))
    paths = (target / name / cases.MANIFEST for name in chosen)
    stored_as = cases.manifests_hash(target, {path: path.read_bytes() for path in paths})
    document["manifests_sha256"] = stored_as
    counts = profiles.counts(case.manifest for case in every)
    if len(chosen) != counts["all"]:
        document = subset.subset_document(document, chosen, counts)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner and time of a member."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
