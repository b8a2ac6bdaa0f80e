"""The memory write-ahead log: rows that are durable before they are in the table."""
