"""Defects: run the script of each defect of pylance on a release, and make the page of them.

A script lies below `spec/defects` and uses pylance, NumPy and pyarrow alone. It prints what is
expected and what came, and exits with 1 while the defect is there and with 0 when it is gone. A
script that ends with a traceback, or asks for what a release does not offer (pages of 2.3 too),
tells nothing of it.

    python tools/defects.py                     run on the oracle that is installed
    python tools/defects.py --release 13.0.0    run on a release, in an environment of its own
    python tools/defects.py --only 'index-*'    some of the scripts
    python tools/defects.py --write             keep the outcomes, and make spec/defects.md
    python tools/defects.py --check             run nothing: entries, scripts and page agree

Exit code 1: on the oracle a defect is gone that the kept outcomes have, or the other way round.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from findings import Finding, conclude
from lance_conformance import oracle
from lance_conformance.matrix.wheels import cache, interpreter
from lance_conformance.specification import divergences
from lance_conformance.specification.divergences import KINDS, SEVERITIES, Divergence
from sources import ROOT

PAGE = "spec/divergences.md"
"""The entries."""

SCRIPTS = "spec/defects"
"""The scripts, and the kept outcomes."""

RESULTS = f"{SCRIPTS}/results.json"
"""Outcomes by release and defect."""

DEFECTS = "spec/defects.md"
"""The page that is made."""

PRESENT, MENDED, NOT_OFFERED = "there", "gone", "not offered"
"""Outcomes of a script."""

PATIENCE = 120
"""Seconds that a script may take."""

MAX_LINES = 20
"""Lines of a script that are neither blank nor its docstring."""

_NOT_OFFERED = re.compile(
    r"has no attribute|unexpected keyword|not supported by|cannot import|PlanarLayout"
)
"""Messages of a release about missing features; pages of 2.3 have the last one."""

_IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)


def run(python: str, script: Path) -> tuple[str, str]:
    """Return the outcome of a script, and the line it printed or the last line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [python, str(script)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE,
                cwd=folder,
                env={"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return NOT_OFFERED, f"no answer in {PATIENCE} seconds"
    output = " ".join(done.stdout.split())
    if done.returncode not in (0, 1) or "Traceback" in done.stderr or _NOT_OFFERED.search(output):
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return NOT_OFFERED, output or lines[-1]
    return (PRESENT if done.returncode else MENDED), output


def checks(root: Path, entries: Mapping[str, Divergence]) -> Iterator[Finding]:
    """Yield what is wrong with entries and scripts."""
    scripts = {path.name: path for path in (root / SCRIPTS).glob("*.py")}
    for entry in entries.values():
        if entry.kind not in KINDS:
            yield Finding(PAGE, entry.line, f"{entry.id}: kind is one of {', '.join(KINDS)}")
        path = scripts.pop(entry.script, None)
        if path is not None and not entry.severity:
            yield Finding(PAGE, entry.line, f"{entry.id} has a script and is no defect")
        elif path is not None:
            yield from _script(path, entry)
    for name in scripts:
        yield Finding(f"{SCRIPTS}/{name}", 0, f"no entry of {PAGE} has this script")


def _script(path: Path, entry: Divergence) -> Iterator[Finding]:
    name, text = f"{SCRIPTS}/{path.name}", path.read_text("utf-8")
    head, _, body = text.removeprefix('"""').partition('"""')
    if not " ".join(head.split()).startswith(f"{entry.id}: "):
        yield Finding(name, 1, f"the docstring begins with `{entry.id}: `")
    lines = [line for line in body.splitlines() if line.strip()]
    if len(lines) > MAX_LINES:
        yield Finding(name, 1, f"{len(lines)} lines, at most {MAX_LINES} are wanted")
    allowed = sys.stdlib_module_names | {"lance", "numpy", "pyarrow"}
    for module in _IMPORT.findall(body):
        if module not in allowed:
            yield Finding(name, 1, f"imports {module}")


def title(root: Path, entry: Divergence) -> str:
    """Return the sentence of a script, or the first sentence of the entry."""
    path = root / SCRIPTS / entry.script
    if path.exists():
        head = path.read_text("utf-8").removeprefix('"""').partition('"""')[0]
        return " ".join(head.partition(": ")[2].split()).rstrip(".")
    return " ".join(entry.text.split()).partition(". ")[0].rstrip(".")


def render(
    root: Path, entries: Mapping[str, Divergence], results: dict[str, dict[str, str]]
) -> str:
    """Return the page: a table, the worst first, then a summary of each to paste into an issue."""
    defects = [entry for entry in entries.values() if entry.severity in SEVERITIES]
    defects.sort(key=lambda entry: (SEVERITIES.index(entry.severity), entry.id))
    counts = Counter(entry.severity for entry in defects)
    scripts = sum((root / SCRIPTS / entry.script).exists() for entry in defects)
    releases = sorted(results, key=lambda one: [int(part) for part in one.split(".")])
    totals = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES)
    lines = [
        "# Defects of pylance",
        "",
        "Made by `tools/defects.py` from [divergences](divergences.md), the scripts in",
        "`spec/defects` and their outcomes. `nox -s defects` runs the scripts on the oracle,",
        "`nox -s defects -- --release 13.0.0` on another release. A script needs nothing but",
        "pylance: `python spec/defects/NAME.py` exits with 1 while the defect is there.",
        "",
        f"{len(defects)} defects, {scripts} of them with a script: {totals}.",
        "",
        f"| defect | severity | {' | '.join(releases)} | script |",
        "|---|---|" + "---|" * (len(releases) + 1),
    ]
    for entry in defects:
        has = (root / SCRIPTS / entry.script).exists()
        script = f"`{entry.script}`" if has else "none yet"
        cells = " | ".join(results[one].get(entry.id, "") for one in releases)
        lines.append(
            f"| [{title(root, entry)}](#{_slug(entry)}) | {entry.severity} | {cells} | {script} |"
        )
    for entry in defects:
        lines += ["", f"## {entry.id}", "", f"**{title(root, entry)}.**", "", entry.text, ""]
        lines += [f"* severity: {entry.severity}; component: {entry.rows.get('component', '')}"]
        lines += [f"* file versions: {entry.rows.get('file versions', '')}"]
        there = [one for one in releases if results[one].get(entry.id) == PRESENT]
        lines += [f"* seen on: {', '.join(there)}"] if there else []
        lines += [f"* workaround: {entry.rows['workaround']}"] if "workaround" in entry.rows else []
        if (root / SCRIPTS / entry.script).exists():
            text = (root / SCRIPTS / entry.script).read_text("utf-8").rstrip()
            lines += ["", "```python", text, "```"]
    return "\n".join(lines) + "\n"


def _slug(entry: Divergence) -> str:
    return re.sub(r"[^\w\- ]", "", entry.id.lower())


def main() -> int:
    """Run, write or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--release", help="of pylance; default: the oracle, as installed here")
    parser.add_argument("--only", default="*", help="pattern of names of scripts")
    parser.add_argument("--write", action="store_true", help="keep the outcomes, make the page")
    parser.add_argument("--check", action="store_true", help="run nothing")
    options = parser.parse_args()
    root, release = options.root, options.release or oracle.RELEASE
    entries = divergences.load(root / PAGE)
    path = root / RESULTS
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    findings = list(checks(root, entries))
    if not options.check:
        python = str(interpreter(release, cache())) if options.release else sys.executable
        known = dict(results.get(release, {}))
        for entry in entries.values():
            script = root / SCRIPTS / entry.script
            if not script.exists() or not fnmatch(script.stem, options.only):
                continue
            outcome, output = run(python, script)
            print(f"{outcome:11} {entry.id}: {output[:150]}", flush=True)
            if known.get(entry.id, outcome) != outcome and not options.write:
                findings.append(Finding(f"{SCRIPTS}/{script.name}", 0, f"{outcome} on {release}"))
            known[entry.id] = outcome
        print(f"{release}: {dict(Counter(known.values()))}")
        if options.write:
            results[release] = dict(sorted(known.items()))
            path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", "utf-8")
    page = render(root, entries, results)
    if options.write:
        (root / DEFECTS).write_text(page, "utf-8")
    elif not (root / DEFECTS).exists() or (root / DEFECTS).read_text("utf-8") != page:
        findings.append(Finding(DEFECTS, 0, "is not up to date: run tools/defects.py --write"))
    return conclude("defects", findings)


if __name__ == "__main__":
    raise SystemExit(main())
