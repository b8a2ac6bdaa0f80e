"""Predicates: SQL text about the columns that a table has."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from lance_conformance.campaigns.histories.values import KEYS, WORDS
from lance_conformance.campaigns.histories.view import View


def predicate(random: Random, view: View) -> str:
    """Return a condition; most are true of some rows."""
    if random.random() < 0.06:
        return random.choice(("true", "false"))
    one = comparison(random, view)
    if random.random() < 0.25:
        return f"{one} {random.choice(('and', 'or'))} {comparison(random, view)}"
    return one


def comparison(random: Random, view: View) -> str:
    """Return one comparison; of 0.1 not with nulls (D.table.filter-single-value-batch-0-1)."""
    nulls = view.found.data_storage_version != "0.1"
    fields = [
        field
        for field in view.schema
        if _kind(field.type) is not None and (nulls or not field.nullable)
    ]
    if not fields:
        return "true"
    field = random.choice(fields)
    key = None if view.key is None else view.schema.field(view.key)
    if key is not None and key in fields and random.random() < 0.5:
        field = key
    if random.random() < 0.1:
        return f"{field.name} is {random.choice(('', 'not '))}null"
    if _kind(field.type) == "text":
        return f"{field.name} = '{random.choice(WORDS)}'"
    if _kind(field.type) == "truth":
        return random.choice((field.name, f"not {field.name}"))
    first = random.randrange(KEYS)
    return random.choice(
        (
            f"{field.name} % {random.randrange(2, 7)} = {random.randrange(2)}",
            f"{field.name} between {first} and {first + random.randrange(20)}",
            f"{field.name} in ({first}, {random.randrange(KEYS)}, {random.randrange(KEYS)})",
            f"{field.name} {random.choice(('<', '>=', '!='))} {first}",
        )
    )


def _kind(kind: pa.DataType) -> str | None:
    if pa.types.is_integer(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return "truth" if pa.types.is_boolean(kind) else None
