"""Encoding metadata: field metadata that selects the encoding of a column.

The keys start with `lance-encoding:`. Only combinations are drawn that writers accept for the file
version and the type.
"""

from __future__ import annotations

from random import Random

import pyarrow as pa
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3, FileVersion

from lanceref_testing.types import NUMBERS, STRINGS, children

PREFIX = "lance-encoding:"
"""Prefix of every key."""


def random_metadata(rng: Random, type_: pa.DataType, version: FileVersion) -> dict[str, str]:
    """Draw the metadata of a top-level field of this type; mostly none."""
    if rng.random() < 0.5:
        return {}
    options = {}
    if type_ in STRINGS:
        coded = ["fsst", "fsst"] if version > V2_0 or type_ == pa.string() else []
        options["compression"] = rng.choice(["zstd", "lz4", "none", *coded])
    if version > V2_0:
        options |= _layout_options(rng, type_, version)
        if pa.types.is_integer(type_) or pa.types.is_floating(type_):
            options |= _number_options(rng, version)
    return {PREFIX + key: value for key, value in options.items()}


def _number_options(rng: Random, version: FileVersion) -> dict[str, str]:
    options = {
        "compression": rng.choice(("zstd", "lz4", "none")),
        "bss": rng.choice(("off", "on", "auto")),
        "rle-threshold": rng.choice(("0.05", "0.5", "1.0")),
    }
    if version >= V2_2:
        options["dict-size-ratio"] = rng.choice(("0.0001", "0.8", "1.0"))
    return {key: value for key, value in options.items() if rng.random() < 0.6}


def _layout_options(rng: Random, type_: pa.DataType, version: FileVersion) -> dict[str, str]:
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
