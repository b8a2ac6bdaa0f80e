"""D.damage.page-miniblock-chunk-bytes: a chunk of one unit less than the buffer."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-kvq@Sq5=G4L=LF#P++00oRd{O=zs9|ZnGKs}V(0F!5j(&XCDCCw!%#F(t`9|jn;STplV%uEazEf@vZxHN^-xm3C2^>Y&Ql"
    "2i3k^OEyZGV{`l^_=r_N^|pEp?o1GE(RetE+z&CAtojd2{t7wAqy@uE?IPKMuvI;iRr06iIw@KB|@TH!a^)uOdJAIAkx8zk="
    "cULgY7=lN5xS30F;)8(lGfTXwW1vB0>s;nSi8^qn|SX1*cp("
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
