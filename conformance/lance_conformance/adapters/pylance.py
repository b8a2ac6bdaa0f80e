"""Adapter of pylance, the oracle: `python -m lance_conformance.adapters.pylance`.

It serves old releases too, in environments of their own: `releases` knows what they have.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

os.environ.setdefault("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")  # before it is imported

import lance
from lance.file import LanceFileReader

from lance_conformance.adapters import face, releases, searching, writing
from lance_conformance.adapters.refusing import refusals, refuse
from lance_conformance.adapters.skeleton import Adapter, Message, serve
from lance_conformance.adapters.twin import twin

RELEASE = version("pylance")

_MODULES = ("lance", "lance.dataset", "lance.fragment", "lance.schema")
_PLACES = [import_module(name) for name in _MODULES if find_spec(name)]


def hello() -> Message:
    """Return what pylance claims."""
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
            **face.capabilities(versions, ["0.1", *versions], filters=True),
            **writing.capabilities(lance, versions, writing.VERBS),
            **searching.capabilities(
                releases.index_types(RELEASE), vectors=releases.has(RELEASE, releases.VECTORS)
            ),
        },
        "profiles": ["format", "unstable"],
    }


def _queries() -> Any:
    """Return the module that has the classes of queries; releases before it have none."""
    return import_module("lance.query" if find_spec("lance.query") else "lance")


def main() -> None:
    """Serve until the runner says good-bye."""
    operations = {
        **face.operations(LanceFileReader, lance.dataset),
        **writing.operations(lance, lambda operation: twin(_PLACES, operation)),
        **searching.operations(lance, _queries()),
    }
    offered = {name: releases.as_offered(operation) for name, operation in operations.items()}
    serve(Adapter(hello(), offered, refusals, refuse))


if __name__ == "__main__":
    main()
