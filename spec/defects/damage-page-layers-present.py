"""D.damage.page-layers-present: no layer at all."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-jkK@Sq5=G4L=*F#P++00oRd{O=!x4`ToS|GyqcHGuf+K#Z=ROPWhkh%s5=KMXKxv1aC#7#kTdS}+Q*acK&vbE$I4>*plqC"
    "8z48<|XH+Wagz8>pAD=l;-BSLis{WTns|aTuclOLQG5s5^PH5LZ)2CT(aoej12Vx64O(C5-amdON4~D1cX?)m^cKaK%{~NqX"
    "*l3s5c6rbOV%@hte>4enzM`Bf{Gt%mgHT9Q~XDyo*Zs"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
