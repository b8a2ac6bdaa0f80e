"""D.damage.page-leaf-width: two bytes for values of one."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-nJd@Sq5=G4KH4zkdu+zzD?u{(<<64FBsH8W<SZ!F*i$xum!xgcy?*{=)#H7E5MciG=~91)~5Pm!^<9mnxUMeokUua;jcxU"
    "UGg)W?p)+o^yUqX>Oh?lrO}@#USLy#l+ws#Kfc_!KP#-WWi;|C5x`j$WSjJF+J5Mu`<83L`alNScrv-i9<jNOd2sVTQGXC&4"
    "YTR7)m!lX*nnjlNV%!(29%*kApB1ko0l%a|Qq@m`@r"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
