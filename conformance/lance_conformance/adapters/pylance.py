"""Adapter of pylance, the oracle: `python -m lance_conformance.adapters.pylance`.

It also serves old releases, in separate environments; `releases` lists their features.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")  # before the import

import lance
from lance.file import LanceFileReader

from lance_conformance.adapters import index_search, pylance_api, releases, table_writes
from lance_conformance.adapters.operation_translation import translate_operation
from lance_conformance.adapters.refusals import refusal_response, refusal_types
from lance_conformance.adapters.server import Adapter, Message, serve

RELEASE = version("pylance")

_MODULES = ("lance", "lance.dataset", "lance.fragment", "lance.schema")
_PLACES = [import_module(name) for name in _MODULES if find_spec(name)]


def hello() -> Message:
    """Return the claims of pylance."""
    versions = releases.file_versions(RELEASE)
    return {
        "protocol": 1,
        "implementation": {
            "name": "pylance",
            "version": RELEASE,
            "language": "python, rust",
            "homepage": "https://lancedb.github.io/lance/",
            "issues": "https://github.com/lance-format/lance/issues",
        },
        "capabilities": {
            **pylance_api.capabilities(versions, ["0.1", *versions], filters=True),
            **table_writes.capabilities(lance, versions, table_writes.VERBS),
            **index_search.capabilities(
                releases.index_types(RELEASE), vectors=releases.supports(RELEASE, releases.VECTORS)
            ),
        },
        "profiles": ["format", "unstable"],
    }


def _queries() -> Any:
    """Return the module with the query classes, which old releases lack."""
    return import_module("lance.query" if find_spec("lance.query") else "lance")


def main() -> None:
    """Serve until the runner sends `bye`."""
    operations = {
        **pylance_api.operations(LanceFileReader, lance.dataset),
        **table_writes.operations(lance, lambda operation: translate_operation(_PLACES, operation)),
        **index_search.operations(lance, _queries()),
    }
    offered = {
        name: releases.unsupported_if_missing(operation) for name, operation in operations.items()
    }
    serve(Adapter(hello(), offered, refusal_types, refusal_response))


if __name__ == "__main__":
    main()
