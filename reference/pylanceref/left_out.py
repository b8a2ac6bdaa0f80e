"""Names of pylance that have nothing to do with the format.

Programs that import them load. Each is a class of its own name; to make an object of it, or to call
it as the function that it is in pylance, raises.
"""

from __future__ import annotations

from functools import cache
from typing import NoReturn

from lanceref.core.errors import NotYet


class LeftOut:
    """A name that is left out: no object of it can be made."""

    def __init__(self, *_: object, **__: object) -> None:
        self.from_uris()

    @classmethod
    def from_uris(cls, *_: object) -> NoReturn:
        """Raise NotYet: objects of the class cannot be made."""
        raise NotYet(f"{cls.__name__} has nothing to do with the format: pylanceref leaves it out")

    from_array = from_pandas = from_uris


@cache
def __getattr__(name: str) -> type[LeftOut]:
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (LeftOut,), {})
