"""Indices: how they are described, configured and built by hand (face).

Has the names of pylance's `lance.indices`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pylanceref.index_descriptions import (
    IndexConfig,
    IndexDescription,
    IndexFileVersion,
    IndexSegmentDescription,
    SupportedDistributedIndices,
)

if TYPE_CHECKING:
    from pylanceref.indices_builder import IndicesBuilder
    from pylanceref.vector_models import IvfModel, PqModel

__all__ = [
    "IndexConfig",
    "IndexDescription",
    "IndexFileVersion",
    "IndexSegmentDescription",
    "IndicesBuilder",
    "IvfModel",
    "PqModel",
    "SupportedDistributedIndices",
]

_HOMES = {
    "IndicesBuilder": "pylanceref.indices_builder",
    "IvfModel": "pylanceref.vector_models",
    "PqModel": "pylanceref.vector_models",
    "build_rq_model": "pylanceref.vector_models",
}
"""Modules of names that are imported when they are asked for."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
