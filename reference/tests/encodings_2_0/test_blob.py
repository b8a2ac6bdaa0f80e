"""Blob columns."""

import pyarrow as pa
import pytest
from lanceref.core.errors import BadSchema, CorruptPage, LanceError, OutOfRange
from lanceref.core.spans import SpanRecorder
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.storage import BytesSource

from .building import BLOB, Column, Page, flat, no_nulls, open_built, scanned, taken, words

FIELD = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
ENCODING = pb.ArrayEncoding(
    packed_struct={"inner": [no_nulls(flat(64)), no_nulls(flat(64))], "buffer": {}}
)


def _column(*descriptors: tuple[int, int]):
    stored = b"".join(words(*one) for one in descriptors)
    page = Page(ENCODING, len(descriptors), [stored])
    source = BytesSource(stored.ljust(128, b"H") + b"payload")
    return open_built(FIELD, [Column([page], BLOB)], source=source)


def test_descriptors_lead_to_payloads():
    """Size 0 is an empty value at position 0 and a null at position 1."""
    column = _column((128, 3), (0, 0), (1, 0), (131, 4))

    assert [b"pay", b"", None, b"load"] == scanned(column).to_pylist()
    assert [None, b"load", b"load"] == taken(column, 2, 3, 3)


def test_an_empty_payload_elsewhere_is_refused():
    """Positions other than 0 and 1 have a size."""
    with pytest.raises(CorruptPage, match=r"L\.array\.blob\.null"):
        scanned(_column((2, 0)))


@pytest.mark.parametrize("second", [128, 129])
def test_payloads_that_do_not_follow_each_other_are_refused(second):
    """They lie in the order of the rows, whatever lies between them."""
    with pytest.raises(CorruptPage, match=r"L\.array\.blob\.order"):
        scanned(_column((129, 3), (0, 0), (second, 2)))


@pytest.mark.parametrize("descriptor", [(133, 3), (2**63, 2), (0, 2**63)])
def test_a_payload_outside_the_file_is_refused(descriptor):
    """Payloads lie inside the file."""
    with pytest.raises(LanceError, match=r"L\.array\.blob\.payload"):
        scanned(_column(descriptor))


def test_the_column_encoding_agrees_with_the_field():
    """A blob column is one whose field says so, and the other way round."""
    page = Page(flat(8), 1, [b"a"])

    with pytest.raises(BadSchema, match=r"L\.array\.blob\.column"):
        open_built(FIELD, [Column([page])])
    with pytest.raises(BadSchema, match=r"L\.array\.blob\.column"):
        open_built(pa.int8(), [Column([page], BLOB)])


def test_out_of_range_is_what_a_payload_beyond_the_end_is():
    """The error names the extent."""
    with pytest.raises(OutOfRange) as told:
        scanned(_column((130, 100)))

    assert 130 == told.value.offset


def test_every_byte_has_one_owner_and_one_finding():
    """Descriptors are read twice by a check, and recorded once; so is what is wrong with them."""
    findings, spans = [], SpanRecorder()
    stored = words(128, 3, 1, 0)
    source = BytesSource(stored.ljust(128, b"H") + b"pay")
    one = Column([Page(ENCODING, 2, [stored])], BLOB)
    open_built(FIELD, [one], source=source, spans=spans, findings=findings).check()
    leaves = sorted((leaf.start, leaf.end) for leaf in spans.finish(131).leaves())
    short = Column([Page(ENCODING, 3, [stored])], BLOB)
    open_built(FIELD, [short], source=source, findings=findings).check()

    assert [(0, 32), (128, 131)] == leaves
    assert 1 == len(findings)
