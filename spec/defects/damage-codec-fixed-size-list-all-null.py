"""D.damage.codec-fixed-size-list-all-null: items that are null without a bitmap."""

import base64
import subprocess
import sys
import tempfile
import zlib

DATA = (
    "c-muNARTxh0WN(mT_MI~h5s<Xs3n<}S&^C&Uz}N$8lRI{Tw;}$lb={(WoTevz-YlJz`~^|q|T+vC9j{8n3tTYmztNHpOTrEU"
    "aaSwpHrHf=L+QuF>x^nxo|Nu2r-&SuqasxS#X(g$)amAGSmx5Oi%SmtjsSh5fYUWmdMaxF<`Och+^YN5n_^JaAIUEhPt~DN;"
    "^PlV<-)ie*&eyKxsxOW&)Bvj(*MnFOxVg"
)
CODE = "import sys, lance.file as f; f.LanceFileReader(sys.argv[1]).read_all().to_table()"
path = tempfile.mkdtemp() + "/data.lance"
open(path, "wb").write(zlib.decompress(base64.b85decode(DATA)))
done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, text=True)
refused = done.returncode == 1 and "panicked" not in done.stderr
print(f"expected a refusal, actual {done.returncode}: {done.stderr[-99:] or 'rows are read'}")
raise SystemExit(int(not refused))
