"""Release: what is published of a version, made into one folder.

    python tools/release.py            into dist/

It holds the wheel, the tarball of the suite for those without Python (every case as plain files,
expected tables as Arrow and JSON, schemas, register, PROTOCOL.md, licence), and SHA256SUMS. The
names carry the version of the suite, and the tarball of the same files has the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lance_conformance import __version__
from lance_conformance.commands.copy import Tables, copy
from sources import ROOT

NAME = f"lance-conformance-suite-{__version__}"
"""Name of the tarball and of the folder in it."""

SUMS = "SHA256SUMS"
"""Checksums of the other files, as `sha256sum --check` reads them."""


def write_tarball(out: Path, only: Sequence[str] = ()) -> Path:
    """Write the tarball of the suite, or of the cases that patterns choose, and return its path."""
    path = out / f"{NAME}.tar.gz"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder, only=list(only) or None, expect=Tables.JSON)
        shutil.copy(ROOT / "LICENSE", folder)
        with (
            path.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
            tarfile.open(mode="w", fileobj=packed) as tar,
        ):
            for one in sorted(folder.rglob("*")):
                tar.add(one, f"{NAME}/{one.relative_to(folder)}", False, filter=_anonymous)
    return path


def write_checksums(out: Path) -> Path:
    """Write the SHA-256 of each file in a folder, by name."""
    files = sorted(path for path in out.iterdir() if path.is_file() and path.name != SUMS)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (out / SUMS).write_text("".join(lines), encoding="utf-8")
    return out / SUMS


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Take out of a member what the machine put in."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() else 0o644
    return member


def main() -> int:
    """Build the wheel, write tarball and checksums."""
    parser = argparse.ArgumentParser(description="Make the files of a release.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    out: Path = parser.parse_args().out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)]
    if subprocess.run(build, check=False).returncode != 0:
        return 1
    write_tarball(out)
    print(write_checksums(out).read_text("utf-8"), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
