"""Cases of chapters 30 and 35: pages of 2.1 to 2.3."""
