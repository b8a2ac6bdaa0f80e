"""The oracle: the one door to the official implementation, beside its adapter.

Imported when it is asked for, so that everything else works where it is not installed.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def lance() -> ModuleType:
    """Return the oracle's table module."""
    return import_module("lance")


def lance_file() -> ModuleType:
    """Return the oracle's data file module."""
    return import_module("lance.file")


def is_installed() -> bool:
    """Return whether the oracle is there, without importing it."""
    return find_spec("lance") is not None
