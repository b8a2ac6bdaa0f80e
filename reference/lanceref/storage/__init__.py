"""Storage: where bytes come from and go to.

`open_store` gives the store of a URI: a folder of the local file system, or a prefix of an object
store. The rest of the reference knows the protocols only.
"""

from __future__ import annotations

from lanceref.core.cursor import Source
from lanceref.storage.local import SMALL_BYTES, LocalSource, LocalStore
from lanceref.storage.local_sink import LocalSink, make_folder
from lanceref.storage.opening import create_sink, open_source, open_store, wrapped_stores
from lanceref.storage.options import NO_OPTIONS, CommitLock, StoreOptions, store_options
from lanceref.storage.pieces import COPY_BYTES, BytesSource, copy_object
from lanceref.storage.protocol import (
    Entry,
    IOStats,
    Sink,
    Store,
    bytes_read_counter,
    iops_counter,
    whole,
)
from lanceref.storage.refusals import refusals
from lanceref.storage.uri import above, contains, is_local, joined, local_path, name_of_uri

__all__ = [
    "COPY_BYTES",
    "NO_OPTIONS",
    "SMALL_BYTES",
    "BytesSource",
    "CommitLock",
    "Entry",
    "IOStats",
    "LocalSink",
    "LocalSource",
    "LocalStore",
    "Sink",
    "Source",
    "Store",
    "StoreOptions",
    "above",
    "bytes_read_counter",
    "contains",
    "copy_object",
    "create_sink",
    "iops_counter",
    "is_local",
    "joined",
    "local_path",
    "make_folder",
    "name_of_uri",
    "open_source",
    "open_store",
    "refusals",
    "store_options",
    "whole",
    "wrapped_stores",
]
