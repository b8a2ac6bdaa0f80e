"""D.damage.array-encoding-tag: an array of no kind of nulls."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-o8ipbRjef(8inp&m;AhtNOjQI-9$hw0~%;gS+!Ojh_01B_a1Dfy*IIjIJW7K{SyT$)1aT&i61`Z<Yt$*Fp&dCB=HnR)5Od"
    "d~SdrMY>oP`(fo7lV)q7ZZbn5EG+?1iO-kkQ$c?mmG#R$D*RdN`x*Uh6PY3C8GL(K><p`<QW+uv>=pbgklB;W(FTeKW6|4uS"
    "JO"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
