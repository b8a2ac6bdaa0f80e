"""Search: which rows a question finds, and what is taken of them."""
