"""D.damage.array-fixed-size-binary-width: strings of no bytes."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-l)$N=`{lOV7ykAP;cKa7hU<CM*1h0Y)vh;*z4wymSLb3nl?(E=?hIE>$jh{hY+S<W#-XyyW~8pk%S0bAC=~Zk{WYFT}*fA"
    "Y{eG$RNbXDZ#8{Af(5o!zG8I$+4&?u@bI_D~f}Qjf;hYLx>@P0RqyYv;&k@fYLDe<52oKlxBot1_ovZA4flD07`>C)B"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
