"""Parameters: what field metadata and environment ask of an encoder.

A writer stores each column as its values suggest, unless the field says otherwise. The keys start
with `lance-encoding:`; some have a default in the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

PREFIX = "lance-encoding:"
"""Head of every key."""


@dataclass(frozen=True, slots=True)
class Params:
    """The knobs of one field; None where neither field nor environment says anything."""

    compression: str | None = None
    compression_level: int | None = None
    rle_threshold: float | None = None
    bss: str | None = None
    minichunk_size: int | None = None
    dict_divisor: int = 2
    dict_size_ratio: float = 0.8
    dict_too_small: int = 100
    dict_max_cardinality: int = 100_000
    dict_values_compression: str | None = None
    dict_values_compression_level: int | None = None
    structural_encoding: str | None = None


def params_of(metadata: Mapping[str, str]) -> Params:
    """Return the knobs of a field. Raises ValueError for a size ratio outside (0, 1]."""
    ratio = _float(metadata, "dict-size-ratio") or _environment("DICT_SIZE_RATIO", 0.8)
    if not 0 < ratio <= 1:
        raise ValueError(f"dict-size-ratio is {ratio}, which is not in the range (0, 1]")
    chunk = os.environ.get("LANCE_BINARY_MINIBLOCK_CHUNK_SIZE")
    values = os.environ.get("LANCE_ENCODING_DICT_VALUES_COMPRESSION")
    level = os.environ.get("LANCE_ENCODING_DICT_VALUES_COMPRESSION_LEVEL")
    return Params(
        compression=metadata.get(f"{PREFIX}compression"),
        compression_level=_int(metadata, "compression-level"),
        rle_threshold=_float(metadata, "rle-threshold"),
        bss=metadata.get(f"{PREFIX}bss"),
        minichunk_size=_int(metadata, "minichunk-size") or (int(chunk) if chunk else None),
        dict_divisor=_int(metadata, "dict-divisor") or int(_environment("DICT_DIVISOR", 2)),
        dict_size_ratio=ratio,
        dict_too_small=int(_environment("DICT_TOO_SMALL", 100)),
        dict_max_cardinality=int(_environment("DICT_MAX_CARDINALITY", 100_000)),
        dict_values_compression=metadata.get(f"{PREFIX}dict-values-compression", values),
        dict_values_compression_level=_int(metadata, "dict-values-compression-level")
        or (int(level) if level else None),
        structural_encoding=metadata.get(f"{PREFIX}structural-encoding"),
    )


def _int(metadata: Mapping[str, str], key: str) -> int | None:
    number = _float(metadata, key)
    return None if number is None else int(number)


def _float(metadata: Mapping[str, str], key: str) -> float | None:
    """Return a number; text that is none counts as not said."""
    try:
        return float(metadata[PREFIX + key])
    except (KeyError, ValueError):
        return None


def _environment(name: str, default: float) -> float:
    return float(os.environ.get(f"LANCE_ENCODING_{name}", default))
