"""Signatures: numbers that texts with much in common share, and the parameters they depend on.

The tokens of a text are taken so many at a time, a shingle, each beginning a token further; a
shorter text is one shingle, one without tokens none. Each number of a signature is the least of a
hash over all shingles: the share of numbers that two texts have in common is about that of their
shingles. A band is a hash of some of the numbers: texts with an equal band are compared.

Layout: a shingle is its tokens with 1F between; x = XXH64 of that, seed 42. A generator
(SplitMix64, state 42) gives a and b of each number in turn, then c of each; a and c are made odd.
A number is the upper 16 bits of c * min(a * x + b); all modulo 2**64. The key of band j is j << 56
with the lower 56 bits of the XXH64, seed 42, of its numbers (u16, little-endian). Parameters are a
`MinHashLshIndexDetails`; its tokenizer is that of full text.

Clauses: L.index.minhash.signature, L.index.minhash.band-key, L.index.minhash.details
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified
from lanceref.core.errors import FormatError, OperationRefused, Place, UnknownVersion
from lanceref.index.bloom import MOST_BYTES, Hashes, hash_rows, hash_slices
from lanceref.index.full_text.analyzer import Analyzer, filtered_tokens
from lanceref.index.full_text.packed_integers import Counts, offsets_of, ranges
from lanceref.index.full_text.parameters import (
    Analysis,
    Settings,
    parse_analysis,
    requested,
    shown_analysis,
)
from lanceref.kernels.hnsw_graph import splitmix
from lanceref.proto import index_pb2

DETAILS = "L.index.minhash.details"
MOST_HASHES = 4096
MOST_BANDS = 256
SIGNATURE_VERSION = 0


@dataclass(frozen=True, slots=True)
class MinHashParameters:
    """Numbers of a signature, bands that they are divided into, tokens of a shingle."""

    num_hashes: int = 128
    num_bands: int = 16
    shingle_size: int = 3
    analysis: Analysis = Analysis(stem=False, remove_stop_words=False)  # noqa: RUF009

    @property
    def fault(self) -> str | None:
        """The rule that the numbers break, None when they break none."""
        hashes, bands = self.num_hashes, self.num_bands
        if not 1 <= hashes <= MOST_HASHES:
            return f"requires 1 <= num_hashes <= {MOST_HASHES}, got num_hashes={hashes}"
        if not 1 <= bands <= MOST_BANDS:
            return f"requires 1 <= num_bands <= {MOST_BANDS}, got num_bands={bands}"
        if hashes % bands:
            numbers = f"num_hashes={hashes} num_bands={bands}"
            return f"requires num_hashes to be a multiple of num_bands, got {numbers}"
        return None if self.shingle_size > 0 else "requires shingle_size > 0"

    @property
    def details(self) -> index_pb2.MinHashLshIndexDetails:
        """The details that the index's entry in the manifest holds."""
        return index_pb2.MinHashLshIndexDetails(
            num_hashes=self.num_hashes,
            num_bands=self.num_bands,
            shingle_size=self.shingle_size,
            tokenizer=Settings(self.analysis).details,
        )


def requested_parameters(parameters: Mapping[str, object]) -> MinHashParameters:
    """Return the parameters that a caller gives. Raises OperationRefused."""
    types = {"num_hashes": int, "num_bands": int, "shingle_size": int, "tokenizer": Mapping}
    for name, value in parameters.items():
        if name not in types:
            raise OperationRefused(f"invalid MinHash LSH index params: unknown field `{name}`")
        if not isinstance(value, types[name]) or isinstance(value, bool):
            raise OperationRefused(f"invalid MinHash LSH index params: {name} is {value!r}")
    own = dict(parameters)
    tokenizer = own.pop("tokenizer", {})
    assert isinstance(tokenizer, Mapping)
    result = MinHashParameters(**own, analysis=_analysis(tokenizer))  # type: ignore[arg-type]
    if result.fault is not None:
        raise OperationRefused(f"MinHash LSH index {result.fault}")
    return result


def _analysis(request: Mapping[str, object]) -> Analysis:
    """Return the tokenizer asked for. Raises OperationRefused."""
    for name in ("lance_tokenizer", "custom_stop_words"):
        if request.get(name) is not None:
            raise OperationRefused(f"MinHash LSH index details: {name} not recorded")
    names = Analysis().as_dict()
    known = {name: value for name, value in request.items() if name in names and value is not None}
    if "max_token_length" in request:
        known["max_token_length"] = request["max_token_length"]
    own = {"stem": False, "remove_stop_words": False, **known}
    try:
        return requested(own, json_documents=False).analysis
    except (TypeError, ValueError) as error:
        raise OperationRefused(f"invalid MinHash LSH tokenizer params: {error}") from error


def parse_parameters(details: index_pb2.MinHashLshIndexDetails, place: Place) -> MinHashParameters:
    """Return the parameters that details state. Raises FormatError, UnknownVersion."""
    if details.signature_version > SIGNATURE_VERSION:
        found = f"signature version {details.signature_version}"
        raise UnknownVersion(DETAILS, place, found, f"at most {SIGNATURE_VERSION}")
    numbers = details.num_hashes, details.num_bands, details.shingle_size
    tokenizer = {**shown_analysis(details.tokenizer, place, DETAILS), "lance_tokenizer": "text"}
    parameters = MinHashParameters(*numbers, parse_analysis(json.dumps(tokenizer), place))
    if parameters.fault is not None:
        raise FormatError(DETAILS, place, f"{details}", f"what it {parameters.fault}")
    return parameters


SEED = 42
SEPARATOR = "\x1f"
BAND_BITS = np.uint64(56)
LOW = np.uint64(2**56 - 1)
RUN_TEXTS, BLOCK_TEXTS = 1 << 12, 1 << 8
"""Texts whose words are found together, and those that are signed together."""

U64 = np.uint64(2**64 - 1)

Signatures = NDArray[np.uint16]


@lru_cache(maxsize=8)
def constants(count: int) -> tuple[Hashes, Hashes, Hashes]:
    """Return a, b and c of so many numbers. Each is (count,)."""
    words = np.fromiter(islice(splitmix(SEED), 3 * count), np.uint64, 3 * count)
    odd = words | np.uint64(1)
    return odd[: 2 * count : 2], words[1 : 2 * count : 2], odd[2 * count :]


def shingles(
    tokens: Sequence[str], counts: Counts, size: int
) -> tuple[NDArray[np.uint8], Counts, Counts, Counts]:
    """Return the runs of `size` tokens of each text, as pieces of the bytes of all tokens.

    The bytes (n,), where each shingle starts and how long it is (shingles,), and how many a text
    has. `counts` are the tokens of each text; they and the last result (texts,).
    """
    joined = SEPARATOR.join(tokens)
    data = joined.encode("utf-8", "surrogatepass")
    parts = tokens if joined.isascii() else [one.encode("utf-8", "surrogatepass") for one in tokens]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    starts, ends = offsets_of(lengths + 1)[:-1], offsets_of(counts)
    numbers = np.where(counts > 0, np.maximum(counts - size + 1, 1), 0)
    first = ranges(ends[:-1], numbers)
    last = np.minimum(first + size, np.repeat(ends[1:], numbers)) - 1
    sizes = starts[last] + lengths[last] - starts[first]
    return np.frombuffer(data, np.uint8), starts[first], sizes, numbers


class Signer:
    """Computes the MinHash signatures of texts for one set of parameters."""

    def __init__(self, parameters: MinHashParameters) -> None:
        self._parameters = parameters
        self._analyzer = Analyzer(parameters.analysis)

    def sign(self, texts: Sequence[str | None]) -> tuple[NDArray[np.int64], Signatures]:
        """Return the texts that have a token, by number, and their signatures [texts, hashes]."""
        known = np.array([number for number, text in enumerate(texts) if text is not None], int)
        num_hashes = self._parameters.num_hashes
        numbers, parts = [known[:0]], [np.empty((0, num_hashes), np.uint16)]
        for first in range(0, len(known), RUN_TEXTS):
            run = known[first : first + RUN_TEXTS]
            hashes, counts = self._hashed([texts[number] or "" for number in run.tolist()])
            numbers.append(run[counts > 0])
            parts.append(signed(hashes, counts[counts > 0], num_hashes))
        return np.concatenate(numbers), np.concatenate(parts)

    def _hashed(self, texts: Sequence[str]) -> tuple[Hashes, Counts]:
        """Return the hashes of the shingles of all texts, and how many each text has: (texts,)."""
        forms, counts, _ = self._analyzer.forms(texts)
        tokens, counts, _ = filtered_tokens(forms, counts)
        data, starts, sizes, numbers = shingles(tokens, counts, self._parameters.shingle_size)
        return hash_slices(data, starts, sizes, SEED), numbers


@specified
def signed(hashes: Hashes, counts: Counts, num_hashes: int) -> Signatures:
    """Return the signatures [texts, hashes] of texts, each of so many of the hashes (texts,).

    Texts with most shingles come first, so that those that have a further one are at the front.
    """
    first, second, last = constants(num_hashes)
    starts, order = offsets_of(counts)[:-1], np.argsort(-counts, kind="stable")
    numbers = np.empty((len(counts), num_hashes), np.uint16)
    for block in range(0, len(order), BLOCK_TEXTS):
        own = order[block : block + BLOCK_TEXTS]
        least = np.full((len(own), num_hashes), U64, np.uint64)
        for number in range(int(counts[own[0]])):
            front = own[counts[own] > number]
            products = hashes[starts[front] + number, np.newaxis] * first
            products += second
            np.minimum(least[: len(front)], products, out=least[: len(front)])
        numbers[own] = (last * least) >> np.uint64(48)  # L.index.minhash.signature
    return numbers


def band_keys(signatures: Signatures, num_bands: int) -> Hashes:
    """Return the key of every band of signatures: [signatures, bands]."""
    count, num_hashes = signatures.shape
    width = 2 * num_hashes // num_bands
    data = np.ascontiguousarray(signatures, "<u2").view(np.uint8).reshape(-1, width)
    if width <= MOST_BYTES:
        hashes = hash_rows(data, SEED)
    else:
        starts = np.arange(0, data.size, width)
        hashes = hash_slices(data.reshape(-1), starts, np.full(len(data), width), SEED)
    keys = hashes.reshape(count, num_bands) & LOW
    return keys | np.arange(num_bands, dtype=np.uint64) << BAND_BITS
