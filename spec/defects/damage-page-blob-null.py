"""D.damage.page-blob-null: a null of a definition level that the layers do not have."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-l)$O7@@xR8a+xZ+`;=Mb7tNU~pjg2LudIzzkzBFfrf*4p7<+N|S3pmpzxQ5Mz?Ue;8oY;>k%YN>7bX%FIhFsx)A<U<#7v6"
    "3$7?OHS2I%}dTt$;?Z)O3KMk5@IPSDoqt&;nEaR=Tha8*9WW7gQ+RjbI#8x&CPR#@`aeV7=(hjSPn2YFbOd+c}TD*xd=INId"
    "I9MYcw*{3rI{)^+~MEFD((0SCZwD;1ZMKP2%Qaa&Qo0<znV&U^HT6v|#jL5n^OM%m@jAdT2;AK>5y4K1|*T8lXW?nh}bbfTW"
    "M3pECev>!xx"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
