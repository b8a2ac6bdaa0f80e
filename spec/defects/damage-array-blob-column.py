"""D.damage.array-blob-column: blobs described as plain values."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-l)$O7@@xR8a+xZ$ASRFhglZ2K>MQO1nX6E_*IpA;x5d|1iL)#gmg*l%5)&l$n=URB6Cy!4xFTC7hF(mz=7bnwOlPl9`uom"
    "6Vg8B*aouRGKQl!lfys&ZWvFuMbwE2UAn5=bWEYnw#ee<qI)!F$e{6F&$tOVswyTQF0S<;d0`V!_eheRFqf=*QDSj$HgPW#l"
    "^wJ#>K+nAjE*m6Jl_N`nZk(H3XcYT$ubpD1DI;p^On4bUu!L&H(o5e;N"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
