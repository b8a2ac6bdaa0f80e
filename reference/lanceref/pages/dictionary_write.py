"""Arrow dictionaries, stored: keys and items.

A dictionary array is stored as it came, its keys in their own width. Null items are dropped: what
points at them is null by its level.

Clauses: L.page.dictionary.key-width, L.page.dictionary.index
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Fixed, Values
from lanceref.pages.leafvalues_write import stored_values
from lanceref.pages.validity import keys_of, validity_of


def dictionary_parts(array: pa.DictionaryArray) -> tuple[Fixed, Values]:
    """Return keys and items, without the items that are null."""
    keys, items = keys_of(array), array.dictionary
    valid = validity_of(items)
    if valid is not None:
        moved = np.where(valid, np.cumsum(valid) - 1, 0).astype(keys.dtype)
        own = validity_of(array.indices)
        keys = moved[keys if own is None else np.where(own, keys, 0)]
        items = items.filter(pa.array(valid))
    width = keys.dtype.itemsize
    stored = Fixed(8 * width, len(keys), np.ascontiguousarray(keys).view(np.uint8))
    return stored, stored_values(items)
