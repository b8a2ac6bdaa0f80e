"""Opening a table: the store of its URI, with the manifest store that its commits go through.

`s3+ddb://bucket/path?ddbTableName=T` names a DynamoDB table; the storage option `manifest_store`
names an SQLite file (`sqlite:///path`) for a table anywhere else. Without either, the object store
itself decides who commits.

Clauses: L.txn.store.key
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl

from lanceref.core.errors import DataRefused
from lanceref.storage import NO_OPTIONS, Store, StoreOptions, is_local, open_store
from lanceref.storage.manifests.record import ManifestStore
from lanceref.storage.manifests.store import ManifestedStore
from lanceref.storage.uri import Location, parse_uri

OPTION = "manifest_store"
"""Storage option that names a manifest store."""

SQLITE = "sqlite://"
"""How the name of an SQLite file begins."""

_wraps: list[Callable[[ManifestStore], ManifestStore]] = []
"""What is put around every manifest store that is opened, the first innermost."""


@contextmanager
def wrapped_manifests(wrap: Callable[[ManifestStore], ManifestStore]) -> Iterator[None]:
    """Put `wrap` around every manifest store that is opened until the context ends."""
    _wraps.append(wrap)
    try:
        yield
    finally:
        _wraps.remove(wrap)


def open_table(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Store:
    """Return the store of a table. Raises NotFound, StoreFailed, ExtraMissing, and DataRefused."""
    store = open_store(uri, options)
    location = None if is_local(uri) else parse_uri(os.fspath(uri))
    named = options.own.get(OPTION)
    manifests: ManifestStore
    if location is not None and location.scheme == "s3+ddb":
        if options.commit_lock is not None or named is not None:
            raise DataRefused("`s3+ddb://` scheme and custom commit handler are mutually exclusive")
        from lanceref.storage.manifests.dynamodb import DynamoManifests

        manifests, key = DynamoManifests(_dynamodb_table(location), options.own), location.path
    elif named is not None:
        if not named.startswith(SQLITE):
            raise DataRefused(f"{OPTION}: {named!r} does not begin with {SQLITE}")
        from lanceref.storage.manifests.sqlite import SqliteManifests

        manifests, key = SqliteManifests(named.removeprefix(SQLITE)), store.root.rstrip("/")
    else:
        return store
    for wrap in _wraps:
        manifests = wrap(manifests)
    return ManifestedStore(store, manifests, key)


def _dynamodb_table(location: Location) -> str:
    query = parse_qsl(location.query, keep_blank_values=True)
    if [name for name, _ in query] != ["ddbTableName"]:
        raise DataRefused("`s3+ddb://` scheme expects exactly one query `ddbTableName`")
    if not query[0][1]:
        raise DataRefused("`s3+ddb://` scheme requires non empty dynamodb table name")
    return query[0][1]
