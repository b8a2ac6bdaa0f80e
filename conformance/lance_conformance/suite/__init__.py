"""The suite: cases, how they are stored and grouped, and the claims that they require."""
