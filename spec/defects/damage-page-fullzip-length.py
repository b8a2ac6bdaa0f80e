"""D.damage.page-fullzip-length: a last row that ends a byte early."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-ocHK`#SA6bJA()2-H^t!c4Jt7!<Dv`Q#?Dvi{k5pi&EkgT<BHkodvojq_6pFn&DpTP%k@)?{ReFh0C`zLV`FPV9HzsY-t$"
    "zz0I$Q%-a7?3bz2oixrA;S;>8G(#K#vn0B9Fl;HLnI^#NkJwclaMKh37LkZAv2I!NG8bp{|+Ka^HiY*osgnyx}$q~peK5!S9"
    "+ru`>S7^iiTu%?j6AjhI0G5%(mE3QRJ27*-p{%?C!biwX1#I^KI?-EcI<N((;wMaxX+u8m@LaCM$$pPgm9lGZJyJEEmOsm|O"
    "W8RYF_8RPQRk<LzM#7bF`ZM2}pCZh6j(=eOmi*btfDjcco=L#ypHt;?>jWhyPB%&aYC%h{?Sc(k_58Gi|uNeBOW6VzuxjrZe"
    "V*IN8%2M33L-p!qZ`Ul?5WHA"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
