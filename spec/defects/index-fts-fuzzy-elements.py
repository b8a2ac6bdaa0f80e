"""D.index.fts-fuzzy-elements: a fuzzy query fails where elements of lists are documents and rows
are not indexed."""

import tempfile

import lance
import pyarrow as pa
from lance.query import DocumentGranularity, MatchQuery

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"s": [["fox"], ["dog"]]}), uri)
granularity = DocumentGranularity.LIST_ELEMENT
made.create_scalar_index("s", "INVERTED", document_granularity=granularity)
made.insert(pa.table({"s": [["fix"], ["fax"]]}))
query = MatchQuery("fax", "s", fuzziness=1)
expected = 3
try:
    actual = lance.dataset(uri).to_table(full_text_query=query).num_rows
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
