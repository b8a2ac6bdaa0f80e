"""Knobs: field metadata that tells a writer how to store a column.

The keys start with `lance-encoding:`. Which of them a writer takes depends on the file version and
on the type; only combinations it accepts are drawn.
"""

from __future__ import annotations

from random import Random

import pyarrow as pa
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3, FileVersion

from lanceref_testing.types import NUMBERS, STRINGS, children

PREFIX = "lance-encoding:"
"""Head of every key."""


def random_knobs(rng: Random, type_: pa.DataType, version: FileVersion) -> dict[str, str]:
    """Draw the metadata of a top-level field of this type; mostly none."""
    if rng.random() < 0.5:
        return {}
    knobs = {}
    if type_ in STRINGS:
        coded = ["fsst", "fsst"] if version > V2_0 or type_ == pa.string() else []
        knobs["compression"] = rng.choice(["zstd", "lz4", "none", *coded])
    if version > V2_0:
        knobs |= _layout_knobs(rng, type_, version)
        if pa.types.is_integer(type_) or pa.types.is_floating(type_):
            knobs |= _number_knobs(rng, version)
    return {PREFIX + key: value for key, value in knobs.items()}


def _number_knobs(rng: Random, version: FileVersion) -> dict[str, str]:
    knobs = {
        "compression": rng.choice(("zstd", "lz4", "none")),
        "bss": rng.choice(("off", "on", "auto")),
        "rle-threshold": rng.choice(("0.05", "0.5", "1.0")),
    }
    if version >= V2_2:
        knobs["dict-size-ratio"] = rng.choice(("0.0001", "0.8", "1.0"))
    return {key: value for key, value in knobs.items() if rng.random() < 0.6}


def _layout_knobs(rng: Random, type_: pa.DataType, version: FileVersion) -> dict[str, str]:
    layouts = ["sparse", "sparse"] if version >= V2_3 else []
    if not children(type_) and not pa.types.is_fixed_size_list(type_) and rng.random() < 0.4:
        layouts += ["miniblock", "fullzip"]
    if pa.types.is_fixed_size_list(type_) and type_.value_type in NUMBERS:
        layouts.append("fullzip")
    return {"structural-encoding": rng.choice(layouts)} if layouts else {}


def packed_struct(rng: Random, version: FileVersion) -> pa.DataType:
    """Draw the type of a struct that can be stored packed (metadata `packed`)."""
    pool = [pa.int8(), pa.int16(), pa.uint32(), pa.int64(), pa.float32(), pa.float64()]
    if version == V2_0 or version >= V2_2:
        pool.append(pa.list_(pa.float32(), 3))
    if version >= V2_2:
        pool.append(pa.string())
    count = rng.randint(1, 4)
    return pa.struct(
        [pa.field(f"p{i}", rng.choice(pool), nullable=version == V2_1) for i in range(count)]
    )
