"""Random strings: distributions that determine how strings are encoded.

Few distinct strings become a dictionary, long ones are not stored in chunks, similar ones are
compressed with a symbol table, and equal ones become a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pyarrow as pa

Words = Callable[[Random, int], list[str]]
"""Draws a number of strings."""

_SYLLABLES = ("lan", "ce", "vec", "tor", "é", "日本", "x", "_", "0", "data")


def _long(rng: Random, count: int) -> list[str]:
    size = max(1, min(count, 64))
    pool = [f"{i:04d}" * rng.randint(64, 150) for i in range(size)]
    return [f"{i}{pool[i % size]}" for i in range(count)]


STRING_PATTERNS: dict[str, Words] = {
    "equal": lambda rng, n: [rng.choice(("", "same", "a rather long constant string " * 4))] * n,
    "few distinct": lambda rng, n: rng.choices(
        [f"category-{i}" for i in range(rng.randint(2, 12))], k=n
    ),
    "short": lambda rng, n: [
        "".join(rng.choices(_SYLLABLES, k=rng.randint(0, 3))) for _ in range(n)
    ],
    "distinct": lambda rng, n: [f"{rng.choice(_SYLLABLES)}{i}" for i in range(n)],
    "similar": lambda rng, n: [
        f"https://example.org/{rng.choice(_SYLLABLES)}/item?id={i}" for i in range(n)
    ],
    "long": _long,
}
"""Distributions of strings by name."""

MAX_LONG = 600
"""Most rows of long strings, so that a table has only a few megabytes."""


def random_strings(rng: Random, type_: pa.DataType, count: int, labels: set[str]) -> pa.Array:
    """Draw strings or byte strings without nulls."""
    names = [name for name in STRING_PATTERNS if name != "long" or count <= MAX_LONG]
    name = rng.choice(names)
    labels.add(f"values {name}")
    bulk = Random(rng.getrandbits(32))  # too many draws for hypothesis
    words = STRING_PATTERNS[name](bulk, count)
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return pa.array([word.encode() + b"\xff\x00" for word in words], type_)
    return pa.array(words, type_)
