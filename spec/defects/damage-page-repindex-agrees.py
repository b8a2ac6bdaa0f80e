"""D.damage.page-repindex-agrees: a page that starts inside a row."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-kvq@Sq5=Gw=bS2m=T(f+2|h_YcHpVqgaI7=V06FrNV|0s<^x(SQF~8BhVK_H*fTNeD3}EBuE6MlF_{%;FLQMhiwRVIh{xl"
    "GI!YMlIINyb@z0ke~o7m!^<9mnxUMeokUua;jcxUUGg)W?p)+o^yUqX>Oh?lrO}@#UK>K#lqmwz$nDb<RBoys^l!>$YswZi>"
    "}kiP%j`cJ=G_%GQYG$NRCT}i-n7cLqG^jN`XiPBPM1x3q}V<57y66pVmX^15nx+O2g!f7$I~MlxBotCLrnK=;sUow<uZ!"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
