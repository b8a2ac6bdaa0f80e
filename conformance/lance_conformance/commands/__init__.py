"""The subcommands: a module each, which reads options and calls what does the work."""
