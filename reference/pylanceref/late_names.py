"""Late names: public names of a module that import the module that has them on first use.

A name of pylance that has nothing to do with the format loads too, as a class whose call raises.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import NoReturn


def late_names(own: str, names: Mapping[str, str], left_out: str = "") -> Callable[[str], object]:
    """Return the `__getattr__` of the module `own` for names, between spaces, by their modules.

    `left_out` are names of classes that raise NotYet. Raises AttributeError.
    """
    homes = {name: module for module, listed in names.items() for name in listed.split()}
    missing = {name: type(name, (LeftOut,), {}) for name in left_out.split()}

    def load(name: str) -> object:
        if name in missing:
            return missing[name]
        if name not in homes:
            raise AttributeError(f"module {own!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return load


class LeftOut:
    """A name that is left out: no object of it can be made."""

    def __init__(self, *_: object, **__: object) -> None:
        self.from_uris()

    @classmethod
    def from_uris(cls, *_: object) -> NoReturn:
        """Raise NotYet: objects of the class cannot be made."""
        from lanceref.core.errors import NotYet  # late, as it loads Arrow

        raise NotYet(f"{cls.__name__} has nothing to do with the format: pylanceref leaves it out")

    from_array = from_pandas = from_uris
