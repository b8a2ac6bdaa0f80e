"""Opening: the store of a URI, and single objects by theirs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lanceref.core.cursor import Source
from lanceref.storage.local import LocalSource, LocalStore
from lanceref.storage.local_sink import LocalSink
from lanceref.storage.options import NO_OPTIONS, StoreOptions
from lanceref.storage.protocol import Sink, Store
from lanceref.storage.uri import is_local, local_path

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


def open_source(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Source:
    """Open one object for reading. Raises NotFound."""
    if is_local(uri):
        return LocalSource(local_path(uri))
    return open_store(uri, options).open("")


def create_sink(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Sink:
    """Begin one object."""
    if is_local(uri):
        return LocalSink(local_path(uri), durable=options.durable)
    return open_store(uri, options).create("")
