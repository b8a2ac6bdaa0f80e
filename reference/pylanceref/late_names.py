"""Late names: public names of a module that import the module that has them on first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping


def late_names(own: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of the module `own` for names, between spaces, by their modules.

    Raises AttributeError.
    """
    homes = {name: module for module, listed in names.items() for name in listed.split()}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {own!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return load


def listing(names: Iterable[str]) -> Callable[[], list[str]]:
    """Return the `__dir__` of a module with these names."""
    return lambda: sorted(names)
