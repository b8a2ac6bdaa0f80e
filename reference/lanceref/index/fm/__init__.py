"""FM index: texts as a Burrows-Wheeler transform that can be searched."""
