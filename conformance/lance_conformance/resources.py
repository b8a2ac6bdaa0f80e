"""Paths of the fixtures, the register and other resources.

In a checkout they are folders of the repository, searched upward from the working directory and
from this package; in a wheel they are copies in this package, and the fixtures are an archive.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from lance_conformance.command_error import CommandError

_PACKAGE = Path(__file__).parent

ARCHIVE = "fixtures.tar.xz"
"""Name of the fixtures in the wheel."""


class ResourceMissing(CommandError):
    """A resource is neither in a checkout nor in the wheel."""


def fixtures() -> Path:
    """Return the folder of cases."""
    found = _find("fixtures/SUITE.json", ARCHIVE)
    return unpack_archive(found) if found.name == ARCHIVE else found.parent


@cache
def unpack_archive(archive: Path) -> Path:
    """Return the folder of an archive of fixtures, which is unpacked on first use.

    It is in the cache of the user, under the hash of the archive; where the cache cannot be
    written, in a temporary folder that this process removes when it exits.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = caches / "lance-conformance" / sha256(archive.read_bytes()).hexdigest()[:32]
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
    except OSError:
        return _extract(archive, Path(tempfile.mkdtemp(dir=cache_root())))
    _extract(archive, made)
    try:
        made.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(made)
    return folder


@cache
def cache_root() -> Path:
    """Create the folder of materialised cases, which this process removes when it exits."""
    folder, owner = tempfile.mkdtemp(prefix="lance-conformance-cases-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def _extract(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


def register() -> Path:
    """Return the register of clauses."""
    return _find("spec/register.json", "register.json")


def divergences() -> Path:
    """Return the page of divergences."""
    return _find("spec/divergences.md", "divergences.md")


def known_divergences() -> Path:
    """Return the list of known divergences of this checkout or wheel."""
    return _find("spec/known-divergences.toml", "known-divergences.toml")


def protocol() -> Path:
    """Return the description of the protocol."""
    return _find("conformance/PROTOCOL.md", "PROTOCOL.md")


def reference_sources() -> Path:
    """Return the folder of the installed reference."""
    spec = find_spec("lanceref")
    if spec is None or spec.origin is None:
        raise ResourceMissing("the reference is not installed")
    return Path(spec.origin).parent


def _find(in_checkout: str, in_wheel: str) -> Path:
    for root in _roots():
        if (root / in_checkout).exists() and (root / "spec").is_dir():
            return root / in_checkout
    if (_PACKAGE / in_wheel).exists():
        return _PACKAGE / in_wheel
    raise ResourceMissing(f"no {in_checkout} in this checkout, and no copy in the package")


def _roots() -> Iterator[Path]:
    here = Path.cwd()
    yield from (here, *here.parents)
    yield from _PACKAGE.parents
