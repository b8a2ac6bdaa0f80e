"""D.damage.array-struct-header: a header that is a page of numbers."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0s-Acni5QQ_77{VYJMv+BCi}({mX@iIqk&;@3UWkYn1uwh^u}Gn&kS1USL7&MN@X6HFPW-`(kaljCvwL>Fo#jAhz5?xU&"
    "3a#-@qRGp`{{}lLs<F93tV%Q#A%p#KsLjJ0(YSwB}a!IG=P>E#tMH~mKh$EUYTz7qr1$7Hqt)t(GG3a2SF6}YP~2N-e!lRT6"
    ";K1@1rx(jHI!raI4BLIkfT5-iqU3{OvZ$uzc3aH17~<J|ox}<b;o@Q3zS(6=s^CfHk(r%#dh78E7?wIlN2Tg)nqWO>;@cGrR"
    "$#4H@E;eQFjW)(_Tbk%=sl@B5m`n#`oIEAhLL^u3BsMLRfMuSLIze#+x6{;tTp-@Evl`j5?!oS(NY+Mj+K$u0"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
