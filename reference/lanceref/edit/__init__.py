"""Edits: rows of a table deleted, changed, merged or moved.

Each module is loaded when it is first asked for: who reads a table edits nothing.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lanceref.edit import (
        adopted as adopted,
    )
    from lanceref.edit import (
        blob_values as blob_values,
    )
    from lanceref.edit import (
        cast as cast,
    )
    from lanceref.edit import (
        changed as changed,
    )
    from lanceref.edit import (
        column_update as column_update,
    )
    from lanceref.edit import (
        columns as columns,
    )
    from lanceref.edit import (
        compaction as compaction,
    )
    from lanceref.edit import (
        index_build as index_build,
    )
    from lanceref.edit import (
        index_defer as index_defer,
    )
    from lanceref.edit import (
        index_move as index_move,
    )
    from lanceref.edit import (
        index_staging as index_staging,
    )
    from lanceref.edit import (
        index_update as index_update,
    )
    from lanceref.edit import (
        inserted_keys as inserted_keys,
    )
    from lanceref.edit import (
        matching as matching,
    )
    from lanceref.edit import (
        merge as merge,
    )
    from lanceref.edit import (
        merge_columns as merge_columns,
    )
    from lanceref.edit import (
        moved_ids as moved_ids,
    )
    from lanceref.edit import (
        new_rows as new_rows,
    )
    from lanceref.edit import (
        removal as removal,
    )
    from lanceref.edit import (
        reshaped as reshaped,
    )
    from lanceref.edit import (
        sources as sources,
    )


def __getattr__(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
