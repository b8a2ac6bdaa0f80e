"""Coverage: counts of the parts of the format that occur in the fixtures, and what never occurs."""
