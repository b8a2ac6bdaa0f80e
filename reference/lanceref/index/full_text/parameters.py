"""Parameters of a full-text index: how text becomes tokens, and how postings are stored.

Stored twice: as JSON in the metadata of `metadata.lance`, which readers go by, and in the details
of the entry in the manifest, by which indices are listed. Only the metadata keep the user's stop
words and the kind of documents.

Layout: JSON object with the fields of `Analysis` in their order; `InvertedIndexDetails` with the
same names, the language as JSON text, flags of program text in `code_config`.

Clauses: L.index.fts.params, L.index.fts.format-version, L.index.fts.block-size
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum

import pyarrow as pa
from google.protobuf.message import DecodeError

from lanceref.core.errors import BadProto, FormatError, Place, UnknownIndex, UnknownVersion
from lanceref.index.full_text.posting_blocks import LARGE, SMALL, BlockLayout
from lanceref.index.full_text.tokenizers import NAMES, is_known
from lanceref.proto import index_details_pb2

Details = index_details_pb2.InvertedIndexDetails

LANGUAGES = (
    *("Arabic", "Danish", "Dutch", "English", "Finnish", "French", "German", "Greek", "Hungarian"),
    *("Italian", "Norwegian", "Portuguese", "Romanian", "Russian", "Spanish", "Swedish", "Tamil"),
    "Turkish",
)
"""Languages that can be stemmed and have a list of stop words."""

FORMATS = (1, 2, 3)
DEFAULT_FORMAT = 2

VARINTS = "varint_delta_v1"
"""Codec of the last blocks of all formats but 1; files of the first format 2 have only this."""

FORMAT_VARIABLE = "LANCE_FTS_FORMAT_VERSION"
"""Environment variable with the format in which indices are built."""

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

ALTERING = ("lower_case", "stem", "remove_stop_words", "ascii_folding")
"""Parameters by which tokens are not the words of text."""

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
        """The name of the granularity as messages print it."""
        return "Row" if self is DocumentGranularity.ROW else "ListElement"


def is_list(type_: pa.DataType) -> bool:
    """Whether the values of a column have elements."""
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


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
        """Whether documents are JSON, whose text values are tokenized."""
        return self.lance_tokenizer == "json"

    @property
    def keeps_words(self) -> bool:
        """Whether tokens are the words of text, nothing dropped and nothing changed."""
        plain = self.lance_tokenizer == "text" and self.base_tokenizer == "simple"
        altered = any(getattr(self, name) for name in ALTERING)
        return plain and not altered and self.max_token_length is None

    def as_dict(self) -> dict[str, object]:
        """Return the parameters of the analysis by their names."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def text(self) -> str:
        """The parameters as the JSON text that files store."""
        return json.dumps(self.as_dict(), separators=(",", ":"), ensure_ascii=False)


_TYPES: dict[str, type | tuple[type, ...]] = {
    **{one.name: type(one.default) for one in fields(Analysis)},
    "lance_tokenizer": (str, type(None)),
    "max_token_length": (int, type(None)),
    "custom_stop_words": (list, tuple, type(None)),
}
"""Types of parameters, by their names."""

_IN_DETAILS = (
    *("base_tokenizer", "with_position", "max_token_length", *ALTERING),
    *("min_ngram_length", "max_ngram_length", "prefix_only", "block_size"),
)
"""Parameters that details have under the same names, as they are."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters, the format of postings, and whether elements of lists are documents."""

    analysis: Analysis = Analysis()
    format_version: int = DEFAULT_FORMAT
    list_elements: bool = False

    @property
    def layout(self) -> BlockLayout:
        """How the postings of a token are cut into blocks."""
        return BlockLayout(self.analysis.block_size, self.format_version == 1)

    @property
    def index_version(self) -> int:
        """The version that the index's entry in the manifest states."""
        return 3 if self.list_elements else self.format_version

    @property
    def metadata(self) -> dict[str, str]:
        """The schema metadata of the files with postings."""
        metadata = {
            "posting_block_size": f"{self.analysis.block_size}",
            "format_version": f"{self.format_version}",
        }
        if self.format_version > 1:
            metadata["posting_tail_codec"] = VARINTS
            if self.analysis.with_position:
                metadata["positions_layout"] = "shared_stream_v2"
                metadata["positions_codec"] = "packed_delta_v1"
        return metadata

    @property
    def details(self) -> Details:
        """The details that the index's entry in the manifest holds."""
        own = self.analysis.as_dict()
        flags = {name: own[name] for name in CODE_FLAGS}
        code = Details.CodeTokenizerConfig(**flags)  # type: ignore[arg-type]
        return Details(
            **{name: own[name] for name in _IN_DETAILS},  # type: ignore[arg-type]
            code_config=code if own["base_tokenizer"] == CODE else None,
            language=json.dumps(own["language"]),
            document_granularity=int(self.list_elements),  # type: ignore[arg-type]
            posting_format_version=self.format_version,
        )


def parse_details(data: bytes, place: Place) -> Details:
    """Parse the details of an index's entry. Raises BadProto."""
    try:
        return Details.FromString(data)
    except DecodeError as error:
        raise BadProto(PARAMETERS, place, f"{error}", "InvertedIndexDetails") from error


PARAMETERS = "L.index.fts.params"


def shown_analysis(details: Details, place: Place, clause: str = PARAMETERS) -> dict[str, object]:
    """Return the parameters in details by name. Raises BadProto."""
    try:
        language = json.loads(details.language)
    except (ValueError, RecursionError) as error:
        raise BadProto(clause, place, details.language[:40], "a JSON text") from error
    code, is_code = details.code_config, details.HasField("code_config")
    values = {name: getattr(details, name) for name in _IN_DETAILS}
    values |= {name: getattr(code, name) for name in CODE_FLAGS}
    for name in ("split_on_numerics", "preserve_original"):
        if not code.HasField(name):
            values[name] = is_code
    if not details.HasField("max_token_length"):
        values["max_token_length"] = None
    values["base_tokenizer"] = details.base_tokenizer or "simple"
    values["block_size"] = details.block_size or SMALL
    return Analysis(lance_tokenizer=None, language=language, **values).as_dict()


def tokenizes_words(data: bytes) -> bool:
    """Return whether tokens are the words of text by the details of an entry."""
    try:
        details = Details.FromString(data)
    except DecodeError:
        return False
    plain = details.base_tokenizer == "simple" and not details.document_granularity
    altered = any(getattr(details, name) for name in ALTERING)
    return plain and not altered and not details.HasField("max_token_length")


def _checked(parameters: Mapping[str, object]) -> Analysis:
    """Return parameters by name. Raises TypeError, ValueError."""
    for name, value in parameters.items():
        type_ = _TYPES[name]
        if not isinstance(value, type_) or (type_ is not bool and isinstance(value, bool)):
            raise TypeError(f"'{type(value).__name__}' object is no {name}")
    words = parameters.get("custom_stop_words")
    if words is not None:
        assert isinstance(words, list | tuple)
        if not all(isinstance(word, str) for word in words):
            raise TypeError("custom_stop_words must be words")
        parameters = {**parameters, "custom_stop_words": tuple(words)}
    analysis = replace(Analysis(), **parameters)  # type: ignore[arg-type]
    if analysis.language not in LANGUAGES:
        raise ValueError(f"can't set tokenizer language to {analysis.language}: unknown variant")
    if analysis.block_size not in (SMALL, LARGE):  # L.index.fts.block-size
        raise ValueError(f"FTS block_size must be one of 128 or 256, got {analysis.block_size}")
    if analysis.base_tokenizer == "ngram" and analysis.min_ngram_length < 1:
        raise ValueError("min_gram must be greater than 0")
    if analysis.base_tokenizer == "ngram" and analysis.min_ngram_length > analysis.max_ngram_length:
        raise ValueError("min_gram must not be greater than max_gram")
    if any(isinstance(one, int) and one < 0 for one in parameters.values()):
        raise OverflowError("can't convert negative int to unsigned")
    return analysis


def requested(parameters: Mapping[str, object], *, json_documents: bool) -> Settings:
    """Return what a caller asks for. Raises TypeError, ValueError."""
    ours = {name: value for name, value in parameters.items() if name in _TYPES}
    ignored = {"memory_limit", "num_workers", "format_version", "document_granularity", "analyzer"}
    unknown = (parameters.keys() - ours.keys() - ignored) | (ours.keys() & {"lance_tokenizer"})
    if unknown:
        raise ValueError(f"unknown FTS index parameter '{min(unknown)}'")
    base = _base_tokenizer(parameters)
    if base != CODE and any(ours.get(name) for name in CODE_FLAGS):
        raise ValueError("code analyzer flags require analyzer='code'")
    ours = {**PROFILES.get(base, {}), "base_tokenizer": base, **ours}
    if json_documents:
        ours["lance_tokenizer"] = "json"
    analysis, granularity = _checked(ours), parameters.get("document_granularity")
    if not isinstance(granularity, DocumentGranularity | None):
        raise TypeError("document_granularity must be a lance.query.DocumentGranularity")
    per_element = granularity is DocumentGranularity.LIST_ELEMENT
    return Settings(analysis, _format(parameters.get("format_version"), analysis), per_element)


def _base_tokenizer(parameters: Mapping[str, object]) -> str:
    """Return the base tokenizer asked for, by its name or an analyzer's. Raises ValueError."""
    analyzer, base = parameters.get("analyzer"), parameters.get("base_tokenizer")
    if analyzer not in (None, "text", CODE):
        raise ValueError(f"unknown analyzer '{analyzer}', expected 'text' or 'code'")
    if analyzer == "text" and base == CODE:
        raise ValueError("base_tokenizer='code' requires analyzer='code'")
    if analyzer == CODE and base not in (None, CODE):
        raise ValueError(f"analyzer='code' requires base_tokenizer='code', got '{base}'")
    name = str((CODE if analyzer == CODE else "simple") if base is None else base)
    if not is_known(name):
        raise ValueError(f"unknown base tokenizer {name}")
    return name


def _format(version: object, analysis: Analysis) -> int:
    """Return the format asked for. Raises ValueError."""
    is_code, is_large = analysis.base_tokenizer == CODE, analysis.block_size == LARGE
    source = "FTS format version"
    if version is None and (version := os.environ.get(FORMAT_VARIABLE)) is not None:
        source = FORMAT_VARIABLE
    if version is None:
        return 3 if is_code or is_large else DEFAULT_FORMAT
    text = str(version).lower().removeprefix("v")
    if text not in map(str, FORMATS):
        raise ValueError(f"unsupported {source} {version}, expected 1, 2, or 3")
    if is_large and text != "3":
        raise ValueError(f"FTS format_version={text} is incompatible with block_size=256, use 3")
    if is_code and text != "3":
        raise ValueError(f"base_tokenizer='code' requires FTS format_version=3, got {text}")
    return int(text)


def parse_analysis(text: str, place: Place) -> Analysis:
    """Parse the stored parameters; those missing have their defaults. Raises FormatError."""
    try:
        parameters = {name: value for name, value in json.loads(text).items() if name in _TYPES}
        analysis = _checked({"lance_tokenizer": None, **parameters})
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        found = f"{text[:80]!r}: {error}"
        raise FormatError(PARAMETERS, place, found, "parameters") from error
    if not is_known(analysis.base_tokenizer):
        found, wanted = f"base tokenizer {analysis.base_tokenizer!r}", f"one of {NAMES}"
        raise UnknownIndex(PARAMETERS, place, found, wanted)
    return analysis


def parse_settings(metadata: Mapping[str, str], place: Place) -> Settings:
    """Parse the metadata of `metadata.lance`. Raises FormatError, UnknownVersion."""
    analysis = parse_analysis(metadata.get("params", "{}"), place)
    default = "2" if metadata.get("posting_tail_codec") == VARINTS else "1"
    version = metadata.get("format_version", default)
    if version not in map(str, FORMATS):
        raise UnknownVersion("L.index.fts.format-version", place, version[:40], "1, 2 or 3")
    size = metadata.get("posting_block_size", f"{SMALL}")
    if size not in (f"{SMALL}", f"{LARGE}"):
        raise FormatError("L.index.fts.block-size", place, size[:40], "128 or 256")
    return Settings(replace(analysis, block_size=int(size)), int(version))
