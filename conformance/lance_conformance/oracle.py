"""The oracle: its deciding release, the older ones of the matrix, and access to its modules.

The release is defined here; `pyproject.toml` pins the same one. The modules are imported on demand,
so that everything else works where they are not installed. `MAINTAINING.md` describes what to do
when a new release appears.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

RELEASES = (
    "0.4.21", "0.5.10", "0.10.18", "0.20.0", "0.33.0", "0.39.0", "1.0.4", "4.0.1", "9.0.1", "14.0.2"
)  # fmt: skip
"""Releases of the matrix, oldest first; the first two omit fields that later manifests have."""

RELEASE = RELEASES[-1]
"""The release whose behaviour decides."""

PINS: Mapping[str, tuple[str, ...]] = {
    "0.4.21": ("pyarrow==14.0.2", "numpy<2"),
    "0.5.10": ("pyarrow==14.0.2", "numpy<2"),
    "0.10.18": ("pyarrow==15.0.0", "numpy<2"),
    "0.20.0": ("pyarrow==18.1.0", "numpy<2"),
}
"""Pinned requirements of releases that do not work with the newest versions they allow."""


def lance() -> ModuleType:
    """Return the oracle's table module."""
    return import_module("lance")


def lance_file() -> ModuleType:
    """Return the oracle's data file module."""
    return import_module("lance.file")


def is_installed() -> bool:
    """Return whether the oracle is installed, without importing it."""
    return find_spec("lance") is not None
