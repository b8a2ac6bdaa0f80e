"""D.damage.page-miniblock-chunk-header: a chunk smaller than its header."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-o~>O-sW-5S^K%8iy9kUJMnnh*j*N*65-1Vzh`Ai+EPB#x^a1G&wW{^^~K3!K?qmo4>5O-6Wu1wDj%A?Ci|!yoGlU?S-I&A"
    "qPScrV0okz1a>x(iW2IDL{M-32Zs-tX_kkn74m<LH+=F#e7BfHso5CYv%vAp6}Qc*eic#z^d+h<EV}e<ciR}$Q_wjT^o3hZo"
    "fPBp55*&+#L9!6E!WBwl1)5()TBFUJxCsU{T{evC9?S-1nWJ=hoby7xukiIIguqe=-WrQeO~*xaC|-c8o$JqiAYdm*RrYdE<"
    "Afbx^x@hHl4s3MY}+;ceDg76`SM@;7XdI+snf2$vdUW1HsTamxA!#w3VL$>K;@T>p#3Di=zsr-ky{ZS5`55WJ+qs8V9XOhsw"
    "@A@#HT*EH`vwWx%ch_Q2W)%pUW9=Gu"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
