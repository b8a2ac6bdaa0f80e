"""D.damage.page-levels-def-range: a definition level no layer has."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-jkK@Sq5=G4L=*F#P++$^Ze3K>QB~VC?_@|JMVl1`wYeh|%?PNpndGF(xbghXF<{*37&TV<Q7b3q}DpE=?hIE>$jh{hY+S<"
    "W#-XyyX0p%)InsJ?H$K(%d{(C|`()i$TbZi;2NOh>6KSf=$Uv$b!p^OBP+5k)d8dVtT4iVr715iI6Clun-Fu6Ni8lh*U6QWV"
    "T@RV4Dy1NimdefYS0%8YVBq2%(i25k3cDCLrnK=;sUou+~dX"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
