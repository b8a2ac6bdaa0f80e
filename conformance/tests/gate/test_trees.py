"""Trees: folders and revisions."""

import subprocess
from pathlib import Path

import pytest
from lance_conformance.gate import trees
from lance_conformance.gate.trees import TreeError


def git(folder: Path, *arguments: str) -> None:
    """Run git with a fixed identity."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


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
    (tmp_path / "README.md").write_text("[clauses](spec/register.json)")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "two")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_revision_has_what_it_had(repository):
    """The older revision has no register, and only what a gate looks at: links lead to pages."""
    with trees.open_tree("HEAD~1") as old, trees.open_tree("HEAD") as new:
        assert ["protos"] == [path.name for path in old.root.iterdir()]
        assert old.register is None
        assert new.register == new.root / "spec" / "register.json"
        assert new.fixtures is None and (new.root / "README.md").exists()
        assert new.packages is None
    assert not new.root.exists()


def test_a_folder_never_takes_the_place_of_a_revision(repository):
    """A folder named like the base is not the base; a bare folder name is no tree."""
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    (repository / "origin" / "main" / "spec").mkdir(parents=True)
    (repository / "HEAD").mkdir()

    with trees.open_tree("origin/main") as base, trees.open_tree("HEAD") as head:
        assert base.register is None
        assert head.register is not None
        assert not trees.is_same(base, head)
    with (
        pytest.raises(TreeError, match=r"write \./protos for the folder"),
        trees.open_tree("protos"),
    ):
        pass


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_an_ambiguous_name_is_refused(repository, kind):
    """An ambiguous `origin/main`, a local branch or tag, is refused."""
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    git(repository, "update-ref", f"refs/{kind}/origin/main", "HEAD")

    with pytest.raises(TreeError, match="several refs"), trees.open_tree("origin/main"):
        pass
    with trees.open_tree("refs/remotes/origin/main") as base:
        assert base.register is None


@pytest.mark.parametrize("name", ["", "--help", "--output=x", "-h", "HEAD..HEAD", "HEAD:protos"])
def test_a_name_is_never_an_option_of_git(repository, name):
    """Nothing but the name of one commit is accepted."""
    with pytest.raises(TreeError), trees.open_tree(name):
        pass
    assert not (repository / "x").exists()


def test_attributes_of_git_change_nothing(repository):
    """A pull request cannot hide or rewrite a file of a revision by `.gitattributes`."""
    (repository / ".gitattributes").write_text("* export-subst\nregister.json export-ignore\n")
    (repository / "spec" / "page.md").write_text("$Format:%H$\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")

    with trees.open_tree("HEAD") as tree:
        assert tree.register is not None
        assert "$Format:%H$\n" == (tree.root / "spec" / "page.md").read_text()


def test_symbolic_links_are_refused(repository):
    """A link among the compared files could lead into the other tree, in a revision or a folder."""
    (repository / "fixtures").mkdir()
    (repository / "fixtures" / "SUITE.json").symlink_to("../spec/register.json")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")

    for name in ("HEAD", "./"):
        with pytest.raises(TreeError, match=r"SUITE\.json.*symbolic link"), trees.open_tree(name):
            pass


def test_submodules_are_refused(repository):
    """A submodule has no files in the revision."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},reference")
    git(repository, "commit", "-qm", "three")

    with pytest.raises(TreeError, match=r"'reference'.*submodule"), trees.open_tree("HEAD"):
        pass


def test_a_path_that_leads_out_is_refused(repository):
    """A tree object made by hand holds a folder `..`."""

    def made(*arguments: str, stdin: str) -> str:
        git, sent = ["git", *arguments], stdin.encode()
        done = subprocess.run(git, cwd=repository, input=sent, capture_output=True, check=True)
        return done.stdout.decode().strip()

    blob = made("hash-object", "-w", "--stdin", stdin="evil")

    def folder(name: str, mode: str, inner: str) -> str:
        raw = f"{mode} {name}\0".encode() + bytes.fromhex(inner)
        done = subprocess.run(
            ["git", "hash-object", "--literally", "-t", "tree", "-w", "--stdin"],
            cwd=repository, input=raw, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout.decode().strip()

    inner = folder("..", "40000", folder("evil.md", "100644", blob))
    outer = folder("spec", "40000", inner)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    commit = made(*identity, "commit-tree", "-m", "four", outer, stdin="")

    with pytest.raises(TreeError, match=r"spec/\.\./evil\.md.*leads out"), trees.open_tree(commit):
        pass
