"""Judge the hostile adapter in every mode, in one process, and print a line of JSON for each.

Arguments: folder of cases, folder for reports, and modes.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

from lance_conformance import process_tree
from lance_conformance.protocol import adapter_process
from lance_conformance.reports import files
from lance_conformance.reports.terminal import print_summary
from lance_conformance.runs.suite_run import RunOptions, run_suite
from rich.console import Console

adapter_process.GRACE_SECONDS = 0.2
HOSTILE = Path(__file__).with_name("hostile.py")


def peak_mb():
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(fixtures, out, mode):
    """Judge one mode, write all reports, and return what is left."""
    order = RunOptions(
        (sys.executable, "-I", "-S", str(HOSTILE), mode),
        fixtures=fixtures,
        timeout=SECONDS.get(mode, 60.0),
        journal=out / mode,
    )
    begin = time.monotonic()
    judged = run_suite(order)
    files.write(judged, out / mode)
    with (out / mode / "terminal.txt").open("w", encoding="utf-8") as sink:
        print_summary(judged, Console(file=sink, force_terminal=True))
    seconds = time.monotonic() - begin
    process_tree.kill_orphans()
    return {
        "mode": mode,
        "outcomes": [str(result.outcome) for result in judged.results],
        "details": [result.detail for result in judged.results],
        "exit_code": judged.exit_code,
        "seconds": round(seconds, 2),
        "peak_mb": round(peak_mb()),
        "processes": [one.pid for one in process_tree._processes() if one.parent == os.getpid()],
    }


SECONDS = dict.fromkeys(("drip", "half-line", "stopped", "close-out"), 0.3)
"""Time limit of the modes that never answer."""

if __name__ == "__main__":
    fixtures, out, *modes = sys.argv[1:]
    for mode in modes:
        print(json.dumps(run(Path(fixtures), Path(out), mode)), flush=True)
