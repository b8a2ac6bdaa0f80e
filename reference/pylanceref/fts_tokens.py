"""FTS tokens: the words that a full-text query asks for, without a table (face).

Has the names of pylance's `lance.tokenize`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.index.full_text.analyzer import Analyzer
from lanceref.index.full_text.parameters import Analysis, requested

from pylanceref.signatures import parameters

NOT_SHARED = {"with_position", "block_size", "lance_tokenizer", "max_token_length"}
"""Parameters of an index that are not about tokens, or whose absence means something else."""

LONGEST = Analysis().max_token_length
"""From how many bytes on a token is dropped, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class FtsToken:
    """A token, and its place after the first one that is kept."""

    text: str
    position: int

    def __repr__(self) -> str:
        return f'FtsToken(text="{self.text}", position={self.position})'


@parameters(
    "query * analyzer base_tokenizer language max_token_length lower_case stem remove_stop_words "
    "custom_stop_words ascii_folding min_ngram_length max_ngram_length prefix_only "
    "split_identifiers split_on_numerics preserve_original index_operators"
)
def tokenize(
    query: str, *, max_token_length: int | None = LONGEST, **options: object
) -> list[FtsToken]:
    """Return the tokens of a query; `options` are those of a full-text index, None a default.

    Tokens are as short as `max_token_length` says, or of any length. Raises TypeError, ValueError.
    """
    if not isinstance(query, str):
        raise TypeError(f"'{type(query).__name__}' object is no query")
    names = {"analyzer", *Analysis.__annotations__} - NOT_SHARED
    if unknown := options.keys() - names:
        raise TypeError(f"tokenize() got an unexpected keyword argument '{min(unknown)}'")
    given = {name: value for name, value in options.items() if value is not None}
    given["max_token_length"] = max_token_length
    found = Analyzer(requested(given, json_documents=False).analysis).tokens(query)
    first = found[0][1] if found else 0
    return [FtsToken(text, at - first) for text, at in found]
