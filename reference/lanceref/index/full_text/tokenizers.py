"""Base tokenizers: how a text is cut into words before anything else is done with them.

Each returns the words in order and the position of each. `icu` cuts by Unicode's default word
boundaries; a colon of any width is always a boundary, as in the root locale.

`jieba/name` is a language model: a folder below LANCE_LANGUAGE_MODEL_HOME, by default that of the
user's data, with words and their frequencies in `dict.txt`, or in the files that `config.json`
names ("main", "users"). The position of a word is the number of its first character.

Clauses: L.index.fts.tokenizer.simple, L.index.fts.tokenizer.whitespace,
L.index.fts.tokenizer.raw, L.index.fts.tokenizer.ngram, L.index.fts.tokenizer.icu,
L.index.fts.tokenizer.code, L.index.fts.tokenizer.jieba
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from lanceref.core.context import specified
from lanceref.core.errors import NotYet, OperationRefused
from lanceref.index.full_text.packed_integers import Counts, Numbers

if TYPE_CHECKING:
    import regex


Pieces: TypeAlias = tuple[Sequence[str], Sequence[int]]
"""Words of a text and their positions."""

Cut: TypeAlias = Callable[[str], Pieces]
"""Cuts a text."""

_ASCII_WORDS = re.compile("[0-9A-Za-z]+")
_BLANKS = re.compile("[^ \t\n\x0c\r]+")

ALPHANUMERIC = r"\p{Alphabetic}\p{N}"
"""Characters of words, in a class of the package `regex`."""

NAMES = ("simple", "whitespace", "raw", "ngram", "code", "icu", "icu/split")
MODELS = ("jieba/", "lindera/")
"""Tokenizers, and how the names of those begin that need a model of the user's."""


def is_known(name: str) -> bool:
    """Return whether a base tokenizer has a name."""
    return name in NAMES or name == "jieba" or name.startswith(MODELS)


@cache
def _regex(text: str, *, words: bool = False) -> regex.Pattern[str]:
    import regex  # knows properties of characters; only for text that needs them

    return regex.compile(text, regex.V1 | (regex.WORD if words else 0))


def numbered(words: Sequence[str]) -> Pieces:
    """Return words with their numbers as positions."""
    return words, range(len(words))


def simple(text: str) -> Pieces:
    """Return the runs of letters and digits of any script."""
    # L.index.fts.tokenizer.simple
    pattern = _ASCII_WORDS if text.isascii() else _regex(f"[{ALPHANUMERIC}]+")
    return numbered(pattern.findall(text))


@specified
def cut_all(cut: Cut, texts: Sequence[str]) -> tuple[list[str], Counts, Numbers]:
    """Return the words of all texts, how many each has (texts,), and their positions (words,)."""
    parts = [cut(text) for text in texts]
    counts = np.array([len(words) for words, _ in parts], np.int64)
    positions = chain.from_iterable(places for _, places in parts)
    words = list(chain.from_iterable(words for words, _ in parts))
    return words, counts, np.fromiter(positions, np.uint32, len(words))


def whitespace(text: str) -> Pieces:
    """Return the pieces of the text between ASCII white space."""
    # L.index.fts.tokenizer.whitespace
    return numbered(_BLANKS.findall(text))


def raw(text: str) -> Pieces:
    """Return the whole text as its only piece."""
    # L.index.fts.tokenizer.raw
    return numbered([text])


def ngrams(least: int, most: int, *, prefix_only: bool) -> Cut:
    """Return the tokenizer into runs of `least` to `most` characters, by start, at position 0."""

    # L.index.fts.tokenizer.ngram
    def cut(text: str) -> Pieces:
        starts = range(min(1, len(text)) if prefix_only else len(text))
        words = [
            text[start : start + size]
            for start in starts
            for size in range(least, min(most, len(text) - start) + 1)
        ]
        return words, (0,) * len(words)

    return cut


_UNDIVIDED = r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc\uff70\p{Line_Break=SA}]"
"""Characters of scripts that are written without blanks."""


def _segments(text: str) -> Iterator[str]:
    boundary = _regex(r"\b", words=True)
    for part in _regex("[:\ufe55\uff1a]").split(text):
        yield from boundary.split(part)


def icu(*, split: bool) -> Cut:
    """Return the tokenizer at word boundaries; `split` cuts words at all other characters too.

    It raises NotYet for a text that only a dictionary can cut.
    """

    # L.index.fts.tokenizer.icu
    def cut(text: str) -> Pieces:
        if text.isascii() and split:
            return simple(text)
        found = _regex(_UNDIVIDED).search(text)
        if found is not None:
            raise NotYet(f"U+{ord(found.group()):04X} is of a script that only a dictionary cuts")
        if split:
            return numbered([word for one in _segments(text) for word in simple(one)[0]])
        holds = _regex(f"[{ALPHANUMERIC}]").search
        return numbered([one for one in _segments(text) if holds(one)])

    return cut


OPERATORS = (
    *(">>>=", "!==", "&&=", "**=", "//=", "<<=", "<=>", "===", ">>=", ">>>", "??=", "||="),
    *("!=", "%=", "&&", "&=", "**", "*=", "++", "+=", "--", "-=", "->", "//", "/=", "::", ":="),
    *("<-", "<<", "<=", "==", "=>", ">=", ">>", "??", "^=", "|=", "|>", "||", "~="),
    *"!%&*+-/:<=>?^|~",
)
"""Operators of program text, longer ones before those that they begin with."""


def parts_of(word: str, *, numerics: bool) -> list[str]:
    """Return the parts of an identifier; `numerics` cuts between digits and others."""
    parts = []
    for run in word.split("_"):
        start = 0
        for at in range(1, len(run)):
            before, here, after = run[at - 1], run[at], run[at + 1 : at + 2]
            begins = here.isupper() and (before.islower() or (before.isupper() and after.islower()))
            if begins or (numerics and ("0" <= before <= "9") != ("0" <= here <= "9")):
                parts.append(run[start:at])
                start = at
        if run:
            parts.append(run[start:])
    return parts


def code(
    *, operators: bool, split: bool = False, numerics: bool = False, whole: bool = False
) -> Cut:
    """Return the tokenizer of program text into words, and on demand operators.

    It can `split` words into their parts, with `numerics` also at digits, with the `whole` words.
    """
    # L.index.fts.tokenizer.code
    tokens = [f"[_{ALPHANUMERIC}]+", *(map(re.escape, OPERATORS) if operators else ())]
    find = _regex("|".join(tokens)).findall
    if not split:
        return lambda text: numbered(find(text))

    def cut(text: str) -> Pieces:
        words: list[str] = []
        positions: list[int] = []
        for word in find(text):
            position = positions[-1] + 1 if positions else 0
            parts = parts_of(word, numerics=numerics)
            if whole or len(parts) < 2:
                words.append(word)
                positions.append(position)
            if len(parts) > 1:
                words += parts
                positions += range(position, position + len(parts))
        return words, positions

    return cut


HOME = "LANCE_LANGUAGE_MODEL_HOME"


class _Dictionary(Protocol):
    FREQ: dict[str, int]
    total: int
    initialized: bool

    def tokenize(self, text: str, mode: str) -> list[tuple[str, int, int]]: ...


def folder_of(name: str) -> Path:
    """Return the folder of a model. Raises OperationRefused when there is none."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    home = os.environ.get(HOME) or Path(data) / "lance/language_models"
    folder = Path(home) / name
    if not folder.is_dir():
        raise OperationRefused(f"Invalid directory path: {folder}")
    return folder


def model(name: str) -> Cut:
    """Return the tokenizer of a model. Raises OperationRefused, NotYet."""
    # L.index.fts.tokenizer.jieba
    folder = folder_of("jieba/default" if name == "jieba" else name)
    if name.startswith("lindera/"):
        raise OperationRefused("dictionaries of lindera cannot be read")
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except FileNotFoundError:
        config = {}
    main, users = config.get("main") or "dict.txt", config.get("users") or ()
    dictionary = _dictionary(tuple(folder / one for one in (main, *users)))

    def cut(text: str) -> Pieces:
        tokens = list(dictionary.tokenize(text, mode="search"))
        return [word for word, _, _ in tokens], [start for _, start, _ in tokens]

    return cut


@cache
def _dictionary(paths: tuple[Path, ...]) -> _Dictionary:
    """Read dictionaries: lines of a word, its frequency, and its kind. Raises OperationRefused."""
    try:
        from jieba import Tokenizer  # only for an index that cuts Chinese by a dictionary
    except ImportError as error:
        raise NotYet("tokenizers of jieba need the package jieba") from error
    dictionary: _Dictionary = Tokenizer()
    dictionary.FREQ, dictionary.total = {}, 0
    for path in paths:
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            found = f"jieba tokenizer dictionary {path}, error: {error}"
            raise OperationRefused(f"load {found}") from error
        for line in lines:
            word, *rest = line.split()[:2] or [""]
            if not word:
                continue
            frequency = int(rest[0]) if rest and rest[0].isdecimal() else 0
            dictionary.total += frequency - dictionary.FREQ.get(word, 0)
            dictionary.FREQ[word] = frequency
            for end in range(1, len(word)):
                dictionary.FREQ.setdefault(word[:end], 0)
    dictionary.initialized = True
    return dictionary
