"""D.damage.page-limits-sparse: a list of 2**30 nulls."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-m!*K}*9x5QTR(F)Tw5I$oAuEP)~hjgoqho}#6tha%E@4@(RZOg6H+Ie7D@^q*>46T$X_;qe~x9&T_!kd3~3Ao9z?x;uD)^"
    ")-g2(pi3!>#Tk)^xM=r(`2qOs{G3+upi3U9M8!wTwY0tP73WN$!_A*!z;SPF<#v6m*T!<<5^ucm7e!292r^Zg*8?9e*B(H;+"
    "Hm3W~Dys#?ca=D8+k9#8-<?gCU||9TLLcr#l}F1gF6GB9$OH3JhA$hm3g0RM*+E|EL26_|>ycp*zkzwt9S?{Q$kiMZo"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
