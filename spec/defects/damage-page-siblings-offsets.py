"""D.damage.page-siblings-offsets: two leaves that cut the same lists elsewhere."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-nJd@Sq5=FmM1N4+A3u0}z8q1~`iuh*^R79}wWu&&+@dNVVUAYVL>l0Oo!sAjty6Y&3R1S1gyj5M#2!e;8oY;?Bt|F3~G4D"
    "Jo4aF<`V{<Ps8M$t+3Dm0;9jgNXvg7!xI!6d1KwGxJJ}jiBlnlO&i?!~~eRG=<c;RJr8!a}x8CQ}t5wlJiqC^U{m;obz)^bM"
    "suGd?6+-2BBas76yj~Mj>V<4FL&eB^MzlE(b1Ibe%?qdI5>)sXmF7`K2X7@?5f9EL=<+0zzO?3PdUxF*7o<S}-~=dXQv)C>P"
    "rS#s;PXOjLEjLujlvK%*#;2|_nP`3+F{L?|Do{xMV?GcznvFo2T<6OiTO=;sUoe_XDq"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
