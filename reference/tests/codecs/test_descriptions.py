"""Descriptions of encodings: what each version may hold, and what follows from them."""

import pytest
from lanceref.codecs.compressive import check_chunks, check_encoding, check_items
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, CorruptPage, UnknownEncoding
from lanceref.core.file_versions import V2_1, V2_2, V2_3
from lanceref.core.limits import Limits

from .encodings import (
    constant,
    delta,
    dictionary,
    flat,
    fsst,
    general,
    inline,
    lists,
    out_of_line,
    packed_struct,
    range_,
    rle,
    split,
    variable,
    variable_rows,
)
from .runs import CTX, PLACE
from .slow_forms import symbol_table

TABLE = symbol_table([b"a"])
ROWS = variable_rows((flat(8), "bits_per_value", 8), (variable(), "bits_per_length", 32))
ALWAYS = [
    flat(1),
    flat(256),
    variable(64),
    inline(32),
    out_of_line(16, 16),
    rle(flat(64), flat(8)),
    split(flat(32)),
    general("lz4_raw", split(flat(64))),
    fsst(TABLE, variable(32)),
    lists(3, lists(2, flat(32), True)),
    lists(3, constant(), True),
    packed_struct([8, 16], flat(24)),
]
SINCE_2_3 = [
    constant(5),
    range_(0, 1),
    delta(0, range_(0, 1)),
    dictionary(flat(32), flat(64), 3),
    rle(range_(4, 1), constant(1, 32)),
    rle(flat(64), flat(16)),
    rle(general("lz4_raw", flat(64)), flat(8)),
    variable(range_(0, 4, 32)),
    variable(rle(range_(0, 4, 32), flat(32))),
]
SINCE = [(V2_1, one) for one in ALWAYS] + [(V2_2, ROWS)] + [(V2_3, one) for one in SINCE_2_3]


@pytest.mark.parametrize(("since", "encoding"), SINCE, ids=lambda one: str(one)[:40])
def test_a_description_is_legal_from_its_version_on(since, encoding):
    """Before it the file is refused when it is opened."""
    for version in (V2_1, V2_2, V2_3):
        if version >= since:
            check_encoding(encoding, version, CTX, PLACE)
        else:
            with pytest.raises(BytesError, match=r"L\.codec\."):
                check_encoding(encoding, version, CTX, PLACE)


@pytest.mark.parametrize(("depth", "fits"), [(3, True), (4, False)])
def test_descriptions_nest_as_deep_as_the_limit(depth, fits):
    """Three levels of compression around flat values, where three are allowed."""
    encoding = flat(8)
    for _ in range(depth):
        encoding = general("zstd", encoding)
    ctx = Context("deep", limits=Limits(depth=3))
    if fits:
        check_encoding(encoding, V2_2, ctx, PLACE)
        return
    with pytest.raises(CorruptPage, match=r"L\.codec\.encoding\.depth"):
        check_encoding(encoding, V2_2, ctx, PLACE)


COMPUTED = [constant(5), range_(0, 1), fsst(TABLE, variable(32))]


def test_runs_in_chunks_and_items_of_dictionaries_are_stored():
    """Neither the parts of runs nor the items are computed, inside of compression too."""
    check_chunks(general("lz4_raw", rle(flat(32), flat(8))), PLACE)
    check_items(general("lz4_raw", variable(32)), PLACE)
    refused = [
        *((check_chunks, rle(one, flat(8))) for one in COMPUTED[:2]),
        *((check_chunks, rle(flat(32), one)) for one in COMPUTED[:2]),
        *((check_items, one) for one in COMPUTED),
    ]
    for check, encoding in refused:
        with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
            check(general("lz4_raw", encoding), PLACE)
