"""MINHASHLSH: texts with much in common, found by signatures."""
