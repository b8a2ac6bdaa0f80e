"""D.damage.page-constant-value-buffer: a value that ends a byte before its buffer."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPU|`??Vl@T`PzB;dh2oN;%)E4k{4|B!{GwEal8nSWAdy*AQmI=~p0AKpS&~}p0R~($Tv9@e$qN5rfKiJLqT7Jcf=PgrO"
    "H)XlOO;DrKPNFSIaMz;FF8L2C|RuMoS##go97DU3o&sq2$^s(G6*qRNpLD@32AVtamk`<GBVT)NK8-lNvzB-EfHcBV%B10On"
    "^E(5lTBiX$2?^lRpThFG6WXC}sjeA4flD0A=Jl_5"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
