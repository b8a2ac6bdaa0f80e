"""D.damage.array-nullable-validity: a validity of 8 bits a value."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-qtVpbRho0V5Fq|Np-pNHu`?>_AMcelBS)Ng>8$h5s<XsKuI@S7K~rz-YlJz{aI1q|T+vC9j{8n3tTYmztNHpOTrEUaaSwp"
    "HrHf=L+QuF>x^nd2lf?I0!K@N=UFN*$7#2S#Zf=XmczoO00zI5)%>;65?XxV&UKrVi4lsV&hN{V&Y(&&j10XP`Uw1%R_0Hya"
    "*$NR)NxtP|U!<%;4kb=L`THTTEj"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
