"""The table format: manifests and what they list."""
