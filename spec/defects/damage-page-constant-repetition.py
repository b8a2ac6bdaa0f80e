"""D.damage.page-constant-repetition: lists without levels."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muRU|?VbLl3e5NGCG`6WRK?^tmL27?TzL!vLceOHO8Si2<VpBbTrcOJ+%Gt^}hNYi3@Fu@Oj6fQ3s_NS#ZSOI|-GF)uk)F"
    "EuYYKP59Sy;#pVKc_S|&lSoSV&Y;D(wAUS(iYO>Qs<IIS8ime7m%2q>XTTRUs@u>Cd8t}#LTvt0Rm#6bOV$&hSD&3ento_52"
    "YEQ7!(jbj(*MnhAK<X"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
