"""D.damage.array-buffer-index: a buffer the column does not have."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muOU|?VcVm2W5AOmnob4dy@CM*1h0Y)v>%)Am~BLhYYMge9nO(AtIRW5n`oW#83RK3)^<ouM(y!2u{=lq<~+&ot(Ux<l|L"
    "C8dcS;;_1k4uM34nw(PQBh(gTs0RL2Zw?X3kRbBqZA{95+hGM0|cZ)X$L4R52a!9$Ds5zD9s4P3=GT+K8}9Q070ZVa{"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
