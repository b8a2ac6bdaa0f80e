"""D.damage.file-schema-top-level-names: two top-level fields of one name."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0r!AiqW5JhLkSi)fOF&o>W7!(m*#28(uSg8b|iy;0&sG$_v7qBU`JHN-T@XORm`-<X5OD_zM%bnp|cm}#_3BZRB6#@Y1t"
    "a=}<$tUo@XafM8_t?@7bvM(0-19Xz1+(CDDLmaA*zzKd@CtcXqXzyAYvb}|VEdYqAwH2~KH~keVP<=InA=|Qtl>CJis58rAD"
    "kCrkPZ`cgvd1L;8J3ac<=XFd>%e!{XETP#iW#NuD3iUKZsGQbXS6<?7iYUDlSmmo!s)xU$`dkNQE;kUux{Y8x^=+{jF-Wc;L"
    "<Xne*U$+u7y*AuZm7zSn3z2<iP}@&$#5nEn"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
