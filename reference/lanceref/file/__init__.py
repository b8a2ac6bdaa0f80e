"""The file container of 2.0 to 2.3, and (as pylance has it) the file reader under its public name."""
