"""Sums that signs choose, looked up byte by byte, of many rows in pairs of bytes.

The specification is `kernels.rabitq_estimate.sign_sums`.
"""

from __future__ import annotations

import numpy as np

from lanceref.core.plain import replaces
from lanceref.kernels import rabitq_estimate
from lanceref.kernels.distance import Floats
from lanceref.kernels.product_quantizer import bytewise, look_up
from lanceref.kernels.rabitq_estimate import STEPS, Signs, four_sums, step_size


@replaces(rabitq_estimate.sign_sums)
def sign_sums(rotated: Floats, signs: Signs, steps: int = STEPS) -> Floats:
    """Return for rows of signs the sums [n] of the components [d] whose sign is 1."""
    table = four_sums(rotated)
    low, size = table.min(), step_size(table, steps)
    if size is None:
        return look_up(bytewise(table), signs.columns)
    whole = np.rint((table - low) * (np.float32(steps) / (table.max() - low)))
    full = signs.full.shape[1]
    sums = np.empty(signs.columns.shape[1], np.float32)
    if steps * len(table) < 2**16:  # half the bytes to move
        counted = look_up(bytewise(whole.astype(np.uint16)), signs.full)
        np.multiply(counted, size, out=sums[:full], dtype=np.float32)
    else:
        sums[:full] = look_up(bytewise(whole.astype(np.int32)), signs.full)
        sums[:full] *= size
    sums[:full] += np.float32(len(table)) * low
    sums[full:] = look_up(bytewise(table), signs.columns[:, full:])
    return sums
