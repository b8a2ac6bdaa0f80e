"""Coverage: what of the format occurs in the fixtures, counted, and what never does."""
