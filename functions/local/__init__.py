"""The one-machine server and the command line: the same functions, without a cloud."""
