"""D.damage.codec-flat-size: values of 32 bits zipped as 16."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-mcy-AV#c6ouEGG;M1+p8h7wNrX@XCzX(pE-VowM4~qsrbz~lXGG^*)I;>bU6kaRE?Thn2W#&SAXwNz23hPPhdlPcD4>Xa9"
    "H0anWe6PN2*)_VDIA=kf^%G;ipeJY#1lb5?K=%!XCsw#`yINYmp0d>uY#~0svv%i)O@f`Rys)Z%9nqg$h~PPKcc1Wa!WM$iZ"
    "5?|Eie68d!tzDg&L=Z#SlX#2)cLNdSBdfkE{QsUe|l}=i$_Uk98u-m6BsO-HtoRu$8Yp5`AKuh2hX}W|-c;3=6a+nXxu|`Y;"
    ">)0DieZ5C"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
