"""The conflict matrix."""

import pyarrow as pa
import pytest
from lance_conformance.campaigns.conflicts import Cell, Matrix, Outcome, show


def test_cells_that_differ_are_shown(capsys):
    """Verdicts, rows; not what a clause explains."""
    stands, rows = Outcome("."), Outcome(".", pa.table({"a": [1]}))
    cells = [
        Cell("Ap", "Ap", stands, stands),
        Cell("Ap", "Ow", Outcome("R"), stands),
        Cell("Ow", "Ap", rows, stands),
        Cell("Pr", "Ix", stands, Outcome("X")),
        Cell("Pr", "Ix", stands, stands),
    ]
    show(cells)

    assert [False, True, True, False, True] == [cell.differs for cell in cells]
    assert "5 pairs, 3 different, 2 known by a clause" in capsys.readouterr().out


@pytest.mark.oracle
@pytest.mark.parametrize("stable", [False, True])
def test_a_sample_of_the_matrix_agrees(tmp_path, stable):
    """One pair of each kind of verdict, and what the table then holds."""
    matrix = Matrix(tmp_path, stable=stable)
    pairs = {("Ap", "D0"): ".", ("Ow", "Ap"): "X", ("U0", "D0"): "R", ("Pr", "Ix"): "X"}
    found = {pair: matrix.cell(*pair) for pair in pairs}

    assert pairs == {pair: cell.reference.verdict for pair, cell in found.items()}
    assert not [pair for pair, cell in found.items() if cell.differs]
