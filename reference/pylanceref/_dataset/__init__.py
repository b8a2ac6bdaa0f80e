"""What pylance keeps below its dataset: a deprecated way through a table (face)."""
