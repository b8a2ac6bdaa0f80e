"""Version matrix: published releases of the oracle and the reference, each reading the other."""
