"""Life of a table: whatever is done in any order, the rows are those of a list of dicts."""

import tempfile
from datetime import timedelta
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

Row = dict[str, object]
State = tuple[list[Row], bool]
"""The rows of a version, and whether it has the column that is added later."""

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("s", pa.string())])
VALUES = st.lists(
    st.tuples(st.none() | st.integers(-5, 5), st.none() | st.sampled_from(["a", "b", "ü"])),
    min_size=1,
    max_size=6,
)
REMAINDERS = st.tuples(st.integers(1, 4), st.integers(0, 3))
"""Which keys are meant: those of a remainder, of a divisor."""


def _sorted(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["k"])


class Life(RuleBasedStateMachine):
    """A table with its branches, and what every version of them holds."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.uri = str(Path(self._folder.name) / "t")
        self.lines: dict[str, dict[int, State]] = {}
        self.next_key = 0

    @initialize(values=VALUES, version=st.sampled_from(["2.0", "2.1", "2.2"]), stable=st.booleans())
    def create(self, values, version, stable) -> None:
        """Write the first version with files of at most three rows."""
        rows = self._new_rows(values)
        pylanceref.write_dataset(
            pa.Table.from_pylist(rows, SCHEMA),
            self.uri,
            data_storage_version=version,
            max_rows_per_file=3,
            enable_stable_row_ids=stable,
        )
        self.lines["main"] = {1: (rows, False)}

    def _new_rows(self, values) -> list[Row]:
        rows = [{"k": self.next_key + n, "v": v, "s": s} for n, (v, s) in enumerate(values)]
        self.next_key += len(rows)
        return rows

    def _line(self, number: int) -> str:
        return sorted(self.lines)[number % len(self.lines)]

    def _open(self, line: str, version: int | None = None):
        made = pylanceref.dataset(self.uri)
        if line == "main":
            return made if version is None else made.checkout_version(version)
        return made.checkout_version((line, version))

    def _latest(self, line: str) -> State:
        return self.lines[line][max(self.lines[line])]

    def _note(self, line: str, rows: list[Row], extra: bool | None = None) -> None:
        """Note what the latest version of a line has to hold, and look at it."""
        had = self._latest(line)[1]
        opened = self._open(line)
        self.lines[line][opened.version] = (rows, had if extra is None else extra)
        self._check(line, opened)

    def _check(self, line: str, opened) -> None:
        rows, extra = self.lines[line][opened.version]
        assert _sorted(rows) == _sorted(opened.to_table().to_pylist())
        assert len(rows) == opened.count_rows()
        assert extra == ("w" in opened.schema.names)

    @rule(values=VALUES, line=st.integers(0, 9))
    def append(self, values, line) -> None:
        """Add rows, which lack the later column."""
        line, new = self._line(line), self._new_rows(values)
        rows, extra = self._latest(line)
        given = pa.Table.from_pylist(new, SCHEMA)
        pylanceref.write_dataset(given, self._open(line), mode="append")
        self._note(line, rows + [{**row, **({"w": None} if extra else {})} for row in new])

    @rule(values=VALUES, line=st.integers(0, 9))
    def overwrite(self, values, line) -> None:
        """Put other rows in place of all, without the later column."""
        line, new = self._line(line), self._new_rows(values)
        given = pa.Table.from_pylist(new, SCHEMA)
        pylanceref.write_dataset(given, self._open(line), mode="overwrite")
        self._note(line, new, False)

    @rule(which=REMAINDERS, line=st.integers(0, 9))
    def delete(self, which, line) -> None:
        """Delete the rows of some keys."""
        line = self._line(line)
        self._open(line).delete(f"k % {which[0]} = {which[1]}")
        self._note(line, [r for r in self._latest(line)[0] if r["k"] % which[0] != which[1]])

    @rule(which=REMAINDERS, line=st.integers(0, 9))
    def update(self, which, line) -> None:
        """Compute a column anew for some keys."""
        line = self._line(line)
        self._open(line).update({"v": "k + 100"}, where=f"k % {which[0]} = {which[1]}")
        self._note(
            line,
            [
                {**row, "v": row["k"] + 100} if row["k"] % which[0] == which[1] else row
                for row in self._latest(line)[0]
            ],
        )

    @rule(values=VALUES, which=REMAINDERS, line=st.integers(0, 9), removes=st.booleans())
    def merge(self, values, which, line, removes) -> None:
        """Give matched keys new values, insert new ones, and maybe delete all others."""
        line, new = self._line(line), self._new_rows(values)
        rows, extra = self._latest(line)
        matched = [row["k"] for row in rows if row["k"] % which[0] == which[1]]
        source = [{"k": key, "v": -1, "s": "m"} for key in matched] + new
        merge = self._open(line).merge_insert("k")
        merge = merge.when_matched_update_all().when_not_matched_insert_all()
        if removes:
            merge = merge.when_not_matched_by_source_delete()
        merge.execute(pa.Table.from_pylist(source, SCHEMA))
        kept = [
            {**row, "v": -1, "s": "m"} if row["k"] in matched else row
            for row in rows
            if not removes or row["k"] in matched
        ]
        self._note(line, kept + [{**row, **({"w": None} if extra else {})} for row in new])

    @rule(line=st.integers(0, 9))
    def compact(self, line) -> None:
        """Join fragments and write deleted rows out; the rows stay."""
        line = self._line(line)
        self._open(line).optimize.compact_files(
            target_rows_per_fragment=8, materialize_deletions_threshold=0.0
        )
        self._note(line, self._latest(line)[0])

    @rule(line=st.integers(0, 9))
    def index(self, line) -> None:
        """Build or bring up to date an index, and ask it for every key."""
        line = self._line(line)
        opened, rows = self._open(line), self._latest(line)[0]
        if any(one.name == "k_idx" for one in opened.describe_indices()):
            opened.optimize.optimize_indices()
        else:
            opened.create_scalar_index("k", "BTREE")
        self._note(line, rows)
        for key in range(0, self.next_key, 3):
            found = self._open(line).to_table(filter=f"k = {key}").to_pylist()
            assert [row for row in rows if row["k"] == key] == found

    @rule(line=st.integers(0, 9), back=st.integers(0, 20))
    def restore(self, line, back) -> None:
        """Bring an older version of a line back as its latest."""
        line = self._line(line)
        known = sorted(self.lines[line])
        version = known[back % len(known)]
        self._open(line, version).restore()
        self._note(line, *self.lines[line][version])

    @precondition(lambda self: len(self.lines) < 3)
    @rule(line=st.integers(0, 9))
    def branch(self, line) -> None:
        """Begin a branch with the rows of the latest version of a line."""
        line, name = self._line(line), f"b{len(self.lines)}"
        made = self._open(line).create_branch(name)
        self.lines[name] = {made.version: self._latest(line)}
        self._check(name, self._open(name))

    @rule(line=st.integers(0, 9))
    def add_column(self, line) -> None:
        """Add a column once to each line."""
        line = self._line(line)
        rows, extra = self._latest(line)
        if not extra:
            self._open(line).add_columns({"w": "k * 2"})
            self._note(line, [{**row, "w": row["k"] * 2} for row in rows], True)

    @rule()
    def clean_up(self) -> None:
        """Remove old versions; no branch and no latest version loses a row."""
        self._open("main").cleanup_old_versions(older_than=timedelta(0))
        left = {one["version"] for one in self._open("main").versions()}
        assert max(self.lines["main"]) in left
        for version in self.lines["main"].keys() - left:
            del self.lines["main"][version]
        for line in self.lines:
            self._check(line, self._open(line))

    @invariant()
    def the_first_known_version_is_unchanged(self) -> None:
        """Later versions change nothing of earlier ones."""
        for line, versions in self.lines.items():
            self._check(line, self._open(line, min(versions)))

    def teardown(self) -> None:
        """Every version reads as it was, and deep validation finds nothing."""
        for line, versions in self.lines.items():
            for version in versions:
                self._check(line, self._open(line, version))
        if self.lines:
            assert [] == lanceref.validate(self.uri, deep=True)
        self._folder.cleanup()


SIZE = {"deadline": None, "suppress_health_check": list(HealthCheck)}
TestLife = Life.TestCase
TestLife.settings = settings(max_examples=10, stateful_step_count=12, **SIZE)
