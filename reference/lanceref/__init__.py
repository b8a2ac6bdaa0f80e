"""The reference implementation of the Lance format: small, readable, complete.

The names load on first use: importing the package, or one piece of it, does not pull in all the
others. The modules `explain` and `validate` share their names with functions; here the names are
the functions', also after the modules were imported.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.core.errors import LanceError
    from lanceref.core.limits import Limits
    from lanceref.explain import explain
    from lanceref.validate import validate

__version__ = "0.1.0"

__all__ = ["LanceError", "Limits", "explain", "validate"]

_HOMES = {
    "LanceError": "lanceref.core.errors",
    "Limits": "lanceref.core.limits",
    "explain": "lanceref.explain",
    "validate": "lanceref.validate",
}
"""Module of each public name."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(
        {"__all__", "__doc__", "__file__", "__name__", "__path__", "__version__", *__all__}
    )


class _Root(ModuleType):
    """The package: what imports a module binds it here, a public function goes before it."""

    def __setattr__(self, name: str, value: object) -> None:
        shared = name in _HOMES and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if shared else value)


sys.modules[__name__].__class__ = _Root
