"""Cases of chapters 40 and 45: tables, deletions, row ids."""
