"""An adapter that does harm, in the way its argument names: see its tables.

It greets as an adapter should (but for HELLOS), and misbehaves when it is asked to read. It uses
the standard library only: it is started a hundred times.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

MODE = sys.argv[1]
MARKUP = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> [a](javascript:alert(3)) @octocat #1 "
    "![i](http://evil/x.png) https://evil www.evil.com | `b` \x1b[31mRED\x1b]0;title\x07 \u202e\n"
    "# heading\n|a|b|\n[bold]x[/bold] [/nope] [link=http://evil]y[/link] [red"
)
CONTROLS = "\x00\x1b[2J\x9b\x85\u2028\ufffe\ufdd0\ud800"
NO = {"reject": {"stage": "open", "kind": "other", "message": "no"}}


def reject_with(text):
    """Return a refusal with a text."""
    return {"reject": {"stage": "decode", "kind": "other", "message": text}}


def named(name, version="1"):
    """Return the implementation of a greeting."""
    return {"name": name, "version": version, "language": name}


HELLOS = {
    "name-markup": {**named(MARKUP, MARKUP), "homepage": "javascript:alert(1)"},
    "name-controls": named("a" + CONTROLS, "1\x0b"),
    "name-huge": named("n" * 300_000),
    "name-empty": named("", ""),
}
"""Implementations in the greeting."""


def table(name, path):
    """Put an Arrow file of hostile_tables.py in a place."""
    shutil.copyfile(Path(os.environ["HOSTILE_TABLES"], f"{name}.arrow"), path)


def sparse(path):
    """Make a file of a terabyte that takes no room."""
    Path(path).touch()
    os.truncate(path, 1 << 40)


OUTPUTS = {
    "link": lambda path: Path(path).symlink_to("/etc/passwd"),
    "fifo": os.mkfifo,
    "device": lambda path: Path(path).symlink_to("/dev/zero"),
    "folder": os.mkdir,
    "none": lambda path: None,
    "empty": lambda path: Path(path).touch(),
    "junk": lambda path: Path(path).write_bytes(os.urandom(1000)),
    "sparse": sparse,
}
"""Hostile objects at the path of the output, in addition to hostile_tables.py."""

TABLES = [
    *("zstd-bomb", "lz4-bomb", "null-bomb", "batch-bomb", "dictionary-bomb", "run-bomb", "wide"),
    *("nested", "bad-text", "zone", "far-date", "twice-named", "metadata", "pickle", "tensor"),
]
"""Arrow files in the folder that HOSTILE_TABLES names."""

ANSWERS = {
    **dict.fromkeys(HELLOS, NO),
    "message-markup": reject_with(MARKUP),
    "message-controls": reject_with("a" + CONTROLS),
    "message-long": reject_with("m" * 900_000),
    "adapter-error": {"adapter_error": {"message": MARKUP}},
    "unsupported": {"unsupported": {"feature": MARKUP}},
    "other-place": {"ok": {"out": "../../x"}},
}
"""Answers that keep to the protocol."""

LINES = {
    "not-utf-8": b'\xff\xfe\x00{"id":0}\n',
    "deep-list": b"[" * 500_000 + b"]" * 500_000 + b"\n",
    "deep-object": b'{"id":%d,"ok":' + b'{"a":' * 1500 + b"1" + b"}" * 1500 + b"}\n",
    "big-integer": b'{"id":%d,"ok":{"out":"x","num_rows":' + b"9" * 5000 + b"}}\n",
    "big-text": b'{"id":%d,"ok":{"out":"x","num_rows":"' + b"9" * 5000 + b'"}}\n',
    "infinity": b'{"id":%d,"ok":{"out":"x","num_rows":1e999}}\n',
    "nan": b'{"id":NaN,"ok":{"out":"x"}}\n',
    "id-true": b'{"id":true,"ok":{"out":"x"}}\n',
    "id-other": b'{"id":4711,"ok":{"out":"x"}}\n',
    "key-twice": b'{"id":99,"id":%d,"reject":{"stage":"open","message":"m"}}\n',
    "two-answers": b'{"id":%d,"ok":{"out":"x"}}\n{"id":1,"ok":{"out":"x"}}\n',
    "no-newline": b"x" * 20_000_000,
    "padded": b" " * 900_000 + b'{"id":%d,"reject":{"stage":"open","message":"m"}}\n',
}
"""Lines that are no message, or not one that was asked for."""


def late(_request):
    """Answer, and answer again a little later."""
    write({"id": _request["id"], **NO})
    time.sleep(0.1)
    write({"id": _request["id"] + 1, **NO})


def drip(_request):
    """Write blanks, one by one, and no line."""
    while True:
        os.write(1, b" ")
        time.sleep(0.02)


def daemon(_request):
    """Leave a process that has left the group and the session and cleared its environment."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sleep", ["sleep", "4711"], {} if MODE == "daemon-bare" else os.environ)
        os._exit(0)
    return NO


def child(_request):
    """Leave a child."""
    subprocess.Popen(["sleep", "4711"])
    return NO


def flood(_request):
    """Write forty megabytes of standard error."""
    for _ in range(40):
        os.write(2, b"E" * 2**20)
    return NO


def truncated(request):
    """Shorten the output after it was handed over."""
    table("long", request["out"])
    write({"id": request["id"], "ok": {"out": request["out"]}})
    os.truncate(request["out"], 100)


def no_scratch(request):
    """Remove the folder of the request, and the one of the session."""
    shutil.rmtree(Path(request["out"]).parent.parent, ignore_errors=True)
    return {"ok": {"out": request["out"]}}


def linked_scratch(request):
    """Put a link in the place of the session's scratch folder."""
    scratch = Path(request["out"]).parent.parent
    shutil.rmtree(scratch)
    scratch.symlink_to(Path(os.environ["HOSTILE_VICTIM"]))
    return {"ok": {"out": request["out"]}}


def locked_scratch(request):
    """Take away the right to enter the folder of the request."""
    Path(request["out"]).parent.chmod(0)
    return {"ok": {"out": request["out"]}}


def filled_scratch(request):
    """Fill the folder with files, links and a huge sparse file."""
    folder = Path(request["out"]).parent
    for number in range(500):
        (folder / f"{number}").touch()
        (folder / f"link{number}").symlink_to(os.environ["HOSTILE_VICTIM"])
    sparse(folder / "huge")
    return NO


def changed_input(request, make):
    """Put something else in the place of the input."""
    Path(request["path"]).unlink()
    make(request["path"])
    return NO


def close_out(_request):
    """Close standard output and stay."""
    os.close(1)
    time.sleep(600)


def close_in(_request):
    """Close standard input, answer, and stay."""
    os.close(0)
    write({"id": _request["id"], **NO})
    time.sleep(600)


DEEDS = {
    "late": late,
    "drip": drip,
    "half-line": lambda request: os.write(1, b'{"id":') and time.sleep(600),
    "child": child,
    "daemon": daemon,
    "daemon-bare": daemon,
    "flood": flood,
    "truncated": truncated,
    "no-scratch": no_scratch,
    "linked-scratch": linked_scratch,
    "locked-scratch": locked_scratch,
    "filled-scratch": filled_scratch,
    "input-fifo": lambda request: changed_input(request, os.mkfifo),
    "input-device": lambda request: changed_input(
        request, lambda path: Path(path).symlink_to("/dev/zero")
    ),
    "input-sparse": lambda request: changed_input(request, sparse),
    "exit": lambda request: os._exit(3),
    "exit-in-line": lambda request: os.write(1, b'{"id":') and os._exit(0),
    "killed": lambda request: os.kill(os.getpid(), signal.SIGKILL),
    "stopped": lambda request: os.kill(os.getpid(), signal.SIGSTOP),
    "close-in": close_in,
    "close-out": close_out,
    "ignores-term": lambda request: (signal.signal(signal.SIGTERM, signal.SIG_IGN) and None) or NO,
    "no-bye": lambda request: NO,
    "bye-flood": lambda request: NO,
    "dies-for-good": lambda request: (
        Path(os.environ["HOSTILE_VICTIM"], "dead").touch() or os._exit(1)
    ),
}
"""What it does; a result that is not None is the answer."""


def write(message):
    """Write a message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def misbehave(request):
    """Do what the mode names, and return the rest of the answer, if there is one."""
    if MODE in TABLES:
        table(MODE, request["out"])
        return {"ok": {"out": request["out"]}}
    if MODE in OUTPUTS:
        OUTPUTS[MODE](request["out"])
        return {"ok": {"out": request["out"]}}
    if MODE in ANSWERS:
        return ANSWERS[MODE]
    if MODE in DEEDS:
        return DEEDS[MODE](request)
    rest = LINES[MODE].replace(b"%d", str(request["id"]).encode())
    while rest:
        rest = rest[os.write(1, rest) :]
    return None


def main():
    """Answer until `bye`."""
    if MODE == "dies-for-good" and Path(os.environ["HOSTILE_VICTIM"], "dead").exists():
        sys.exit("never again")
    versions = {"versions": ["2.0", "2.1", "2.2", "2.3"]}
    name = HELLOS.get(MODE, named("hostile"))
    hello = {"protocol": 1, "implementation": name, "capabilities": {"file.read": versions}}
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello":
            write({"id": request["id"], "ok": hello})
        elif request["op"] == "bye":
            while MODE in ("no-bye", "bye-flood", "ignores-term"):
                os.write(1, b"x" * 65536) if MODE == "bye-flood" else time.sleep(600)
            return
        else:
            answer = misbehave(request)
            if answer is not None:
                write({"id": request["id"], **answer})


if __name__ == "__main__":
    main()
