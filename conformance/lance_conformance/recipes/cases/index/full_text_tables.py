"""Tables with a full-text index, their tokens, and files of it made anew.

The tokens of every text are written by hand, the scores by the formula.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
from lanceref.index.full_text.packed_integers import pack_rows, unpack

from lance_conformance.recipes import indexed
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.cases.index.index_files import POSTINGS, rewritten, with_rows
from lance_conformance.recipes.edits import FOURTH, index
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.indexed import INDEXED, Documents, Indexed, key, scores, text_search
from lance_conformance.recipes.model import DATA, Files, Request
from lance_conformance.recipes.oracle_files import file

TEXTS = pa.array(["the Quick-brown foxes", "getUserName foo_bar", "Café au lait", "le fox", None,
        "", "fox jumps over", "dogs", "a\xa0b", "quick", "fox", "dog"])  # fmt: skip

LISTS_TOKENS = pa.array([["the fox", "dogs"], [], None, ["fox"], *[["quick"]] * 8],
    pa.list_(pa.utf8()))  # fmt: skip

DOCUMENTS = pa.array(['{"a":"quick fox"}', None, '{"a":3}', *['{"b":"dog"}'] * 9], pa.json_())
PREFIXED = pa.array(["the fox", "quick fox", None, "lazy dog", "the dog", "quit", "", "fox", "bear",
        "dog", "quiz", "dog"])  # fmt: skip

ROWS = 640
LANES = 8
"""Lanes of a group of 256."""

Held = Mapping[int, int]
"""How often documents hold a word."""


def counted(steps: Sequence[int], others: Held, often: int = 1) -> dict[int, int]:
    """Return documents by the steps between them; `others` says by place who holds more words."""
    return {row: others.get(at, often) for at, row in enumerate(accumulate(steps))}


def steps_blocks(usual: int, others: Held, count: int = 128) -> list[int]:
    return [0, *(others.get(at, usual) for at in range(1, count))]


WORDS: dict[str, tuple[dict[int, int], list[tuple[int, int]]]] = {
    "far": (counted(steps_blocks(5, {96: 1, 100: 1}), {122: 3}), [(4, 16)]),
    "gap": (counted(steps_blocks(1, {8: 23}), {}), [(16, 8)]),
    "low": (counted(steps_blocks(1, {}, 256), {}), [(1, 8), (1, 1)]),
    "mid": (counted(steps_blocks(1, {}), {7: 23}), [(32, 24)]),
    "pit": (counted(steps_blocks(1, {}), {0: 8, 15: 7}, 3), [(4, 8)])}  # fmt: skip
"""Words, how often documents hold them, and the widths of steps and frequencies of each block."""


def group(numbers: Sequence[int], width: int) -> bytes:
    return bytes([width]) + pack_rows(np.array([numbers], np.uint32), width).tobytes()


def wider(blocks: list[bytes], frequencies: Held, widths: Sequence[tuple[int, int]]) -> list[bytes]:
    """Return the blocks of a word with other widths."""
    rows = sorted(frequencies)
    out = []
    for at, (block, (of_steps, of_counts)) in enumerate(zip(blocks, widths, strict=True)):
        own = rows[128 * at : 128 * at + 128]
        steps = np.diff(own, prepend=own[0]).tolist()
        counts = group([frequencies[row] for row in own], of_counts)
        out.append(block[: 4 + 4] + group(steps, of_steps) + counts)
    return out


def replaced(table: pa.Table, blocks: list[list[bytes]]) -> pa.Table:
    at = table.schema.get_field_index("_posting")
    field = table.schema.field(at)
    return table.set_column(at, field, pa.array(blocks, field.type))


def with_widths(table: pa.Table) -> pa.Table:
    """Write the blocks of every word anew; words are numbered as they first appear."""
    blocks = table["_posting"].to_pylist()
    for number, (frequencies, widths) in enumerate(WORDS.values()):
        assert table["_length"][number].as_py() == len(frequencies)
        blocks[number] = wider(blocks[number], frequencies, widths)
    return replaced(table, blocks)


def texts_blocks() -> dict[int, list[str]]:
    """Return the words of every row, `rest` in those that hold no other."""
    found: dict[int, list[str]] = {row: [] for row in range(ROWS)}
    for word, (frequencies, _) in WORDS.items():
        for row, often in frequencies.items():
            found[row] += [word] * often
    return {row: words or ["rest"] for row, words in found.items()}


Query = Mapping[str, Mapping[str, object]]


def match(query: str, **others: object) -> Query:
    """Return a query for words."""
    return {"match": {"query": query, "column": "c", **others}}


def wide_steps(table: pa.Table) -> pa.Table:
    """Write the steps of the word in 256 documents with 32 bits each."""
    blocks, word = (table["_posting"].to_pylist(), table["_length"].to_pylist().index(256))
    (block,) = blocks[word]
    end = 5 + LANES * 4 * block[4]
    steps = unpack(memoryview(block)[5:end], block[4], LANES)
    blocks[word] = [block[:4] + group(steps.tolist(), 32) + block[end:]]
    return replaced(table, blocks)


WORD_LISTS = pa.array([["a fox", "dog fox"], ["fox dog", None], None, [], ["a dog"]])
JOINED_LISTS = pa.array([["a fox", "dog"], ["a fox dog", None], [None, "a fox dog"],
    ["", "a fox dog"], ["a fox dog", ""], ["a", "fox", "dog"], None, [], ["a fox"],
    ["dog"]])  # fmt: skip
JOINED = ("a fox dog", "a fox dog", "a fox dog", "a fox dog", "a fox dog ", "a fox dog", "", "",
    "a fox", "dog")  # fmt: skip
"""Lists, and the one text of each."""

WRITERS = (("", "oracle"), ("own-", "reference"))
"""What the names of cases begin with, by who wrote the index."""

LISTED = {0: ["fox", "dog", "fox"], 1: ["fox", "dog"], 4: ["dog"]}


def document_steps(
    columns: Mapping[str, pa.Array], version: str, *, by_element: bool = False, **options: object
) -> indexed.Steps:
    """Return what writes columns and a full-text index on each, or on a field below it."""

    def write(module: Any, uri: str) -> None:
        count = len(next(iter(columns.values())))
        named = {path.partition(".")[0]: values for path, values in columns.items()}
        table = pa.table({"id": pa.array(range(count), pa.int64()), **named})
        dataset = module.write_dataset(table, uri, data_storage_version=version)
        parameters = dict(options)
        if by_element:
            element = import_module(f"{module.__name__}.query").DocumentGranularity.LIST_ELEMENT
            parameters["document_granularity"] = element
        for name in columns:
            dataset.create_scalar_index(name, "INVERTED", **parameters)
            dataset = module.dataset(uri)

    return write


def joined_lists(
    tokens: Documents, token: str, parameters: Mapping[str, object], *, by: str = "oracle"
) -> Request:
    """Return the question of a token in lists, whose texts are cut as one into tokens."""
    rows = pa.table({"id": pa.array(range(len(JOINED)), pa.int64()), "c": JOINED_LISTS})
    given = {"stem": False, "remove_stop_words": False, **parameters}
    steps = indexed.at_once(rows, "INVERTED", given, "2.1")
    found = [row for row, of_row in tokens.items() if token in of_row]
    return text_search(steps, match(token), scores(tokens, [token], found, len(JOINED)), by=by)


OBJECTS = {"c": pa.array(['{"a":"quick fox","n":3}', '{"a":"fox","b":{"x":["dog",true]}}', None,
        '{"n":3}'], pa.json_())}  # fmt: skip
MEMBERS = {0: ["a,str,quick", "a,str,fox", "n,number,3"],
    1: ["a,str,fox", "b.x,str,dog", "b.x,bool,true"], 3: ["n,number,3"]}  # fmt: skip

LEFT = {0: ["fox", "dog"], 1: ["fox"], 2: ["bear"]}
RIGHT = {0: ["bear"], 1: ["fox", "fox"], 2: ["fox", "bear", "dog"]}
TWO = {"c": pa.array([" ".join(one) for one in LEFT.values()]),
    "d": pa.array([" ".join(one) for one in RIGHT.values()])}  # fmt: skip


def best() -> dict[int, float]:
    """Return the scores of `fox` by the better column."""
    left, right = (scores(column, ["fox"], range(3), 3) for column in (LEFT, RIGHT))
    return {row: max(left[row], right[row]) for row in range(3)}


def combined() -> dict[int, float]:
    """Return the scores of `fox` over both columns as one; in each of them two rows hold it."""
    lengths = {row: len(LEFT[row]) + len(RIGHT[row]) for row in range(3)}
    mean = sum(lengths.values()) / 3
    weight = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    found = {}
    for row, length in lengths.items():
        often = LEFT[row].count("fox") + RIGHT[row].count("fox")
        found[row] = weight * 2.2 * often / (often + 1.2 * (0.25 + 0.75 * length / mean))
    return found


BOTH = {"query": "fox", "columns": ["c", "d"]}
PARAMETERS = {"with_position": True}
TEXTS_TEXT = ("the quick brown fox", "Quick quick fox", None, "lazy dogs sleep",
    "the dog and the fox", "a quick dog", "", "fox fox fox", "brown bear", "bear hunts fox",
    "quick fox runs", "dog")  # fmt: skip

TOKENS: Documents = {0: ["quick", "brown", "fox"], 1: ["quick", "quick", "fox"],
    3: ["lazi", "dog", "sleep"], 4: ["dog", "fox"], 5: ["quick", "dog"], 7: ["fox", "fox", "fox"],
    8: ["brown", "bear"], 9: ["bear", "hunt", "fox"], 10: ["quick", "fox", "run"],
    11: ["dog"]}  # fmt: skip
"""Stop words are left out, the others are stems."""

EARLY_ROWS = {row: tokens for row, tokens in TOKENS.items() if row < INDEXED}


def files_early(rows_of: Documents) -> dict[str, tuple[pa.Table, Mapping[str, str]]]:
    """Return the three files of the index: their rows and metadata."""
    words = sorted({word for tokens in rows_of.values() for word in tokens})
    rows_by_word = [[row for row, tokens in rows_of.items() if word in tokens] for word in words]
    places = [
        [at for at, other in enumerate(rows_of[row]) if other == word]
        for word, rows in zip(words, rows_by_word, strict=True)
        for row in rows
    ]
    keys = [key(row) for rows in rows_by_word for row in rows]
    firsts = [sum(map(len, rows_by_word[:number])) for number in range(len(rows_by_word))]
    tokens = {"_token": words, "_token_id": pa.array(range(len(words)), pa.uint32())}
    docs = {
        "_rowid": pa.array(map(key, rows_of), pa.uint64()),
        "_num_tokens": pa.array(map(len, rows_of.values()), pa.uint32()),
    }
    invert = {
        "_rowid": pa.array(keys, pa.uint64()),
        "_frequency": pa.array(map(len, places), pa.float32()),
        "_position": pa.array(places, pa.list_(pa.int32())),
    }
    return {
        "tokens.lance": (pa.table(tokens), {"tokenizer": json.dumps(PARAMETERS)}),
        "docs.lance": (pa.table(docs), {}),
        "invert.lance": (pa.table(invert), {"offsets": json.dumps(firsts, separators=(",", ":"))}),
    }


def early(rows_of: Documents) -> Callable[[Files], Files]:
    """Return what puts early files in place of those of the index."""

    def replace_files(files: Files) -> Files:
        (folder,) = {PurePosixPath(name).parent for name in files if "_indices/" in name}
        others = {name: data for name, data in files.items() if "_indices/" not in name}
        made, _ = apply(index({"files": [], "index_version": 0}, FOURTH), others)
        for name, (rows, metadata) in files_early(rows_of).items():
            made[f"{folder}/{name}"] = file(rows, "2.0", schema_metadata=metadata)().files[DATA]
        return made

    return replace_files


PAIRS = ("red fox", "red hen", "fox red", "hen", None, "", "red hen", "fox", "hen red", None)
ONCE: Documents = {row: text.split() for row, text in enumerate(PAIRS) if text}
"""Tokens of rows of which none holds one twice."""

EMPTY = Indexed(pa.array(["fox", "dog", *["x"] * 10]), "INVERTED", {"stem": False}, "2.0")


def scores_text(query: str, *rows: int) -> dict[int, float]:
    return scores(TOKENS, query.split(), rows, INDEXED)


FEW_WORDS = scores_text("quick fox", 1, 10)
TEXT = Indexed(pa.array(TEXTS_TEXT), "INVERTED", PARAMETERS)
EARLY_EARLY = indexed.in_2_0(TEXT)


def phrase(query: str, **others: object) -> Query:
    """Return a query for words in order."""
    return {"phrase": {"query": query, "column": "c", **others}}


def found(query: Query, tokens: str, *rows: int, by: str = "oracle") -> Request:
    """Return the question of a query that finds rows by the scores of tokens."""
    return text_search(TEXT, query, scores_text(tokens, *rows), by=by)


def boosted() -> dict[int, float]:
    """Return the scores of `fox`, less a quarter of those of `quick`."""
    quick = scores_text("quick", 0, 1, 5, 10)
    fox = scores_text("fox", 0, 1, 4, 9, 10)
    return {row: score - 0.25 * quick.get(row, 0.0) for row, score in fox.items()}


def rounded_text(length: int) -> int:
    """Return a length as indices with blocks of 256 know it: by its four leading bits."""
    cut = max(0, length.bit_length() - 4)
    return length >> cut << cut


def rounding(documents: Documents, query: str, row: int) -> float:
    """Return how much more a document counts where its length is rounded; the mean is not."""
    mean = sum(map(len, documents.values())) / len(documents)
    often, length = (documents[row].count(query), len(documents[row]))
    norms = (often + 1.2 * (0.25 + 0.75 * one / mean) for one in (length, rounded_text(length)))
    exact, rounded = norms
    return exact / rounded


def whole_found(
    documents: Documents, word: str, version: str = "2.0", **parameters: object
) -> Request:
    """Return the question of a word in rows that are all indexed, one document each.

    Blocks of 256 know the lengths of documents by their four leading bits.
    """
    texts = pa.array([" ".join(words) for words in documents.values()])
    table = Indexed(texts, "INVERTED").table
    steps = indexed.at_once(table, "INVERTED", {"stem": False, **parameters}, version)
    rows = [row for row, words in documents.items() if word in words]
    found = scores(documents, [word], rows, len(documents))
    if parameters.get("block_size") == 256:
        found = {row: score * rounding(documents, word, row) for row, score in found.items()}
    return text_search(steps, match(word), found)


MANY: Documents = {
    row: ["word"] * (row % 7 + (300 if row == 130 else 1)) + ["rare"] * (row % 3)
    for row in range(300)
}
"""Documents that fill a block of 128, or of 256, and begin another; all hold `word`."""

EDGE: Documents = {row: ["edge"] if row in (0, 5, 128) else ["rest"] for row in range(130)}
FAR: Documents = {row: ["far"] if 5 <= row < 261 else ["rest"] for row in range(270)}
EVEN: Documents = {0: ["far"] * 128, **{row: ["rest"] for row in range(1, 12)}}


def words_found(
    texts: Sequence[str],
    tokens: Documents | Sequence[Sequence[str]],
    query: Query | str,
    token: str,
    rows: Sequence[int],
    version: str = "2.1",
    **parameters: object,
) -> Request:
    """Return the question of a query in texts, and nulls to fill twelve rows, with their tokens.

    The query asks for `token`, which `rows` hold.
    """
    column = pa.array([*texts, *[None] * (12 - len(texts))], pa.utf8())
    documents = tokens if isinstance(tokens, Mapping) else dict(enumerate(tokens))
    return text_search(
        Indexed(column, "INVERTED", parameters, version),
        match(query) if isinstance(query, str) else query,
        scores(documents, [token], rows, INDEXED),
    )


def widths_blocks() -> Request:
    documents = texts_blocks()
    found = dict.fromkeys([row for row, words in documents.items() if words != ["rest"]], 0.0)
    for word in WORDS:
        own = [row for row in found if word in documents[row]]
        for row, score in scores(documents, [word], own, ROWS).items():
            found[row] += score
    texts = pa.array([" ".join(words) for words in documents.values()])
    table = Indexed(texts, "INVERTED").table
    steps = indexed.at_once(table, "INVERTED", {"stem": False}, "2.0")
    query = match(" ".join(WORDS))
    return edited(text_search(steps, query, found), rewritten(POSTINGS, with_rows(with_widths)))


ELEMENTS = {0: ["fox"], 1: ["dog", "fox"], 2: ["fox", "dog"], 3: [], 4: ["dog"]}
ELEMENT_ROWS = pa.table({"id": pa.array([0, 0, 1], pa.int64()),
        "_doc_index": pa.array([[0], [1], [0]], pa.list_(pa.uint32())), "_score": pa.array(
            [indexed.bm25(ELEMENTS, ["fox"], row) for row in range(3)], pa.float32())})  # fmt: skip
NESTED_LISTS = pa.array([[None, {"x": texts}] for texts in WORD_LISTS.to_pylist()])
NESTED_ROWS = ELEMENT_ROWS.set_column(1, ELEMENT_ROWS.field(1),
    pa.array([[1, 0], [1, 1], [1, 0]], pa.list_(pa.uint32())))  # fmt: skip


def content(by: str) -> Request:
    """Return the question of what an index holds: of every token its rows, by address."""
    entries = sorted(
        (word, key(row), words.count(word))
        for row, words in EARLY_ROWS.items()
        for word in {*words}
    )
    schema = pa.schema([("token", pa.utf8()), ("row", pa.uint64()), ("frequency", pa.uint32())])
    table = pa.table(
        [pa.array(values) for values in zip(*entries, strict=True)], names=schema.names
    )
    shown = ("L.index.fts.tokens", "L.index.fts.docs", "L.index.fts.postings")
    return indexed.dump(TEXT, table.cast(schema), by=by, clauses=shown)
