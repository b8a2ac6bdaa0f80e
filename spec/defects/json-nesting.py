"""D.json.nesting: a JSON document nested 20,000 deep ends the process."""

import subprocess
import sys
import tempfile

uri = tempfile.mkdtemp()
code = """
import sys, lance, pyarrow as pa
text = "[" * 20000 + "]" * 20000
lance.write_dataset(pa.table({"j": pa.array([text], pa.json_())}), sys.argv[1])
"""
done = subprocess.run([sys.executable, "-c", code, uri], capture_output=True)
expected, actual = "rows or an error", f"exit code {done.returncode}"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(done.returncode < 0))
