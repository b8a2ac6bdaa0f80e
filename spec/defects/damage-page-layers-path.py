"""D.damage.page-layers-path: no list layer in a column of lists."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-kvq@Sq5=Gw=bS2m>Pn0}wMp>3{!#6ay0jGnmH!<THZ#3}6uuU;&H%`^U<F3P`n|OP@<Zh%s5=KMXKxvE*bHml!ZwFmeeCv"
    "1FE{=1MSXv1aC#7#o2E1z5Q>h19uJx#ab867!N%^-}Ya^HVbO(u?(+^K(jb^IV~PAto*cp+GJc28RYlA!a5A0SQ(mCm{zeJ1"
    "$vtokoUw0g36UK8cn2r6oeLT+&=DTudASLSRw~L@F3DGFvb@FnX|lhI+IPN*{pI#!wn2U&sid8=*8K6f*%yA4flD0ADg$^#"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
