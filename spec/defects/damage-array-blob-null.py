"""D.damage.array-blob-null: a blob of no bytes at position 2."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-l)$O7@@xR8a+xZ$ASRFhglZ22{X=#&>|yZcv)bp37E<F<Ie13@~c(<RliQr^Y8`<|P(Y8ZcTg1xa%W=OpGOr|PEWCFiGP="
    "A~OD<>V&`v6K{*rV6ld=?ZCcX>!TygVpH4)D-JE=jW8>=D9-oLTpkjTufXHLV;XN2N;DI9VA$k+=N`XoVesLbUGFlC04>UDt"
    "O6p@d$Boad5G5v2ZvDF`)8<7@VQLZel<U1!pK1CVv!4Uu8rnV}u5ukE5S60L&SGVg"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
