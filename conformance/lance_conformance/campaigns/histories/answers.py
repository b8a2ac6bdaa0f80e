"""Answers: what the indices of two tables say, asked by both implementations, and the rows do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from lance_conformance.campaigns.histories.guarded import guarded
from lance_conformance.campaigns.histories.questions import Question, questions
from lance_conformance.campaigns.histories.view import View


def answered_differently(
    seed: str, view: View, roots: Sequence[Path], readers: Sequence[ModuleType]
) -> Iterator[str]:
    """Yield questions to the indices of a table that have more than one answer.

    Each is asked of both tables by both readers, with and without the indices.
    """
    opened = {
        f"{root.name} by {module.__name__}": (module, module.dataset(str(root / view.name)))
        for root in roots
        for module in readers
    }
    for question in questions(Random(seed), view):
        told = {
            f"{who}, {'index' if use_index else 'rows'}": _answer(
                module, found, question, use_index
            )
            for who, (module, found) in opened.items()
            for use_index in (False, True)
        }
        if len(set(told.values())) > 1:
            by_answer: dict[str, list[str]] = {answer: [] for answer in told.values()}
            for who, answer in told.items():
                by_answer[answer].append(who)
            shown = "; ".join(f"{', '.join(who)}: {answer}" for answer, who in by_answer.items())
            yield f"{view.name}: {question}: {shown}"


def _answer(module: ModuleType, found: Any, question: Question, use_index: bool) -> str:
    """Return what is reported of the rows found, in ascending order, or that there are none.

    How implementations word an error is their own.
    """
    told = guarded(lambda: _rows(module, found, question, use_index))
    return "refused" if told.error else str(told.value)


def _rows(
    module: ModuleType, found: Any, question: Question, use_index: bool
) -> list[tuple[object, ...]]:
    asked = eval(f"dict({question})", {"lance": module, "use_index": use_index})
    table = found.to_table(**asked)
    return sorted(zip(*(table[name].to_pylist() for name in asked["columns"]), strict=True))
