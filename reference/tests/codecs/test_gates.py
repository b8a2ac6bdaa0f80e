"""Gates: descriptions each version may and may not hold."""

import pytest
from lanceref.codecs.description_checks import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    has_payload,
    value_bits,
)
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, CorruptPage, UnknownEncoding
from lanceref.core.file_versions import V2_1, V2_2, V2_3
from lanceref.core.limits import Limits

from .encodings import (
    CE,
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
from .test_fsst import table_bytes

ROWS = variable_rows((flat(8), "bits_per_value", 8), (variable(), "bits_per_length", 32))

ALWAYS = [
    flat(1),
    flat(256),
    variable(64),
    inline(32),
    out_of_line(16, 3),
    rle(flat(64), flat(8)),
    split(flat(32)),
    general("lz4_raw", split(flat(64))),
    general("zstd", variable(32)),
    fsst(table_bytes([b"a"]), variable(32)),
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


@pytest.mark.parametrize("encoding", ALWAYS, ids=lambda e: str(e)[:40])
@pytest.mark.parametrize("version", [V2_1, V2_2, V2_3])
def test_what_every_version_may_hold(encoding, version):
    """These descriptions pass the gates of all versions."""
    check_encoding(encoding, version, CTX, PLACE)


@pytest.mark.parametrize("encoding", SINCE_2_3, ids=lambda e: str(e)[:40])
def test_what_came_with_2_3(encoding):
    """These descriptions are refused before 2.3."""
    check_encoding(encoding, V2_3, CTX, PLACE)
    for version in (V2_1, V2_2):
        with pytest.raises(BytesError, match=r"L\.codec\."):
            check_encoding(encoding, version, CTX, PLACE)


def test_variable_rows_came_with_2_2():
    """A packed struct with a variable field is refused in 2.1."""
    check_encoding(ROWS, V2_2, CTX, PLACE)
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.version"):
        check_encoding(ROWS, V2_1, CTX, PLACE)


@pytest.mark.parametrize(
    ("encoding", "clause"),
    [
        (CE(), "encoding.present"),
        (general("zstd", CE()), "encoding.present"),
        (CE(variable={}), "encoding.context"),
        (CE(flat={"bits_per_value": 8, "data": {}}), "encoding.buffer-compression"),
        (CE(inline_bitpacking={"values": {}}), "bitpack.types"),
        (CE(variable={"offsets": flat(32), "values": {}}), "encoding.buffer-compression"),
        (CE(general={"values": flat(8)}), "general.scheme"),
        (flat(12), "flat.bits"),
        (inline(128), "bitpack.types"),
        (out_of_line(16, 24), "bitpack.width"),
        (out_of_line(12, 1), "bitpack.types"),
        (variable(16), "encoding.context"),
        (variable(variable(32)), "encoding.context"),
        (fsst(b"", variable(32)), "fsst.table"),
        (fsst(table_bytes([b"a"]), flat(8)), "encoding.context"),
        (split(flat(16)), "encoding.context"),
        (split(inline(32)), "encoding.context"),
        (rle(flat(1), flat(8)), "rle.children"),
        (rle(flat(64), flat(24)), "rle.children"),
        (rle(inline(32), flat(8)), "encoding.context"),
        (lists(0, flat(8)), "fixed-size-list.items"),
        (lists(2**40, flat(8)), "fixed-size-list.items"),
        (lists(2**20, lists(2**20, flat(8))), "fixed-size-list.items"),
        (lists(3, variable()), "encoding.context"),
        (lists(3, constant()), "fixed-size-list.all-null"),
        (lists(3, constant(5), True), "fixed-size-list.all-null"),
        (packed_struct([8, 1], flat(9)), "packed-struct.bits"),
        (packed_struct([8, 8], flat(24)), "packed-struct.bits"),
        (packed_struct([8], inline(8)), "encoding.context"),
        (variable_rows((flat(8), "bits_per_value", 16)), "packed-struct.field"),
        (variable_rows((variable(), "bits_per_length", 16)), "packed-struct.field"),
        (variable_rows((flat(8), "bits_per_length", 32)), "encoding.context"),
        (variable_rows((variable(), "bits_per_value", 32)), "encoding.context"),
        (CE(variable_packed_struct={"fields": [{"value": flat(8)}]}), "packed-struct.field"),
        (constant(5, 24), "constant.width"),
        (range_(0, 0), "range.step"),
        (range_(0, 1, 16), "sequence.width"),
        (delta(0, constant(1), 16), "sequence.width"),
        (dictionary(flat(32), flat(64), 0), "dictionary.num-items"),
    ],
    ids=str,
)
def test_faulty_descriptions_are_refused(encoding, clause):
    """Every fault of a description is found when the file is opened, with its clause."""
    with pytest.raises((CorruptPage, UnknownEncoding)) as caught:
        check_encoding(encoding, V2_3, CTX, PLACE)

    assert f"L.codec.{clause}" == caught.value.clause
    assert str(caught.value.found)
    assert PLACE == caught.value.place


def test_encodings_nest_as_deep_as_the_limits_allow():
    """A description nested deeper than the limit is refused, not recursed into."""
    encoding = flat(8)
    for _ in range(CTX.limits.depth // 2 - 10):
        encoding = general("zstd", encoding)
    check_encoding(encoding, V2_3, CTX, PLACE)

    with pytest.raises(CorruptPage, match=r"L\.codec\.encoding\.depth"):
        check_encoding(encoding, V2_3, CTX, PLACE, depth=CTX.limits.depth - 5)


@pytest.mark.parametrize("encoding", [flat(16), inline(16), out_of_line(16, 1)])
def test_levels_have_sixteen_bits(encoding):
    """Levels may be flat or bitpacked in every version."""
    check_levels(encoding, V2_1, CTX, PLACE)


def test_levels_are_runs_since_2_2():
    """Runs of levels are refused in 2.1."""
    check_levels(rle(flat(16), flat(8)), V2_2, CTX, PLACE)
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.levels"):
        check_levels(rle(flat(16), flat(8)), V2_1, CTX, PLACE)


@pytest.mark.parametrize("encoding", [flat(8), variable(), lists(2, flat(8))])
def test_other_encodings_are_not_for_levels(encoding):
    """Another width, strings and lists are refused."""
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.levels"):
        check_levels(encoding, V2_3, CTX, PLACE)


@pytest.mark.parametrize(
    ("encoding", "bits"),
    [
        (rle(general("zstd", flat(32)), flat(8)), 32),
        (dictionary(flat(32), range_(0, 1), 3), 64),
        (lists(3, lists(1, flat(16), True), True), 64),
        (packed_struct([8, 16], flat(24)), 24),
        (variable(), None),
        (ROWS, None),
    ],
)
def test_the_width_of_a_value_follows_from_the_description(encoding, bits):
    """Encodings of fixed width say how many bits a value has."""
    assert bits == value_bits(encoding)


def test_payload_follows_from_the_description():
    """Constants, ranges and what is made of them alone have none."""
    assert not has_payload(rle(constant(5), range_(1, 1, 32)))
    assert not has_payload(delta(0, constant(1)))
    assert has_payload(rle(constant(5), flat(8)))
    assert has_payload(delta(0, flat(64)))
    assert has_payload(dictionary(flat(32), range_(0, 1), 3))


@pytest.mark.parametrize(
    ("inside", "outside", "clause"),
    [
        (out_of_line(16, 16), out_of_line(16, 17), "bitpack.width"),
        (rle(flat(64), flat(8)), rle(flat(128), flat(8)), "rle.children"),
        (rle(flat(8), flat(8)), rle(flat(8), flat(16)), "rle.children"),
        (lists(2**27, flat(16)), lists(2**27 + 1, flat(16)), "fixed-size-list.items"),
        (lists(1, flat(8)), lists(0, flat(8)), "fixed-size-list.items"),
    ],
)
def test_widths_up_to_their_bound(inside, outside, clause):
    """The last one that fits, and the next."""
    check_encoding(inside, V2_2, CTX, PLACE)
    with pytest.raises(CorruptPage, match=rf"L\.codec\.{clause}"):
        check_encoding(outside, V2_2, CTX, PLACE)


@pytest.mark.parametrize(("depth", "fits"), [(3, True), (4, False)])
def test_encodings_nest_as_deep_as_the_limit(depth, fits):
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


@pytest.mark.parametrize("encoding", [constant(5), range_(1, 1, 32)])
def test_runs_in_chunks_take_bytes(encoding):
    """Neither the values nor the lengths of runs are computed there, inside of compression too."""
    check_chunks(general("lz4_raw", rle(flat(32), flat(8))), PLACE)
    for runs in (rle(encoding, flat(8)), rle(flat(32), encoding)):
        with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
            check_chunks(general("lz4_raw", runs), PLACE)


@pytest.mark.parametrize(
    "encoding", [constant(5), range_(0, 1), fsst(table_bytes([b"a"]), variable(32))]
)
def test_items_of_a_dictionary_are_stored(encoding):
    """They are neither computed nor codes of symbols."""
    check_items(general("lz4_raw", variable(32)), PLACE)
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
        check_items(general("lz4_raw", encoding), PLACE)
