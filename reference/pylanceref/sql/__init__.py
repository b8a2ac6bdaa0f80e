"""SQL: filters and expressions of a dataset, parsed and evaluated by DataFusion."""
