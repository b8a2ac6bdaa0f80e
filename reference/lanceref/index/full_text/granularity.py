"""Document granularity: what of a row is one document."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa

NO_LIST = (
    "Invalid user input: FTS field path '{}' has no List layer and cannot use ListElement document "
    "granularity"
)


class DocumentGranularity(str, Enum):  # noqa: UP042 - as pylance has it
    """Whether a row is a document, or each element of its list."""

    ROW = "row"
    LIST_ELEMENT = "list_element"

    @property
    def shown(self) -> str:
        """The name as users are told it."""
        return "Row" if self is DocumentGranularity.ROW else "ListElement"


def is_list(type_: pa.DataType) -> bool:
    """Whether the values of a column have elements."""
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))
