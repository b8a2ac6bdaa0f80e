"""Cases of chapter 52: operations of writers."""
