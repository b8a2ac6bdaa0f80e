"""D.damage.file-pages-length: 2**40 nulls."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-rHV;1UyJOjh_01B_ZMd8Iiy28;sCT$)1aT&i61`Z<Yt$*Fp&dCB=HnR)5Odd~SdrMY>oP`(fo7lV+oL<0yYC}|04aH(<0V"
    "d!xzDoU(`Yhe*$l46iyfPe%BR3L*!*FfnWD9s4P3=GT+K8}9Q03bLkDF"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
