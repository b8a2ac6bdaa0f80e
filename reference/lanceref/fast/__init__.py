"""Fast forms: what exists for speed alone. Nothing here decides what is right.

Each function takes the place of one plain function of the same signature (`core.context`), and a
property test holds it to that one. Importing `fast.files` and `fast.pages`
registers those of files, importing the other modules those of indices.
"""
