"""Signatures: the parameters of a function that hands most of its arguments on (face).

Such a function takes them by name, as `**arguments`. Pylance writes them all out, in an order that
programs rely on where they pass them by position; `parameters` states that order once, for callers
and for `inspect.signature`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import TypeVar

T = TypeVar("T")


def parameters(text: str, **defaults: object) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a function the parameters of a text, by position too.

    The text has their names between spaces; after `*` they have no position, `**name` stands for
    any others. Those that the function itself has come first and are as it has them; the default of
    another is None, or what `defaults` says. Raises TypeError.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        own = inspect.signature(function)
        told = [*_told(text.split(), own, defaults)]
        names = [one.name for one in told if one.kind is Parameter.POSITIONAL_OR_KEYWORD]

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> T:
            if len(args) > len(names):
                raise TypeError(
                    f"{function.__qualname__}() takes at most {len(names)} positional arguments "
                    f"but {len(args)} were given"
                )
            return function(**dict(zip(names, args)), **kwargs)

        call.__signature__ = own.replace(parameters=told)  # type: ignore[attr-defined]
        return call

    return decorate


def _told(names: list[str], own: inspect.Signature, defaults: dict[str, object]) -> list[Parameter]:
    """Return the parameters of a text."""
    told: list[Parameter] = []
    has_position = True
    for name in names:
        kind = Parameter.POSITIONAL_OR_KEYWORD if has_position else Parameter.KEYWORD_ONLY
        if name == "*":
            has_position = False
        elif name.startswith("**"):
            told.append(Parameter(name[2:], Parameter.VAR_KEYWORD, annotation=object))
        elif name in own.parameters:
            told.append(own.parameters[name].replace(kind=kind))
        else:
            told.append(Parameter(name, kind, default=defaults.get(name)))
    return told
