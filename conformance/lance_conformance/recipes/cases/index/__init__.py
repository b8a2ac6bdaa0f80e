"""Cases of chapters 60 to 66: indices of every type."""
