"""The oracle: which release decides, which older ones are compared, and the door to its modules.

The release is named here; `pyproject.toml` pins the same one. The modules are imported when they
are asked for, so that everything else works where they are not installed. What to do when a new
release appears is in `MAINTAINING.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

RELEASES = (
    "0.4.21", "0.5.10", "0.10.18", "0.20.0", "0.33.0", "0.39.0", "1.0.4", "4.0.1", "9.0.1", "14.0.2"
)  # fmt: skip
"""Releases of the matrix, oldest first; the first two leave out what later manifests state."""

RELEASE = RELEASES[-1]
"""The release whose behaviour decides."""

PINS: Mapping[str, tuple[str, ...]] = {
    "0.4.21": ("pyarrow==14.0.2", "numpy<2"),
    "0.5.10": ("pyarrow==14.0.2", "numpy<2"),
    "0.10.18": ("pyarrow==15.0.0", "numpy<2"),
    "0.20.0": ("pyarrow==18.1.0", "numpy<2"),
}
"""What a release needs besides itself, where the newest that its metadata allows does not do."""


def lance() -> ModuleType:
    """Return the oracle's table module."""
    return import_module("lance")


def lance_file() -> ModuleType:
    """Return the oracle's data file module."""
    return import_module("lance.file")


def is_installed() -> bool:
    """Return whether the oracle is there, without importing it."""
    return find_spec("lance") is not None
