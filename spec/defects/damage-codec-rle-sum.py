"""D.damage.codec-rle-sum: runs of one value more."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-nJd@Sq4VFmM6kzkdvjOw25-Z0sDI|G*$M1qL8|T>81BxFm!alNJ8M0HYR5W?qSf0iy+@zzcRRO(AtIRW5n`oW#83RK3)^<"
    "ouM(y!2u{=lq<~+&ot(Ux<l|LCA-TiNQgLiAh7^1-p{HkS&)rmn^zIBSXD_#Pn33#LE2A5+R`7QhZK4Tr6Bn92`Pm(uk4Kg3"
    "03r`+NonsD#oDP+A^J!{j9xA+!dRW`trUAnD`i=L`VQMOa+"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
