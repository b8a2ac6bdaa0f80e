"""Fast forms of many pages: what is read together is what each page gives alone."""

from contextlib import suppress
from dataclasses import replace
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from lanceref.core.context import Context, plain_forms
from lanceref.core.errors import BytesError, DataRefused
from lanceref.data_file.data_file import open_file
from lanceref.fast import pages as fast_pages
from lanceref.file.column_io import read_cursors
from lanceref.pages.miniblock import MiniBlockPage
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileWriter

WORDS = [f"word {number % 40}" for number in np.arange(4000) ** 2 % 331]
"""Of each page of 800 the same forty: its dictionary."""

COLUMNS = {
    "lists": [None if at % 9 == 0 else list(range(at % 6)) for at in range(4000)],
    "words": [None if at % 7 == 0 else word for at, word in enumerate(WORDS)],
    "structs": [None if at % 11 == 0 else {"a": word} for at, word in enumerate(WORDS)],
    "lists of words": [[word] * (at % 4) for at, word in enumerate(WORDS)],
    "numbers": [at * 7919 % 4096 for at in range(4000)],
    "vectors": [[[at, 1, 2], [3, 4, -at]] for at in range(4000)],
}
"""Rows of five pages each, one after the other in the file."""

EARLY = {
    "bits": [at % 3 == 0 for at in range(4000)],
    "gaps": [
        None if at // 800 == 3 or (at // 800 == 1 and at % 7 == 3) else at for at in range(4000)
    ],
}
"""Rows for pages of 2.0: bits, and numbers with some nulls in a page, and nothing else in one."""

TYPES = {"vectors": pa.list_(pa.list_(pa.int16(), 3), 2)}
"""What cannot be told from the rows."""

WRITTEN = [("2.0", name) for name in ("vectors", "lists", "numbers", *EARLY)]
WRITTEN += product(("2.1", "2.2"), COLUMNS)
"""Versions and what is taken of them."""


@pytest.fixture(scope="module", params=["2.1", "2.2"])
def many_pages(request, tmp_path_factory):
    """The bytes of a file of one column each."""
    files, path = {}, tmp_path_factory.mktemp("pages") / "f.lance"
    for name, rows in (COLUMNS | EARLY).items():
        table = pa.table({"c": pa.array(rows, TYPES.get(name))})
        options = {"data_cache_bytes": 1, "version": request.param}
        with suppress(DataRefused), LanceFileWriter(str(path), table.schema, **options) as writer:
            for batch in table.to_batches(max_chunksize=800):
                writer.write_batch(batch)
        files[name] = path.read_bytes()
    return files


def column_of(data):
    """Open the column of such a file."""
    opened = open_file(BytesSource(bytes(data)), Context("pages"))
    return opened.open_field(opened.schema.fields[0])


@pytest.mark.parametrize(("many_pages", "name"), WRITTEN, indirect=["many_pages"])
@given(
    rows=st.lists(st.integers(0, 3999), min_size=1, max_size=60, unique=True),
    flip=st.none() | st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 40)),
    bits=st.integers(1, 255),
)
@settings(max_examples=60)
def test_rows_of_many_pages_are_taken_alike(many_pages, name, rows, flip, bits):
    """Ascending rows of lists, words in dictionaries, flat values; also where bytes are odd."""
    data = bytearray(many_pages[name])
    if flip is not None:
        page, buffer, at = flip
        pages = open_file(BytesSource(bytes(data)), Context("pages")).columns[-1].pages
        extents = pages[page].extents or pages[0].extents  # nulls alone have none
        offset, size = extents[buffer % len(extents)]
        data[offset + at % size] ^= bits
    outcomes = []
    for is_plain_form in (False, True):
        with plain_forms(is_plain_form):
            try:
                outcomes.append(column_of(data).take(np.array(sorted(rows))).to_pylist())
            except BytesError as error:
                outcomes.append(str(error))

    assert outcomes[0] == outcomes[1]
    if flip is None:
        assert [(COLUMNS | EARLY)[name][row] for row in sorted(rows)] == outcomes[0]


@pytest.mark.parametrize(
    ("many_pages", "name"), [*product(("2.1", "2.2"), COLUMNS)], indirect=["many_pages"]
)
def test_no_page_is_asked_alone(many_pages, name, monkeypatch):
    """Wanted rows are read together, and all rows of pages that are alike without a dictionary."""

    def never(*_):
        raise AssertionError(name)

    column, rows = column_of(many_pages[name]), np.arange(0, 4000, 7)
    monkeypatch.setattr(MiniBlockPage, "take", never)
    assert COLUMNS[name][::7] == column.take(rows).to_pylist()
    if name in ("numbers", "vectors"):
        monkeypatch.setattr(MiniBlockPage, "scan", never)
        assert [COLUMNS[name]] == [part.to_pylist() for part in column.scan(0, 4000)]


FLIPS = st.tuples(
    st.integers(0, 4),
    st.sampled_from([0, -1]),
    st.integers(0, 40),
    st.sampled_from([1, 2, 8, 10, 11, 16, 128]),
)
"""A page, its chunk table or repetition index, a byte of that, and bits that change in it."""


@pytest.mark.parametrize("name", ["lists", "numbers"])
@given(flips=st.lists(FLIPS, max_size=2), more=st.sampled_from([0, 0, 0, 1, -1, 2**15]))
@settings(max_examples=200)
def test_tables_of_many_pages_are_parsed_alike(many_pages, name, flips, more):
    """The same chunks, and the same rows in them; not where a clause is broken in any page."""
    data = bytearray(many_pages[name])
    pages = column_of(data)._leaves[0].pages
    for page, table, at, bits in flips:
        offset, size = pages[page].tables[table]
        data[offset + at % size] ^= bits
    pages = column_of(data)._leaves[0].pages
    pages[1].mini = replace(pages[1].mini, num_items=pages[1].mini.num_items + more)
    read = [
        read_cursors(page.file, page.tables, "tables", "L.page.miniblock.buffers") for page in pages
    ]
    together, alone = fast_pages.parse_tables(pages, read), None
    with suppress(BytesError):
        alone = [page.parse(page.file, own) for page, own in zip(pages, read, strict=True)]

    assert (together is None) == (alone is None)
    for one, (table, index) in zip(alone or [], together or [], strict=True):
        arrays = [(one.table, table, "numbers starts sizes counts")]
        arrays += [(one.index, index, "finished leftover")] * (one.index is not None)
        for plain_form, fast_form, names in arrays:
            for part in names.split():
                assert getattr(plain_form, part).tolist() == getattr(fast_form, part).tolist()
        assert (one.index and one.index.place) == (index and index.place)
