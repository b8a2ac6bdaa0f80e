"""Maps of 2.1 and later."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, Place
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.column import assemble
from lanceref.pages.layers import Layer, Nested


@pytest.mark.parametrize(("entry", "key"), [(False, 1), (True, None)])
def test_a_null_entry_or_key_is_refused(entry, key):
    """With one, pyarrow ends the process."""
    (field,) = schema_of(pa.schema([("m", pa.map_(pa.int8(), pa.int8()))])).fields
    layers = (Layer(1, None, np.arange(2)), Layer(1, np.array([entry])))
    leaf = Nested(layers, pa.array([key], pa.int8()))
    with pytest.raises(CorruptPage, match="1 null"):
        assemble(field, [leaf, leaf], Place("f", 0))
