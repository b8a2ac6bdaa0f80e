"""Language models: tokenizers whose words lie in a folder of the user's.

The folder is below LANCE_LANGUAGE_MODEL_HOME, by default that of the user's data. Of `jieba/name`
it holds words and their frequencies in `dict.txt`, or where `config.json` says ("main", "users").
Words stand at the number of their first character.

Clauses: L.index.fts.tokenizer.jieba
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Protocol

from lanceref.core.errors import ModelMissing, NotYet
from lanceref.index.full_text.tokenizers import Cut, Pieces

HOME = "LANCE_LANGUAGE_MODEL_HOME"


class _Dictionary(Protocol):
    FREQ: dict[str, int]
    total: int
    initialized: bool

    def tokenize(self, text: str, mode: str) -> list[tuple[str, int, int]]: ...


def folder_of(name: str) -> Path:
    """Return the folder of a model. Raises ModelMissing when there is none."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    home = os.environ.get(HOME) or Path(data) / "lance/language_models"
    folder = Path(home) / name
    if not folder.is_dir():
        raise ModelMissing(f"Invalid directory path: {folder}")
    return folder


def model(name: str) -> Cut:
    """Return the tokenizer of a model. Raises ModelMissing, NotYet."""
    folder = folder_of("jieba/default" if name == "jieba" else name)
    if name.startswith("lindera/"):
        raise ModelMissing("dictionaries of lindera cannot be read")
    return _jieba(folder)


def _jieba(folder: Path) -> Cut:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except FileNotFoundError:
        config = {}
    main, users = config.get("main") or "dict.txt", config.get("users") or ()
    dictionary = _dictionary(tuple(folder / one for one in (main, *users)))

    def cut(text: str) -> Pieces:
        found = list(dictionary.tokenize(text, mode="search"))
        return [word for word, _, _ in found], [start for _, start, _ in found]

    return cut


@cache
def _dictionary(paths: tuple[Path, ...]) -> _Dictionary:
    """Read dictionaries: lines of a word, its frequency, and its kind. Raises ModelMissing."""
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
            raise ModelMissing(f"load jieba tokenizer dictionary {path}, error: {error}") from error
        for line in lines:
            word, *rest = line.split()[:2] or [""]
            if not word:
                continue
            frequency = int(rest[0]) if rest and rest[0].isdigit() else 0
            dictionary.total += frequency - dictionary.FREQ.get(word, 0)
            dictionary.FREQ[word] = frequency
            for end in range(1, len(word)):
                dictionary.FREQ.setdefault(word[:end], 0)
    dictionary.initialized = True
    return dictionary
