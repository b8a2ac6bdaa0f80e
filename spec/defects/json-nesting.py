"""D.json.nesting: a JSON document nested 20,000 deep ends the process."""

import subprocess
import sys
import tempfile

uri = tempfile.mkdtemp()
code = """
import sys, lance, pyarrow as pa
text = "[" * 20000 + "]" * 20000
try:
    lance.write_dataset(pa.table({"j": pa.array([text], pa.json_())}), sys.argv[1])
except Exception:
    pass
"""
done = subprocess.run([sys.executable, "-c", code, uri], capture_output=True)
expected, actual = 0, done.returncode
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
