"""D.damage.array-buffer-shared: bytes said to lie where the ends do."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPfB<GF?Li_)OiK2k1aQf4NeM9~EBuE6MlH7DlA_GKbOS~UCIKccO(AtIRW5n`oW#83RK3)^<opz%WU-!eeokp_o-33u#"
    "KgrQ<io|p;2^{#z%0R}<RE0nWy2+hq0O<VD6tZ*OUg)si${oyi-U`ei-p5Mh(QQMa|kg=uq=QENF|hRfYJ(38YVBv2%$BhG$"
    "Ry)g4D;+&lv!&^-O*"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
