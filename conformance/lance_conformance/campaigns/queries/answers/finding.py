"""Finding: the reference asks indices the saved questions; the oracle is not needed.

Of every question the bytes read of indices and of data are counted. An index that is asked is read;
one that says alone which rows are wanted leaves the data unread.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pylanceref
from lanceref.storage import Source
from lanceref.storage.local_file import LocalSource
from lanceref.storage.protocol import IOStats

from lance_conformance.campaigns.queries.answers.subjects import OURS, THEIRS, Subject, named


@dataclass(slots=True)
class Score:
    """What came of the questions to one table; bytes are sums over those that ask the index.

    `scan_bytes` is what a look at all rows reads of the data, counted where some has to be read.
    """

    asked: int = 0
    by_index: int = 0
    index_bytes: int = 0
    data_bytes: int = 0
    scan_bytes: int = 0
    wrong: list[str] = field(default_factory=list)


def find_both(name: str, folder: Path) -> dict[str, Score]:
    """Ask both tables of a subject; there are none where the oracle made no index."""
    if not (folder / name / "questions.json").exists():
        return {}
    return {one: find(named(name), folder / name / one) for one in (THEIRS, OURS)}


def find(subject: Subject, path: Path) -> Score:
    """Ask a table the questions that are saved beside it."""
    score = Score()
    for saved in json.loads((path.parent / "questions.json").read_text()):
        condition, rows = saved["condition"], saved["rows"]
        dataset = pylanceref.dataset(path)
        found, index_bytes, data_bytes = metered(dataset, condition, use_index=True)
        asks = "ScalarIndexQuery" in dataset.scanner(filter=condition).explain_plan()
        score.asked += 1
        if found != rows:
            score.wrong.append(f"{condition}: {len(found)} rows, not {len(rows)}")
        if saved["asked"] and not asks:
            score.wrong.append(f"{condition}: the index is not asked")
        if not asks:
            continue
        score.by_index += 1
        score.index_bytes += index_bytes
        score.data_bytes += data_bytes
        if not subject.exact:
            score.scan_bytes += metered(pylanceref.dataset(path), condition, use_index=False)[2]
        if subject.exact and not index_bytes:
            score.wrong.append(f"{condition}: the index is not read")
        if subject.exact and data_bytes:
            score.wrong.append(f"{condition}: {data_bytes} bytes of data are read")
    if not subject.exact and score.by_index and not score.index_bytes:
        score.wrong.append("the index is not read")
    if not subject.exact and score.data_bytes >= score.scan_bytes > 0:
        score.wrong.append(f"all data is read: {score.data_bytes} of {score.scan_bytes} bytes")
    return score


def metered(
    dataset: pylanceref.LanceDataset, condition: str, *, use_index: bool
) -> tuple[list[int], int, int]:
    """Return the addresses that a filter finds, and the bytes read of indices and of data."""
    counted = {"_indices": IOStats(), "data": IOStats()}
    store: Any = dataset._snapshot.store
    store.open = counting(store.open, counted)
    found = dataset.to_table(
        filter=condition, columns=[], with_row_address=True, use_scalar_index=use_index
    )
    rows = sorted(found["_rowaddr"].to_pylist())
    return rows, counted["_indices"].read_bytes, counted["data"].read_bytes


def counting(
    opens: Callable[[str], Source], counted: dict[str, IOStats]
) -> Callable[[str], Source]:
    """Return what opens files and counts what is read of each folder."""

    def opened(path: str) -> Source:
        source = opens(path)
        folder = path.partition("/")[0]
        if folder in counted:
            assert isinstance(source, LocalSource)
            source.stats = counted[folder]
        return source

    return opened
