"""Storage: where bytes come from and go to.

`open_store` gives the store of a URI: a folder of the local file system, or a prefix of an object
store. The rest of the reference knows the protocols only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lanceref.core.cursor import Source
from lanceref.storage.local import LocalSink, LocalStore
from lanceref.storage.local_file import LocalSource, is_local, local_path
from lanceref.storage.protocol import (
    NO_OPTIONS,
    BytesSource,
    Entry,
    Sink,
    Store,
    StoreOptions,
    store_options,
    whole,
)
from lanceref.storage.uri import name_of_uri

__all__ = [
    "BytesSource",
    "Entry",
    "LocalSource",
    "LocalStore",
    "Sink",
    "Source",
    "Store",
    "StoreOptions",
    "create_sink",
    "is_local",
    "name_of_uri",
    "open_store",
    "store_options",
    "whole",
    "wrapped_stores",
]

_wraps: list[Callable[[Store], Store]] = []
"""What is put around every store that is opened, the first innermost."""


@contextmanager
def wrapped_stores(wrap: Callable[[Store], Store]) -> Iterator[None]:
    """Put `wrap` around every store that is opened until the context ends."""
    _wraps.append(wrap)
    try:
        yield
    finally:
        _wraps.remove(wrap)


def open_store(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Store:
    """Return the store whose root a path or URI names.

    Raises NotFound for a scheme that there is not, ExtraMissing for an object store without the
    package that reaches it.
    """
    store: Store
    if is_local(uri):
        store = LocalStore(local_path(uri), options)
    else:
        from lanceref.storage.objects import ObjectStore

        store = ObjectStore(os.fspath(uri), options)
    for wrap in _wraps:
        store = wrap(store)
    return store


def create_sink(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Sink:
    """Begin to write one object, which is invisible until it is closed."""
    if is_local(uri):
        return LocalSink(local_path(uri), durable=options.durable)
    return open_store(uri, options).create("")
