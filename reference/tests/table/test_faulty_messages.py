"""Faulty messages of a table: read or refused, whatever their fields hold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

import numpy as np
import pytest
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.proto.rowids_pb2 import RowDatasetVersionSequence, RowIdSequence
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource
from lanceref.table.lineage import decode_row_ids, decode_versions
from lanceref.transactions.transaction import open_transaction
from lanceref_testing.faulty_messages import change_some
from pylanceref.history import summary_of

from tests.table.manifests import WORKED, footer, parse, section

CTX = Context("m.manifest")
PLACE = CTX.at(76, 121)

IDS = RowIdSequence()
IDS.segments.add().range.end = 3

VERSIONS = RowDatasetVersionSequence()
VERSIONS.runs.add(version=2).span.range.end = 3

MESSAGES: dict[str, tuple[Message, Callable[[bytes], object]]] = {
    "manifest": (parse(WORKED).message, lambda data: summary_of(parse(section(data) + footer(0)))),
    "transaction": (
        Transaction(read_version=1, uuid="u", append=Transaction.Append()),
        lambda data: open_transaction(BytesSource(data, "1-u.txn"), Context("1-u.txn")),
    ),
    "row ids": (IDS, lambda data: decode_row_ids(data, 3, CTX, PLACE).at(np.arange(3))),
    "row versions": (VERSIONS, lambda data: decode_versions(data, 3, CTX, PLACE).at(np.arange(3))),
}
"""A message of each type, and what reads its bytes."""


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", MESSAGES)
def test_faulty_messages_are_read_or_refused(name, seed):
    """Any values, very many items and unknown fields raise nothing but errors of the library."""
    model, read = MESSAGES[name]
    read(model.SerializeToString())
    message = type(model).FromString(model.SerializeToString())
    change_some(message, Random(seed))
    with suppress(LanceError):
        read(message.SerializeToString())
