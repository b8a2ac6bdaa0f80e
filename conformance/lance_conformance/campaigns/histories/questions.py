"""Questions: what the indices of a table are asked, drawn for the columns they are over."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa

from lance_conformance.campaigns.histories.index_rules import is_text
from lance_conformance.campaigns.histories.values import KEYS, TOKENS, WORDS
from lance_conformance.campaigns.histories.view import View

Question = dict[str, Any]
"""Arguments of `to_table`."""

EACH = 3
"""Questions to each index after each step."""


def questions(random: Random, view: View) -> Iterator[Question]:
    """Yield questions to every index of a table: filters on its column, or texts to be found."""
    indices = view.indices
    for _, path, kind in indices:
        for _ in range(EACH):
            if kind == "INVERTED":
                yield {"full_text_query": _full_text(random, path)}
                continue
            condition = denied(random, _condition(random, path, view.type_of(path)))
            others = [one for _, one, other_kind in indices if one != path]
            if others and random.random() < 0.3:
                other = random.choice(others)
                second = denied(random, _condition(random, other, view.type_of(other)))
                condition = f"({condition}) {random.choice(('and', 'or'))} ({second})"
            yield {"filter": condition}


def denied(random: Random, condition: str) -> str:
    """Return a condition or, sometimes, its opposite."""
    return f"not ({condition})" if random.random() < 0.2 else condition


def _full_text(random: Random, path: str) -> Question:
    words = random.choices(TOKENS, k=random.choice((1, 1, 2)))
    return {"query": " ".join(words), "columns": [path]}


def _condition(random: Random, path: str, kind: pa.DataType) -> str:
    if random.random() < 0.1:
        return f"{path} is {random.choice(('', 'not '))}null"
    if pa.types.is_list(kind):
        return _of_list(random, path, kind.value_type)
    if is_text(kind) and random.random() < 0.5:
        return _of_text(random, path)
    if pa.types.is_boolean(kind):
        return random.choice((path, f"{path} = true", f"{path} = false"))
    first, second, third = (literal(random, kind) for _ in range(3))
    return random.choice(
        (
            f"{path} = {first}",
            f"{path} {random.choice(('<', '<=', '>', '>=', '!='))} {first}",
            f"{path} between {first} and {second}",
            f"{path} {random.choice(('', 'not '))}in ({first}, {second}, {third})",
        )
    )


def _of_text(random: Random, path: str) -> str:
    word = random.choice((*WORDS[1:4], *TOKENS))
    return random.choice(
        (f"contains({path}, '{word}')", f"starts_with({path}, '{word}')", f"{path} like '{word}%'")
    )


def _of_list(random: Random, path: str, kind: pa.DataType) -> str:
    one, other = literal(random, kind), literal(random, kind)
    if random.random() < 0.1:
        other = "null"
    given = random.choice((f"[{one}]", f"[{one}, {other}]"))
    return random.choice(
        (
            f"array_has({path}, {one})",
            f"array_has_any({path}, {given})",
            f"array_has_all({path}, {given})",
        )
    )


def literal(random: Random, kind: pa.DataType) -> str:
    """Return the text of a value that rows of a column may have."""
    if is_text(kind):
        return repr(random.choice((*WORDS, *TOKENS)))
    if pa.types.is_date(kind):
        return f"date '19{random.randrange(70, 98)}-0{random.randrange(1, 10)}-15'"
    if pa.types.is_floating(kind):
        return str(random.randrange(100) / 4)
    return str(random.randrange(KEYS))
