"""D.damage.page-miniblock-buffers: a page buffer nobody asks for."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-jkK@Sq5=G4L=*F#P++00oRd{O=!x4`ToS|GyqcHGuf+K#Z=ROPWhkh%s5=KMXKxv1aC#7#kTdS}+Q*acK&vbE$I4>*plqC"
    "8z48<|XH+Wagz8>pAD=l;-BSLis{WTns`UT+9p(3_{FI1`HBxN>)M^TxMLd=o*a-^#T&pQ+*OE^Gi#FM7e~8Sh$!t1f)Quf)"
    "OLL1)~Sse5hYap>zY3mWR?Xc@ahkt-^@#I|wrYNgqc)X8<DfOH%"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
