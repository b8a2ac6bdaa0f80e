"""Document granularity: what of a row is one document."""

from __future__ import annotations

from enum import Enum


class DocumentGranularity(str, Enum):  # noqa: UP042 - as pylance has it
    """Whether a row is a document, or each element of its list."""

    ROW = "row"
    LIST_ELEMENT = "list_element"
