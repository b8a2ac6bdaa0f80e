"""Page layouts of 2.1 and later: pages in, Arrow arrays out."""
