"""CRC-32C."""

import numpy as np
import pytest
from lanceref.core.crc32c import LONG_BYTES, crc32c


def test_worked_examples():
    """The check value of the polynomial's register, and what RFC 3720 gives for 32 zeros."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"") == 0


@pytest.mark.parametrize("size", [LONG_BYTES, LONG_BYTES + 1, 10_007])
def test_rows_side_by_side_are_one_remainder(size):
    """Of long data as octet by octet, which is done here bit by bit; of its views too."""
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)

    assert crc32c(data) == crc ^ 0xFFFFFFFF == crc32c(memoryview(data))
