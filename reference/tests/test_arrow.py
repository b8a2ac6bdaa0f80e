"""Arrow types: known to pyarrow once the module is imported, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

READ = """
import sys
import pylanceref, pyarrow as pa
import pylanceref.arrow as types
tensor = pa.fixed_shape_tensor(types.BFloat16Type(), [3])
values = types.bfloat16_array([float(i) for i in range(9)])
vectors = pa.FixedSizeListArray.from_arrays(values, 3)
table = pa.table({
    "value": values.slice(0, 3),
    "vector": vectors,
    "tensor": pa.ExtensionArray.from_storage(tensor, vectors),
})
made = pylanceref.write_dataset(table, sys.argv[1])
assert table.schema == made.schema, made.schema
assert table == made.to_table()
"""


def _run(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)


def test_a_table_has_the_type(tmp_path):
    """Of columns, of items of a list and of a tensor."""
    _run(READ, str(tmp_path / "t"))


def test_the_name_may_be_taken(tmp_path):
    """By another module in the process: nothing fails."""
    taken = "import pyarrow as pa\nfrom pylanceref.bfloat16 import BFloat16Type\n"
    _run(f"{taken}pa.register_extension_type(BFloat16Type())\nimport pylanceref.arrow")


def test_names_of_pandas_come_when_asked_for():
    """And no others."""
    _run("import pylanceref.arrow, sys; assert 'pandas' not in sys.modules")
    _run("from pylanceref.arrow import PandasBFloat16Array as a; assert a.from_numpy")
    _run("import pylanceref.arrow as a; assert not hasattr(a, 'nothing')")


@pytest.mark.oracle
def test_what_we_write_is_the_oracles_type(tmp_path):
    """The oracle reads the same table with its own type."""
    path = str(tmp_path / "t")
    _run(READ, path)
    _run(
        "import lance, lance.arrow, sys\n"
        "table = lance.dataset(sys.argv[1]).to_table()\n"
        "assert isinstance(table['value'].type, lance.arrow.BFloat16Type)\n"
        "assert '8' == str(table['vector'].chunk(0).values[8].as_py())\n",
        path,
    )
