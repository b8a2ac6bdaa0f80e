"""Generate the message modules of `lanceref.proto` from `protos/`, or check that they agree.

The .proto files import each other by bare name; protoc sees them under the virtual folder
`lanceref/proto/`, so that the generated modules import each other as `lanceref.proto.x_pb2`.

    python tools/protos.py            regenerate
    python tools/protos.py --check    fail on drift, then let buf lint the .proto files and compare
                                      what they say of bytes with the last commit

What is generated depends on the release of grpcio-tools: the extra `protos` pins one whose modules
load with every protobuf that the package allows.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "protos"
GENERATED = ROOT / "reference" / "lanceref" / "proto"
PACKAGE = "lanceref/proto"


def generate(target: Path) -> None:
    """Write the modules and stubs of every .proto file below `target`/lanceref/proto."""
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder, PACKAGE)
        staged.mkdir(parents=True)
        for source in sorted(SOURCES.glob("*.proto")):
            text = source.read_text(encoding="utf-8")
            text = re.sub(r'^import "(?!google/)', f'import "{PACKAGE}/', text, flags=re.M)
            (staged / source.name).write_text(text, encoding="utf-8")
        include = Path(protoc.__file__).parent / "_proto"
        arguments = ["protoc", f"-I{folder}", f"-I{include}"]
        arguments += [f"--python_out={target}", f"--pyi_out={target}"]
        arguments += [f"{PACKAGE}/{source.name}" for source in sorted(SOURCES.glob("*.proto"))]
        if protoc.main(arguments) != 0:
            raise SystemExit("protoc failed")


def drift() -> list[str]:
    """Return the names of generated files that differ from what protoc makes now."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        generated = {p.name: p.read_bytes() for p in Path(folder, PACKAGE).iterdir()}
    stored = {p.name: p.read_bytes() for p in GENERATED.glob("*_pb2.py*")}
    return sorted(
        name for name in generated.keys() | stored.keys() if generated.get(name) != stored.get(name)
    )


def main() -> int:
    """Regenerate, or with --check compare and lint."""
    if "--check" not in sys.argv[1:]:
        generate(ROOT / "reference")
        return 0
    drifted = drift()
    for name in drifted:
        print(f"reference/lanceref/proto/{name}: differs; run python tools/protos.py")
    return 1 if drifted or not _buf_agrees() else 0


def _buf_agrees() -> bool:
    """Lint, and look for breaking changes where there is a commit to compare with."""
    commands = [["buf", "lint", "protos"]]
    if (ROOT / ".git").is_dir():
        commands.append(["buf", "breaking", "protos", "--against", ".git#subdir=protos"])
    results = [subprocess.run(command, cwd=ROOT, check=False) for command in commands]
    return all(result.returncode == 0 for result in results)


if __name__ == "__main__":
    sys.exit(main())
