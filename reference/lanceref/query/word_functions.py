"""Functions of queries over words: what text is made of, whatever stands between.

A word is a run of letters and digits of any script, as it is written.

Divergences: D.query.contains-tokens-nothing
"""

from __future__ import annotations

import pyarrow as pa

from lanceref.index.full_text.tokenizers import simple
from lanceref.query.casts import Datum


def contains_tokens(text: Datum, wanted: Datum) -> Datum:
    """Return whether text has every word of another; null where one of them is null."""
    sides = [one if isinstance(one, pa.Scalar) else _array(one) for one in (text, wanted)]
    rows = max([len(one) for one in sides if not isinstance(one, pa.Scalar)], default=1)
    texts, others = (_words(one, rows) for one in sides)
    found = [
        None if one is None or other is None else other <= one
        for one, other in zip(texts, others, strict=True)
    ]
    is_constant = all(isinstance(one, pa.Scalar) for one in sides)
    return pa.scalar(found[0], pa.bool_()) if is_constant else pa.array(found, pa.bool_())


def _array(held: Datum) -> pa.Array:
    return held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held


def _words(held: Datum, rows: int) -> list[frozenset[str] | None]:
    """Return the words of each row; other values count as their text."""
    if isinstance(held, pa.Scalar):
        return [_words_of(held.cast(pa.utf8()).as_py())] * rows
    return [_words_of(one) for one in held.cast(pa.utf8()).to_pylist()]


def _words_of(text: str | None) -> frozenset[str] | None:
    return None if text is None else frozenset(simple(text)[0])
