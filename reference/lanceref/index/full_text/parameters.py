"""Parameters of a full-text index: how text becomes tokens, and how postings are stored.

Stored twice: as JSON in the metadata of `metadata.lance`, which readers go by, and in the details
of the index.

Clauses: L.index.fts.params, L.index.fts.format-version, L.index.fts.block-size

Document granularity: what of a row is one document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum

import pyarrow as pa

from lanceref.core.errors import FormatError, Place, UnknownIndex, UnknownVersion
from lanceref.index.full_text.posting_blocks import LARGE, SMALL, BlockLayout
from lanceref.index.full_text.stop_words import LANGUAGES
from lanceref.index.full_text.tokenizers import NAMES, is_known
from lanceref.proto import index_details_pb2

NO_LIST = (
    "Invalid user input: FTS field path '{}' has no List layer and cannot use ListElement document "
    "granularity"
)


class DocumentGranularity(str, Enum):  # noqa: UP042 - as pylance has it
    """Whether a row is a document, or each element of its list."""

    ROW = "row"
    LIST_ELEMENT = "list_element"

    @property
    def shown(self) -> str:
        """The name as users are told it."""
        return "Row" if self is DocumentGranularity.ROW else "ListElement"


def is_list(type_: pa.DataType) -> bool:
    """Whether the values of a column have elements."""
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


FORMATS = (1, 2, 3)
DEFAULT_FORMAT = 2

VARINTS = "varint_delta_v1"
"""Codec of the last blocks of all formats but 1; where 2 came up, it was all that told it."""

FORMAT_VARIABLE = "LANCE_FTS_FORMAT_VERSION"
"""Variable of the environment that says in which format indices are built."""

CODE = "code"
PROFILES: dict[str, dict[str, object]] = {
    CODE: {
        "base_tokenizer": CODE,
        "stem": False,
        "remove_stop_words": False,
        "split_on_numerics": True,
        "preserve_original": True,
    },
    "ngram": {"stem": False, "remove_stop_words": False},
}
"""Defaults of base tokenizers that differ from those of the others."""

CODE_FLAGS = ("split_identifiers", "split_on_numerics", "preserve_original", "index_operators")
"""Parameters that only program text has."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """How text becomes tokens; the names and their order are those of the stored JSON."""

    lance_tokenizer: str | None = "text"
    base_tokenizer: str = "simple"
    language: str = "English"
    with_position: bool = False
    max_token_length: int | None = 40
    lower_case: bool = True
    stem: bool = True
    remove_stop_words: bool = True
    custom_stop_words: tuple[str, ...] | None = None
    ascii_folding: bool = True
    min_ngram_length: int = 3
    max_ngram_length: int = 3
    prefix_only: bool = False
    block_size: int = SMALL
    split_identifiers: bool = False
    split_on_numerics: bool = False
    preserve_original: bool = False
    index_operators: bool = False

    @property
    def is_json(self) -> bool:
        """Whether documents are JSON."""
        return self.lance_tokenizer == "json"

    def as_dict(self) -> dict[str, object]:
        """Return the parameters by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def text(self) -> str:
        """The parameters as they are stored."""
        return json.dumps(self.as_dict(), separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is said of an index to be built."""

    analysis: Analysis = Analysis()
    format_version: int = DEFAULT_FORMAT
    list_elements: bool = False

    @property
    def layout(self) -> BlockLayout:
        """How posting blocks are cut."""
        return BlockLayout(self.analysis.block_size, self.format_version == 1)

    @property
    def index_version(self) -> int:
        """Version of the index's entry."""
        return 3 if self.list_elements else self.format_version

    @property
    def metadata(self) -> dict[str, str]:
        """What the metadata of posting files says."""
        found = {
            "posting_block_size": f"{self.analysis.block_size}",
            "format_version": f"{self.format_version}",
        }
        if self.format_version > 1:
            found["posting_tail_codec"] = VARINTS
            if self.analysis.with_position:
                found |= {
                    "positions_layout": "shared_stream_v2",
                    "positions_codec": "packed_delta_v1",
                }
        return found

    @property
    def details(self) -> index_details_pb2.InvertedIndexDetails:
        """The details of the index's entry."""
        own = self.analysis
        code = index_details_pb2.InvertedIndexDetails.CodeTokenizerConfig(
            split_identifiers=own.split_identifiers,
            split_on_numerics=own.split_on_numerics,
            preserve_original=own.preserve_original,
            index_operators=own.index_operators,
        )
        return index_details_pb2.InvertedIndexDetails(
            code_config=code if own.base_tokenizer == CODE else None,
            base_tokenizer=own.base_tokenizer,
            language=json.dumps(own.language),
            with_position=own.with_position,
            max_token_length=own.max_token_length,
            lower_case=own.lower_case,
            stem=own.stem,
            remove_stop_words=own.remove_stop_words,
            ascii_folding=own.ascii_folding,
            min_ngram_length=own.min_ngram_length,
            max_ngram_length=own.max_ngram_length,
            prefix_only=own.prefix_only,
            block_size=own.block_size,
            document_granularity=int(self.list_elements),  # type: ignore[arg-type]
            posting_format_version=self.format_version,
        )


_TYPES: dict[str, type | tuple[type, ...]] = {
    **{one.name: bool for one in fields(Analysis) if isinstance(one.default, bool)},
    **{one.name: str for one in fields(Analysis) if isinstance(one.default, str)},
    "lance_tokenizer": (str, type(None)),
    "max_token_length": (int, type(None)),
    "custom_stop_words": (list, tuple, type(None)),
    "min_ngram_length": int,
    "max_ngram_length": int,
    "block_size": int,
}


def _checked(given: Mapping[str, object]) -> Analysis:
    """Return parameters by name. Raises TypeError, ValueError."""
    for name, value in given.items():
        type_ = _TYPES[name]
        if not isinstance(value, type_) or (type_ is not bool and isinstance(value, bool)):
            raise TypeError(f"'{type(value).__name__}' object is no {name}")
    words = given.get("custom_stop_words")
    if words is not None:
        assert isinstance(words, list | tuple)
        if not all(isinstance(word, str) for word in words):
            raise TypeError("custom_stop_words must be words")
        given = {**given, "custom_stop_words": tuple(words)}
    found = replace(Analysis(), **given)  # type: ignore[arg-type]
    if found.language not in LANGUAGES:
        raise ValueError(
            f"can't set tokenizer language to {found.language}: unknown variant "
            f"`{found.language}`, expected one of {', '.join(LANGUAGES)}"
        )
    if found.block_size not in (SMALL, LARGE):  # L.index.fts.block-size
        raise ValueError(
            f"FTS inverted index block_size must be one of 128 or 256, got {found.block_size}"
        )
    if found.base_tokenizer == "ngram" and found.min_ngram_length < 1:
        raise ValueError("min_gram must be greater than 0")
    if found.base_tokenizer == "ngram" and found.min_ngram_length > found.max_ngram_length:
        raise ValueError("min_gram must not be greater than max_gram")
    if any(isinstance(one, int) and one < 0 for one in given.values()):
        raise OverflowError("can't convert negative int to unsigned")
    return found


def requested(given: Mapping[str, object], *, json_documents: bool) -> Settings:
    """Return what a caller asks for. Raises TypeError, ValueError."""
    ours = {name: value for name, value in given.items() if name in _TYPES}
    others = given.keys() - ours.keys()
    ignored = {"memory_limit", "num_workers", "format_version", "document_granularity", "analyzer"}
    unknown = (others - ignored) | (ours.keys() & {"lance_tokenizer"})
    if unknown:
        raise ValueError(f"unknown FTS index parameter '{min(unknown)}'")
    base = _base_tokenizer(given)
    flags = [name for name in CODE_FLAGS if ours.get(name)]
    if flags and base != CODE:
        raise ValueError("code analyzer flags require analyzer='code'")
    ours = {**PROFILES.get(base, {}), "base_tokenizer": base, **ours}
    if json_documents:
        ours["lance_tokenizer"] = "json"
    analysis = _checked(ours)
    return Settings(analysis, _format(given.get("format_version"), analysis), _per_element(given))


def _base_tokenizer(given: Mapping[str, object]) -> str:
    """Return the base tokenizer asked for, by its name or an analyzer's. Raises ValueError."""
    analyzer, base = given.get("analyzer"), given.get("base_tokenizer")
    if analyzer not in (None, "text", CODE):
        raise ValueError(f"unknown analyzer '{analyzer}', expected 'text' or 'code'")
    if analyzer == "text" and base == CODE:
        raise ValueError("base_tokenizer='code' requires analyzer='code'")
    if analyzer == CODE and base not in (None, CODE):
        raise ValueError(f"analyzer='code' requires base_tokenizer='code', got '{base}'")
    found = str((CODE if analyzer == CODE else "simple") if base is None else base)
    if not is_known(found):
        raise ValueError(f"unknown base tokenizer {found}")
    return found


def _format(given: object, analysis: Analysis) -> int:
    """Return the format asked for. Raises ValueError."""
    is_code = analysis.base_tokenizer == CODE
    source = "FTS format version"
    if given is None and (given := os.environ.get(FORMAT_VARIABLE)) is not None:
        source = FORMAT_VARIABLE
    if given is None:
        return 3 if is_code or analysis.block_size == LARGE else DEFAULT_FORMAT
    text = str(given).lower().removeprefix("v")
    if text not in map(str, FORMATS):
        raise ValueError(f"unsupported {source} {given}, expected 1, 2, or 3")
    if analysis.block_size == LARGE and text != "3":
        raise ValueError(
            f"FTS format_version={text} is incompatible with block_size=256; use format_version=3"
        )
    if is_code and text != "3":
        raise ValueError(f"base_tokenizer='code' requires FTS format_version=3, got {text}")
    return int(text)


def _per_element(given: Mapping[str, object]) -> bool:
    """Return whether each element of a list is a document. Raises TypeError."""
    granularity = given.get("document_granularity")
    if granularity is None:
        return False
    if not isinstance(granularity, DocumentGranularity):
        raise TypeError("document_granularity must be a lance.query.DocumentGranularity")
    return granularity is DocumentGranularity.LIST_ELEMENT


def parse_analysis(text: str, place: Place) -> Analysis:
    """Parse the stored parameters; those missing have their defaults. Raises FormatError."""
    try:
        found = json.loads(text)
        known = {name: value for name, value in found.items() if name in _TYPES}
        known.setdefault("lance_tokenizer", None)
        analysis = _checked(known)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(
            "L.index.fts.params", place, found=f"{text[:80]!r}: {error}", wanted="parameters"
        ) from error
    if not is_known(analysis.base_tokenizer):
        raise UnknownIndex(
            "L.index.fts.params",
            place,
            found=f"base tokenizer {analysis.base_tokenizer!r}",
            wanted=f"one of {NAMES}",
        )
    return analysis


def parse_settings(metadata: Mapping[str, str], place: Place) -> Settings:
    """Parse the metadata of `metadata.lance`. Raises FormatError, UnknownVersion."""
    analysis = parse_analysis(metadata.get("params", "{}"), place)
    unsaid = "2" if metadata.get("posting_tail_codec") == VARINTS else "1"
    version = metadata.get("format_version", unsaid)
    if version not in map(str, FORMATS):  # L.index.fts.format-version
        raise UnknownVersion(
            "L.index.fts.format-version", place, found=version[:40], wanted="1, 2 or 3"
        )
    size = metadata.get("posting_block_size", f"{SMALL}")
    if size not in (f"{SMALL}", f"{LARGE}"):
        raise FormatError("L.index.fts.block-size", place, found=size[:40], wanted="128 or 256")
    return Settings(replace(analysis, block_size=int(size)), int(version))


def parse_early_settings(metadata: Mapping[str, str], place: Place) -> Settings:
    """Parse the metadata of an early `tokens.lance`. Raises FormatError."""
    return Settings(parse_analysis(metadata.get("tokenizer", "{}"), place), 1)
