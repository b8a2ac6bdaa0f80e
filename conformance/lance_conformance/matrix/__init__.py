"""Matrix: what releases of the oracle, and other implementations, do with every fixture."""
