"""Matrix: the outcomes of releases of the oracle and of other implementations on all fixtures."""
