"""One release of pylance is the oracle, wherever it is named."""

import tomllib
from pathlib import Path

from lance_conformance import oracle
from lanceref.transactions.manifest_builder import WRITER

ROOT = Path(__file__).parents[2]


def test_the_pinned_release_is_the_oracle():
    """Package of the extra, writer that manifests state, known failures, page of results."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = ROOT / "conformance/lance_conformance/adapters/known"

    assert [f"pylance=={oracle.RELEASE}"] == project["optional-dependencies"]["oracle"]
    assert oracle.RELEASE == WRITER.version
    assert (known / f"pylance-{oracle.RELEASE}.toml").exists()
    assert (ROOT / f"conformance/results/pylance-{oracle.RELEASE}.md").exists()


def test_releases_are_in_order():
    """Oldest first, by number; pins are for releases of the matrix."""
    numbers = [tuple(map(int, release.split("."))) for release in oracle.RELEASES]

    assert numbers == sorted(set(numbers))
    assert set(oracle.PINS) <= set(oracle.RELEASES)
