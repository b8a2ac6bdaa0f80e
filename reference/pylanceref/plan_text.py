"""Plan text: a filter and a search as `explain_plan` shows them (face)."""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.index import predicate as questions
from lanceref.search.index_plan import Combined, Plan
from lanceref.search.minhash_search import MinHashSearch
from lanceref.search.rows import Condition
from lanceref.search.text_search import TextSearch
from lanceref.search.vector_search import VectorSearch
from lanceref.table.rows import FragmentRows


def plan_text(plan: Plan) -> str:
    """Return the questions that a plan puts to indices."""
    if isinstance(plan, Combined):
        texts = ",".join(map(plan_text, plan.parts))
        return f"{plan.operator}({texts})" if len(plan.parts) > 1 else texts
    text, index = _predicate_text(plan.predicate, plan.path), plan.index
    if index.kind.json_path is not None:
        text = f"Json({text}->{index.kind.json_path})"
    text = f"[{text}]@{index.name}({index.kind.shown})"
    return f"NOT({text})" if plan.negated else text


def _predicate_text(predicate: questions.Predicate, column: str) -> str:
    """Return a predicate on a column."""
    match predicate:
        case questions.IsNull():
            return f"{column} IS NULL"
        case questions.Among((value,)):
            return f"{column} = {questions.scalar_text(value)}"
        case questions.Among(values):
            return f"{column} IN [{','.join(map(questions.scalar_text, values))}]"
        case questions.Within(low, high, low_closed, high_closed):
            ends = ((">=" if low_closed else ">", low), ("<=" if high_closed else "<", high))
            given = [(sign, end) for sign, end in ends if end is not None]
            parts = [f"{column} {sign} {questions.scalar_text(end)}" for sign, end in given]
            return " && ".join(parts)
        case questions.StartsWith(prefix):
            return f"{column} LIKE '{questions.scalar_text(prefix)}%'"
        case questions.Contains(text):
            return f'contains({column}, Utf8("{text}"))'
        case questions.HasLabels(labels, every):
            name = "array_has_all" if every else "array_has_any"
            return f"{name}({column}, List([{', '.join(map(questions.scalar_text, labels))}]))"
        case _:
            return f"{type(predicate).__name__}({column})"


def index_steps(condition: Condition) -> list[str]:
    """Return the questions of a filter to indices, one step a line."""
    plan = condition.plan
    return [] if plan is None else [f"ScalarIndexQuery: query={plan_text(plan)}"]


def condition_steps(condition: Condition, fragments: Sequence[FragmentRows]) -> list[str]:
    """Return the steps of a search whose rows have to pass: questions, and what is read."""
    asked, names = index_steps(condition), ", ".join(condition.filter.paths)
    read = len(fragments) - (len(condition.indexed(fragments)) if asked else 0)
    steps = [f"Filter: columns=[{names}]", *asked]
    return [*steps, f"LanceRead: projection=[{names}], num_fragments={read}"] if read else steps


def search_steps(search: VectorSearch | TextSearch | MinHashSearch) -> list[str]:
    """Return the steps of a search, one a line, the last one first. Raises FormatError."""
    match search:
        case VectorSearch():
            return _vector_steps(search)
        case TextSearch():
            columns = ", ".join(sorted({column.path for column in search.columns.values()}))
            steps = [f"FullTextSearch: query={type(search.query).__name__}, columns=[{columns}]"]
            for column in search.columns.values():
                path, fragments = column.path, len(column.unindexed)
                if column.opened:
                    steps.append(f"MatchQuery: column={path}")
                if fragments:
                    steps.append(f"FlatMatchQuery: column={path}")
                    steps.append(f"LanceRead: projection=[{path}], num_fragments={fragments}")
            return steps
        case MinHashSearch():
            text = f"column={search.query.column}, limit={search.count}"
            steps = [f"MinHashSearch: {text}, segments={len(search.index.segments)}"]
            return [*steps, f"MinHashFlatSearch: {text}"] if search.unindexed else steps


def _vector_steps(search: VectorSearch) -> list[str]:
    query, fragments = search.query, len(search.unindexed)
    steps = [f"Sort: TopK(fetch={query.k}), [_distance ASC, _rowid ASC]"]
    if search.index is not None:
        least, most = query.search.min_probes, query.search.max_probes
        shown = "None" if most is None else f"Some({most})"
        named = f"name={search.index.name}, k={query.k}, metric={search.metric.capitalize()}"
        steps.append(f"ANNSubIndex: {named}")
        steps.append(f"ANNIvfPartition: minimum_nprobes={least or 1}, maximum_nprobes={shown}")
    if fragments:
        steps.append(f"KNNVectorDistance: metric={search.metric}")
        step = "LanceRead" if search.index is None else "LanceScan"
        steps.append(f"{step}: projection=[{query.column}], num_fragments={fragments}")
    return steps
