"""Columns of every type that can be compared, with nulls and values at the ends."""

from __future__ import annotations

import datetime
import decimal
import random

import numpy as np
import pyarrow as pa


def columns(rows: int = 300, seed: int = 1) -> dict[str, pa.Array]:
    """Return columns by the name of their type; few distinct values, one in ten null."""
    source = random.Random(seed)

    def drawn(values, type_) -> pa.Array:
        chosen = [None if source.random() < 0.1 else source.choice(values) for _ in range(rows)]
        return pa.array(chosen, type_)

    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
    days = [day + datetime.timedelta(days=n) for n in range(-5, 5)]
    moments = [moment + datetime.timedelta(seconds=n) for n in range(-5, 5)]
    spans = [datetime.timedelta(seconds=n) for n in range(-5, 5)]
    times = [datetime.time(1, 2, n) for n in range(10)]
    money = [decimal.Decimal(n) / 4 for n in range(-5, 5)]
    words = ["", "a", "ab", "b", "ba", "é", "zz", "Ω"]
    floats = [float("-inf"), -1.5, -0.0, 0.0, 0.25, 2.0, float("inf"), float("nan")]
    return {
        "int8": drawn([-128, -1, 0, 5, 127], pa.int8()),
        "uint8": drawn([0, 5, 255], pa.uint8()),
        "int16": drawn([-300, 0, 5], pa.int16()),
        "uint16": drawn([0, 5, 65535], pa.uint16()),
        "int32": drawn([-9, 0, 5, 2**31 - 1], pa.int32()),
        "uint32": drawn([0, 5, 2**32 - 1], pa.uint32()),
        "int64": drawn([-(2**62), 0, 5, 2**63 - 1], pa.int64()),
        "uint64": drawn([0, 5, 2**64 - 1], pa.uint64()),
        "float16": drawn([np.float16(one) for one in floats], pa.float16()),
        "float32": drawn(floats, pa.float32()),
        "float64": drawn(floats, pa.float64()),
        "bool": drawn([False, True], pa.bool_()),
        "utf8": drawn(words, pa.utf8()),
        "large_utf8": drawn(words, pa.large_utf8()),
        "binary": drawn([word.encode() for word in words], pa.binary()),
        "large_binary": drawn([word.encode() for word in words], pa.large_binary()),
        "fixed": drawn([b"abc", b"abd", b"zzz"], pa.binary(3)),
        "date32": drawn(days, pa.date32()),
        "date64": drawn(days, pa.date64()),
        "time32": drawn(times, pa.time32("s")),
        "time64": drawn(times, pa.time64("us")),
        "timestamp": drawn(moments, pa.timestamp("us")),
        "zoned": drawn(moments, pa.timestamp("ms", "UTC")),
        "duration": drawn(spans, pa.duration("s")),
        "decimal128": drawn(money, pa.decimal128(10, 2)),
        "decimal256": drawn(money, pa.decimal256(40, 2)),
    }


def literal(value: pa.Scalar) -> str | None:
    """Return a value as it is written in SQL, None when it cannot be."""
    held, type_ = value.as_py(), value.type
    if pa.types.is_date(type_):
        return f"date '{held}'"
    if pa.types.is_timestamp(type_):
        return f"timestamp '{held.replace(tzinfo=None)}'"
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return f"X'{held.hex()}'"
    if pa.types.is_fixed_size_binary(type_):
        return f"X'{held.hex()}'"
    if isinstance(held, bool):
        return str(held).lower()
    if isinstance(held, str):
        return f"'{held}'"
    if isinstance(held, decimal.Decimal | int):
        return str(held) if isinstance(held, int) else f"cast('{held}' as decimal(10, 2))"
    if pa.types.is_floating(type_) and np.isfinite(held):
        return repr(float(held))
    return None


def conditions(name: str, values: pa.Array) -> list[str]:
    """Return conditions on a column that indices in order answer."""
    distinct = [one for one in values.unique() if one.is_valid]
    written = [text for text in map(literal, distinct) if text is not None]
    found = [f"{name} is null", f"{name} is not null"]
    for text in written:
        found += [f"{name} = {text}", f"{name} != {text}", f"not ({name} = {text})"]
        if not pa.types.is_boolean(values.type):
            found += [f"{name} {operator} {text}" for operator in ("<", "<=", ">", ">=")]
            found += [f"not ({name} < {text})"]
    if len(written) > 2:
        found += [
            f"{name} in ({', '.join(written[:2])})",
            f"{name} not in ({written[0]}, {written[2]})",
        ]
        found += [f"{name} between {written[0]} and {written[1]}"]
    return found
