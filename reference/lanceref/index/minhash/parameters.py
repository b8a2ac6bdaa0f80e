"""Parameters of a MINHASHLSH index: how text becomes a signature, and that bands.

Layout: `MinHashLshIndexDetails`, in the entry of the index and in hexadecimal digits in the
metadata of both files. The tokenizer is said as for full text.

Clauses: L.index.minhash.details
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadProto, FormatError, OperationRefused, Place, UnknownVersion
from lanceref.core.wire import parse_message
from lanceref.index.full_text.details import shown_analysis
from lanceref.index.full_text.parameters import Analysis, Settings, parse_analysis, requested
from lanceref.index.segment import Segment
from lanceref.proto import index_details_pb2, index_pb2

MOST_HASHES = 4096
MOST_BANDS = 256
SIGNATURE_VERSION = 0

_WITHOUT = {"stem": False, "remove_stop_words": False}
"""How the tokenizer differs from that of full text unless it is told to be as it."""


@dataclass(frozen=True, slots=True)
class MinHashParameters:
    """Numbers of a signature, bands that they are divided into, tokens of a shingle."""

    num_hashes: int = 128
    num_bands: int = 16
    shingle_size: int = 3
    analysis: Analysis = Analysis(stem=False, remove_stop_words=False)  # noqa: RUF009

    @property
    def band_hashes(self) -> int:
        """Numbers of a band."""
        return self.num_hashes // self.num_bands

    @property
    def fault(self) -> str | None:
        """What is wrong with the numbers, None when nothing is."""
        if not 1 <= self.num_hashes <= MOST_HASHES:
            return f"requires 1 <= num_hashes <= {MOST_HASHES}, got num_hashes={self.num_hashes}"
        if not 1 <= self.num_bands <= MOST_BANDS:
            return f"requires 1 <= num_bands <= {MOST_BANDS}, got num_bands={self.num_bands}"
        if self.num_hashes % self.num_bands:
            return (
                "requires num_hashes to be a multiple of num_bands, got "
                f"num_hashes={self.num_hashes} num_bands={self.num_bands}"
            )
        return None if self.shingle_size > 0 else "requires shingle_size > 0"

    @property
    def details(self) -> index_pb2.MinHashLshIndexDetails:
        """The details of the index's entry."""
        return index_pb2.MinHashLshIndexDetails(
            num_hashes=self.num_hashes,
            num_bands=self.num_bands,
            shingle_size=self.shingle_size,
            tokenizer=Settings(self.analysis).details,
        )


def requested_parameters(given: Mapping[str, object]) -> MinHashParameters:
    """Return what a caller asks for. Raises OperationRefused."""
    numbers = ("num_hashes", "num_bands", "shingle_size")
    for name, value in given.items():
        if name not in (*numbers, "tokenizer"):
            raise OperationRefused(
                f"invalid MinHash LSH index params: unknown field `{name}`, expected one of "
                "`num_hashes`, `num_bands`, `shingle_size`, `tokenizer`"
            )
        wanted = Mapping if name == "tokenizer" else int
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise OperationRefused(f"invalid MinHash LSH index params: {name} is {value!r}")
    own = {name: value for name, value in given.items() if name in numbers}
    tokenizer = given.get("tokenizer", {})
    assert isinstance(tokenizer, Mapping)
    found = MinHashParameters(**own, analysis=_analysis(tokenizer))  # type: ignore[arg-type]
    if found.fault is not None:
        raise OperationRefused(f"MinHash LSH index {found.fault}")
    return found


def _analysis(given: Mapping[str, object]) -> Analysis:
    """Return the tokenizer asked for. Raises OperationRefused."""
    for name in ("lance_tokenizer", "custom_stop_words"):
        if given.get(name) is not None:
            raise OperationRefused(
                "MinHash LSH index cannot identify its tokenizer from the index details: "
                f"{name} not recorded"
            )
    names = Analysis().as_dict()
    known = {name: value for name, value in given.items() if name in names and value is not None}
    if "max_token_length" in given:
        known["max_token_length"] = given["max_token_length"]
    try:
        return requested({**_WITHOUT, **known}, json_documents=False).analysis
    except (TypeError, ValueError) as error:
        raise OperationRefused(f"invalid MinHash LSH tokenizer params: {error}") from error


def parse_parameters(details: index_pb2.MinHashLshIndexDetails, place: Place) -> MinHashParameters:
    """Return the parameters that details state. Raises FormatError, UnknownVersion."""
    if details.signature_version > SIGNATURE_VERSION:
        raise UnknownVersion(
            "L.index.minhash.details",
            place,
            found=f"signature version {details.signature_version}",
            wanted=f"at most {SIGNATURE_VERSION}",
        )
    found = MinHashParameters(
        details.num_hashes,
        details.num_bands,
        details.shingle_size,
        _parsed_analysis(details.tokenizer, place),
    )
    if found.fault is not None:
        raise FormatError(
            "L.index.minhash.details", place, found=f"{details}", wanted=f"what it {found.fault}"
        )
    return found


def _parsed_analysis(details: index_details_pb2.InvertedIndexDetails, place: Place) -> Analysis:
    """Return the tokenizer that details state. Raises FormatError."""
    try:
        language = json.loads(details.language)
    except (ValueError, RecursionError) as error:
        raise BadProto(
            "L.index.minhash.details", place, found=details.language[:40], wanted="a JSON text"
        ) from error
    longest = details.max_token_length if details.HasField("max_token_length") else None
    found = {
        "lance_tokenizer": "text",
        "base_tokenizer": details.base_tokenizer or "simple",
        "language": language,
        "with_position": details.with_position,
        "max_token_length": longest,
        "lower_case": details.lower_case,
        "stem": details.stem,
        "remove_stop_words": details.remove_stop_words,
        "ascii_folding": details.ascii_folding,
        "min_ngram_length": details.min_ngram_length,
        "max_ngram_length": details.max_ngram_length,
        "prefix_only": details.prefix_only,
        "block_size": details.block_size,
    }
    return parse_analysis(json.dumps(found), place)


def describe_minhash(segment: Segment) -> tuple[str, dict[str, object]]:
    """Return the name and the details as lists have them. Raises BadProto."""
    data = memoryview(segment.entry.index_details.value)
    kind = index_pb2.MinHashLshIndexDetails
    cursor = Cursor(data, 0, segment.ctx)
    found = parse_message(cursor, kind, "details", "L.index.minhash.details")
    return "MinHashLsh", {
        "num_hashes": found.num_hashes,
        "num_bands": found.num_bands,
        "shingle_size": found.shingle_size,
        "tokenizer": shown_analysis(found.tokenizer, segment.place),
        "signature_version": found.signature_version,
    }
