"""D.damage.array-bitpacked-width: 65 bits for values of 64."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-lJ=>Om3UlHrmPVoX-}4+D%^Y^9lbC1xfDj24UntX!Hx>RhT^^7=W6dC94Isd>ryDVcfc#d^;9Ii<OIu28-Z6BmP!1s5ZO5"
    "F?WWtCF6O4wn{}9EK*xqN2n~xE_umHV#Jt2PuXG1_(%n(hg8s0ZPN<k3#9IP?`~n85o!ud>s9p0VcmbL;"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
