"""D.damage.array-flat-compressed-size: a byte, where there is none."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muNKn09Y+Ji^{Q?IdA|E~f_w+Cr}%Yn;Ih%s5=KMXKxu@#pTW#*+DFj_DLDRD{VB<3Zj>Zax;=cfQgt&;O|3yM;Ui!<}{g"
    "jlMIOHu@wxip2;xm3C2^}$N@U`mViobz)^bMsuGd?6+-2B9!6CI$x~CJ8|aW+g8n4=y(@ISg%%MMa5~a9t`!N?bfbTwEMnY+"
    "NiH4nhn<0$h9?970SSj8Z@mkP{>rk3fT=8A>-mX%{FBlXr)PS2!agxFJkt1|LU1X8;{=SE2"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
