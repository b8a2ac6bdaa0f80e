"""D.damage.array-list-item-column: lists that claim fewer items than there are."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muPfB+^a%?zbIhy;vKz04%&K?Yp<ToOWz$qN5rfKiJjC$qT3fYE}HOIU~{vm`ZFf>Db#Gq1$h2qY-L%%v%$&ZWvFub-2cm"
    "z=7XnwOlPl9`uYtmmAcQ<|IS3grtiaWM$Fa4|9nF-k}<D_IFyaG7z*VQ6wJDoU(`>k&~B;^GnF;^N?9<6_}(5MmHukzgXlLK"
    "`kd2O&ltpoK<423&dsEkszRAjGg48u*1!T7?lpXF~Z6P}&$u!_@ae)vblnjPM9$X7F+Ja|QrC5@os"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
