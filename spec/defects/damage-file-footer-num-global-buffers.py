"""D.damage.file-footer-num-global-buffers: 2**31 + 1 global buffers: one bit flipped."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-mw2pbRiFKmaoklcS$YnoClMF<Ie13@~c3X6BU`8yPTKFbXhpX$q-xsdCBd=OpGOr|PBVCFiGP=A{?wIp^n;=H|IV`9e%w3"
    "_>1UObiY}OpH7d%t|&wR$LZbav0hii;5B};kv|xM1+L6*tl3Y7=;*wIJnq26oi;K80SO%R0^dVptL-chRKUSJ+A_#fm8z{G&"
    "Fo1{hR?A=u7|"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
