"""D.damage.file-footer-cmo-start: the column table starts at 2**62."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-p0r!AiqW5JhLkSi)fOF&o>W7z7br#28(uScwFoiy;0&tf3Uz7qBVVo!{eE_+{#(zM{C%(hHZzWo9@Ro`K#<0`TEog#bY6W"
    "$&XE`2-#qZ2*At9vj-B>HPeUd%obdU><xdgh%T`Tb;%co+EDyKD6-XuraBghIXJ+GQ@{+!27&=Jj!jq2n*XUA9Xkh({eN&+g"
    "q1~7$jkWM2Jj__Rb{ch<ARU#V6r?J}9z$R!%F~<YvcX@`D()N^dDx#@-9Qq2dC?UCR|;{)KDvmee@Y@uk5IyjFv|_1~(-Uk|"
    "*xJaZXb?z*_xcS=(FUZc4YvYWf~6NrPE8U"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
