"""D.damage.page-blob-column: a blob page for a field that is not one of blobs."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-l)$O7@@xR8a+xZ+`;=Mb7tNU~pjg2LudIzzkzBFf!l+4p7<+N|S3pmlBtP5Mz?Ue;8oY;>k%YN>7bX%FIhFsx)A<U=m>A("
    "iBqXQst7@&q>TnPSs1zOU_Tp%u6rUbI#8x&CPR#@`aeV7=(hjSPn2YFbOd+c}TD*xd=INIdI9MYcw*{3rI{)^+~MEFD((0SC"
    "ZwD;1ZMKP2%Qaa&Qo0<znV&U^HT6v|#jL5n^Os1`UgPsAn6Xd^IQ^Ca=l_p-q_(K?uT3K+?z2&lvz6Pn-4"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
