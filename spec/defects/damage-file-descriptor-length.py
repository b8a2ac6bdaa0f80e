"""D.damage.file-descriptor-length: a page of one row more."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-kvq@Sq5=Gw=bS2m>Pn0}wMp>3{!#6ay0jGnmH!<THZ#3}6uuU;&H%`^U<F3P`n|OP@<Zh%s5=KMXKxvE*bHml!ZwFmeeCv"
    "1FE{=1MSXv1aC#7#o2E1z5Q>h19uJx#ab867!N%^-}Ya^HVbO(u?(+^K(jb^IV~PAto*cp&%|628RYlA!a5A0SPuGXCX%}do"
    "EdYokoUw0g36UK8cn2r6odgTrylNTudASLSRw~L@F3DF|%1PIxu>$eunzA9!ej8(#B94CSSw|p_`yIBNQ_MNgqc)X8^e<S_S"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
