"""D.damage.page-levels-rep-range: a repetition level no layer has."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-kvq@Sq5=Gw=bS2m>PnClG@m0}%iF2c#I77?{C41|Xji%x3_LfB*|v^xr>L22?<*{apH75<-m03jbk%QHv!fv$({7(SngnS"
    "coOFBsEupQHwP*uf*60Bq+ejr75J&rOG9*pOcuEoT`_amz<xHnU`Ly=bWEYnw#ee<qI)!F$e{5u`oC^FbXj<IS5FwDme=|a@"
    "ljqqU$s=)C)*VPxVQx%r7kwlH-!$V&P)q5D)^BQXo>nh>4lag3*D|gY`4ir}a?!0F*X{(lGfVMhM*mr5T}^2}t@l`Z)st#fn"
    "-E"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
