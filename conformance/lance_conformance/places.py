"""Places: where the fixtures, the register and the reference's sources are.

In a checkout they are the folders of the repository, found upward from the working directory or
from this package; in a wheel the copies beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from lance_conformance.failures import Failure

_HERE = Path(__file__).parent


class NotThere(Failure):
    """Neither a checkout nor the wheel has it."""


def fixtures() -> Path:
    """Return the folder of cases."""
    return _find("fixtures/SUITE.json", "fixtures/SUITE.json").parent


def register() -> Path:
    """Return the register of clauses."""
    return _find("spec/register.json", "register.json")


def divergences() -> Path:
    """Return the page of divergences."""
    return _find("spec/divergences.md", "divergences.md")


def known_divergences() -> Path:
    """Return the list of divergences that campaigns know, of this checkout or wheel."""
    return _find("spec/known-divergences.toml", "known-divergences.toml")


def protocol() -> Path:
    """Return the page of the protocol."""
    return _find("conformance/PROTOCOL.md", "PROTOCOL.md")


def reference_sources() -> Path:
    """Return the folder of the installed reference."""
    spec = find_spec("lanceref")
    if spec is None or spec.origin is None:
        raise NotThere("the reference is not installed")
    return Path(spec.origin).parent


def _find(in_checkout: str, in_wheel: str) -> Path:
    for root in _roots():
        if (root / in_checkout).exists() and (root / "spec").is_dir():
            return root / in_checkout
    if (_HERE / in_wheel).exists():
        return _HERE / in_wheel
    raise NotThere(f"no {in_checkout} in this checkout, and no copy in the package")


def _roots() -> Iterator[Path]:
    here = Path.cwd()
    yield from (here, *here.parents)
    yield from _HERE.parents
