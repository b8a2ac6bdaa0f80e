"""D.damage.array-fixed-size-list-dimension: three items told as four."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-m9-pbT*7aA^rKCM*1h0Y)vcw9Jasl=$Mzs?_+L%;FNOr2PCGD`Nvj3q}DZE=?hIE>$jh{hY+S<W#-XyyX0p%)InsJ?H$K("
    "%d{(C|`()i$TbPi;+Qykx_z4$xg_I%Zf`5Lz81sQDP-rkA#pImk5`TlmG{d5RVWS7Y7#`7YhfY5JLe21e8K)2Pka-rD5_<q4"
    "ZZM%?QN|49pBZj(*MnX}LuW"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
