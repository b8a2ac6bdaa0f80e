"""Reports: `report.jsonl` is the source, the others are views of it."""
