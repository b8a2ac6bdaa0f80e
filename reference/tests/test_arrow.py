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
    _run(
        "import pyarrow as pa\n"
        "class Other(pa.ExtensionType):\n"
        "    def __init__(self):\n"
        "        super().__init__(pa.binary(2), 'lance.bfloat16')\n"
        "    def __arrow_ext_serialize__(self):\n"
        "        return b''\n"
        "    def __arrow_ext_deserialize__(cls, storage, data):\n"
        "        return cls()\n"
        "pa.register_extension_type(Other())\n"
        "import pylanceref.arrow"
    )


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
