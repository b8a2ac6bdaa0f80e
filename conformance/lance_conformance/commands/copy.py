"""`lance-conformance copy DIR`: the cases as plain files, for use without our runner."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import judging, places, suite
from lance_conformance.commands import options
from lance_conformance.judging import Order

PAGE = "README.md"
"""What describes the folder to those who have only the folder."""


def copy(
    target: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder, or a name that ends in .tar.gz.")
    ],
    profile: options.Profile = "all",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    fixtures: options.Fixtures = None,
) -> None:
    """Copy the folders of the chosen cases to DIR, with the page that describes them.

    A name that ends in .tar.gz becomes a tarball of a folder `fixtures`, always the same bytes but
    for the date in its header.
    """
    source = fixtures or places.fixtures()
    order = Order(selection=options.selection(profile, only, clause), fixtures=source)
    _, chosen = judging.choose(order)
    folders = [(case.folder, case.id) for case in chosen]
    if target.name.endswith(".tar.gz"):
        with tempfile.TemporaryDirectory() as name:
            _lay_out(source, folders, Path(name))
            target.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(target, "w:gz") as tar:
                tar.add(name, "fixtures", filter=_anonymous)
    else:
        _lay_out(source, folders, target)
    typer.echo(f"copied {len(chosen)} cases to {target}")


def _lay_out(source: Path, folders: list[tuple[Path, str]], target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for folder, case_id in folders:
        shutil.copytree(folder, target / case_id, dirs_exist_ok=True)
    for name in (suite.SUITE, PAGE):
        if (source / name).exists():
            shutil.copy(source / name, target / name)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take out of a member what the machine put in."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
