"""D.damage.array-blob-order: a second blob where the first is."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-l)$O7@@xR8a+xZ$ASRFhglZ2I7Dll;*PMvK3-XR`?GCj9NT7iACwD@kyC^iA9wLj228m(p<thiFwJXx~X}|`6-!s=~hWO`"
    "AI@7B}JvF0xVp*LfTxKT=M#0HF_{L#d^;9Ii<OIu28-Zn-mKd6BmO}AQ#gCMj=KA2^J+cAr~$uE;$UHjzvX@m2iy;UUFPKLR"
    "?%NTx?t{91cPZs5~JCXQ;267*IpO8OnvpABECa84=1Dp~2_l=;sUof`5M?"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
