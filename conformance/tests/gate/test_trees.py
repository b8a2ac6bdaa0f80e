"""Trees: folders and revisions."""

import subprocess
from pathlib import Path

import pytest
from lance_conformance.gate import trees


def git(folder: Path, *arguments: str) -> None:
    """Run git as nobody in particular."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of two commits; the second adds a register."""
    (tmp_path / "protos").mkdir()
    (tmp_path / "protos" / "a.proto").write_text('syntax = "proto3";\n')
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x").write_text("x")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "register.json").write_text('{"clauses": []}')
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "two")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_revision_has_what_it_had(repository):
    """The older revision has no register, and only folders that a gate looks at."""
    with trees.opened("HEAD~1") as old, trees.opened("HEAD") as new:
        assert ["protos"] == [path.name for path in old.root.iterdir()]
        assert old.register is None
        assert new.register == new.root / "spec" / "register.json"
        assert new.fixtures is None
        assert new.packages is None
    assert not new.root.exists()


def test_a_folder_is_taken_as_it_is(repository):
    """Without `protos` below it, `.proto` files may lie in the folder itself."""
    with trees.opened("protos") as tree:
        assert repository / "protos" == tree.protos
    with trees.opened(str(repository)) as tree:
        assert repository / "protos" == tree.protos


def test_neither_folder_nor_revision(repository):
    """Git's own words say what is wrong."""
    with pytest.raises(trees.NoTree, match="nowhere"), trees.opened("nowhere"):
        pass
