"""D.damage.array-list-null-adjustment: a null adjustment of the number of items."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPfB+6C%><=cpfoF#_P_zeJtzZ=P&=8C>?K7%mp+$-5M#2!e;8oYV#&!YE-_%VVB``OV#zE?&6Qx(V$IAeF*X7T3b1l%3"
    "aN9ca>?uGB<3Zj>ZRr-=ci=mr5Ect=jW8>=D9-oLQGr?LM~j43_^?=60AyALKa+RTyhwi9E*w)E8%)Xl!Ul=gt)jkxY)Q@I2"
    "?o+1Xv|Vve1)@*`a|^h>1}IXs3;k6_*7;JH>=VgoMEMF$ysV0d3|`5MttB{0t4zLMWZW2%*cM`~y(h7)ry`--4?91*I9`se+"
    "lo$I;Ij0BApR$^"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
